#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

// The flipped axis: it alone has another stride than in x, unless there are no elements.
int flipped_axis(const Record& r) {
  const Shape& x = r.in(0).shape;
  const auto strides = x.strides();
  int axis = 0;
  for (std::size_t i = 0; axis + 1 < x.rank() && r.attributes<Strided>().strides[i] == strides[i]; ++i) ++axis;
  return axis;
}

Formulas flip_formulas(const Record& r) {
  const Shape& x = r.in(0).shape;
  const int flipped = flipped_axis(r);
  std::string here, there;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::string comma = axis == 0 ? "" : ", ", letter = index_letter(axis);
    here += comma + letter;
    there += comma + (axis == flipped ? text(x[axis] - 1, " - ", letter) : letter);
  }
  return {text("y[", here, "] = x[", there, "]"), text("dx[", here, "] = dy[", there, "]")};
}
AttributeList flip_attributes(const Record& r) { return {{"axis", flipped_axis(r)}}; }
constexpr OpInfo flip_info{"flip", "y[i] = x[n - 1 - i]", "dx[i] = dy[n - 1 - i]", "x", flip_formulas, flip_attributes};

}  // namespace

Tensor flip(const Tensor& x, int axis) {
  check_defined(flip_info.name, x, "x");
  const int along = axis_of(flip_info.name, x, axis);
  const std::size_t i = static_cast<std::size_t>(along);
  Strided strided{0, x.shape().strides()};
  strided.offset = (x.dim(along) - 1) * strided.strides[i];
  strided.strides[i] = -strided.strides[i];
  return strided_copy(flip_info, reordered_backward, x, x.shape(), strided);
}

}  // namespace retrace
