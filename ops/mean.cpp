#include <retrace/ops/sums.h>

namespace retrace {
namespace {

struct Mean {
  static constexpr OpInfo info{"mean", "y = (sum x) / n", "dx = dy / n", "x"};

  template <class T>
  static T of_sum(T sum, T n) {
    return sum / n;
  }
};

}  // namespace

Tensor mean(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce_to_sums<Mean>(x, axes, options); }

}  // namespace retrace
