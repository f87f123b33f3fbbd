#include <retrace/ops/loops/sums.h>

namespace retrace {
namespace {

struct Mean {
  static Formulas formulas(const Record& r) { return {"y = mean x" + along_reduced(r), "dx = dy / " + terms_of(r)}; }
  static constexpr OpInfo info{"mean", "y = mean x", "dx = dy / n", "x", formulas, reduction_attributes};

  static constexpr bool divides = true;
  template <class T> static T of_sum(T sum, T n) { return sum / n; }
};

}  // namespace

Tensor mean(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce_to_sums<Mean>(x, axes, options); }

}  // namespace retrace
