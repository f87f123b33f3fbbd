#include <retrace/ops/loops/sums.h>

namespace retrace {
namespace {

struct Sum {
  static Formulas formulas(const Record& r) { return {"y = sum x" + along_reduced(r), "dx = dy"}; }
  static constexpr OpInfo info{"sum", "y = sum x", "dx = dy", "x", formulas, reduction_attributes};

  static constexpr bool integers = true;
  static constexpr bool divides = false;
  template <class T> static T of_sum(T sum, T) { return sum; }
};

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce_to_sums<Sum>(x, axes, options); }

}  // namespace retrace
