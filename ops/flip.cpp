#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/strided.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

// Finds the flipped axis: it alone has another stride than in x.
Formulas formulas(const Record& r) {
  const Shape& x = r.in(0).shape;
  const auto strides = x.strides();
  std::string here, there;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::size_t i = static_cast<std::size_t>(axis);
    const std::string comma = axis == 0 ? "" : ", ", letter = index_letter(axis);
    here += comma + letter;
    there += comma + (r.attributes<Strided>().strides[i] == strides[i] ? letter : text(x[axis] - 1, " - ", letter));
  }
  return {text("y[", here, "] = x[", there, "]"), text("dx[", here, "] = dy[", there, "]")};
}
constexpr OpInfo info{"flip", "y[i] = x[n - 1 - i]", "dx[i] = dy[n - 1 - i]", "x", formulas};

}  // namespace

Tensor flip(const Tensor& x, int axis) {
  check_defined(info.name, x, "x");
  const int along = axis_of(info.name, x, axis);
  const std::size_t i = static_cast<std::size_t>(along);
  Strided strided{0, x.shape().strides()};
  strided.offset = (x.dim(along) - 1) * strided.strides[i];
  strided.strides[i] = -strided.strides[i];
  return strided_copy(info, reordered_backward, x, x.shape(), strided);
}

}  // namespace retrace
