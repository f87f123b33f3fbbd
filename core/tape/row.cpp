// x[i]: the row i of the first axis. It is what slice(x, {i}) records, in a form that core can do without the ops.
#include <vector>

#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>

namespace retrace {
namespace {

Formulas row_formulas(const Record& r) {
  std::string part = text("x[", r.attributes<std::int64_t>());
  for (int axis = 1; axis < r.in(0).shape.rank(); ++axis) part += ", :";
  part += "]";
  return {"y = " + part, "d" + part + " += dy"};
}

// As those of any slice: where the elements of the row lie.
AttributeList row_attributes(const Record& r) {
  const Shape& y = r.out(0).shape;
  const auto strides = y.strides();
  return {{"offset", r.attributes<std::int64_t>() * y.numel()},
          {"strides", std::vector(strides.begin(), strides.begin() + y.rank())}};
}

constexpr OpInfo row_info{"slice", "y = x[i]", "dx[i] += dy", "x", row_formulas, row_attributes};

// dx[i] += dy
void row_backward(Record& r) {
  dispatch_real(r.in(0).dtype, row_info.name, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t elements = r.out(0).numel();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0, Begin::zeroed).from(r.attributes<std::int64_t>() * elements);
    dx.put(elements, [dy](std::int64_t k) { return dy[k]; });
  });
}

}  // namespace

Tensor Tensor::operator[](std::int64_t index) const {
  check_defined(row_info.name, *this, "x");
  const std::string name = this->name().empty() ? text("x", shape()) : to_text(*this);
  if (rank() == 0)
    throw ShapeError(text("slice: 1 entries for ", name, ", which has fewer axes; give at most one per axis"));
  const std::int64_t rows = dim(0), row = index < 0 ? index + rows : index;
  if (row < 0 || row >= rows)
    throw IndexError(
        text("slice: index ", index, " is outside axis 0 of ", name, "; it runs from ", -rows, " to ", rows - 1));
  Shape rest;
  for (int axis = 1; axis < rank(); ++axis) rest = rest.inserted(axis - 1, dim(axis));
  Tensor y = view(*this, rest, row * rest.numel());
  record(row_info, row_backward, {this}, {&y}, {}, row);
  return y;
}

}  // namespace retrace
