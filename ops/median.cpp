// median and quantile: elements of sorted lines.
#include <cmath>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// The axis of x, along which there must be elements.
int axis_with_elements(const char* function, const Tensor& x, int axis) {
  check_defined(function, x, "x");
  const int along = axis_of(function, x, axis);
  if (x.dim(along) == 0)
    throw ShapeError(text(function, ": axis ", along, " of ", describe_operand("x", x),
                          " is empty and has no elements; choose another axis"));
  return along;
}

}  // namespace

SortResult median(const Tensor& x, int axis) {
  const int along = axis_with_elements("median", x, axis);
  const Tensor order = argsort(x, along);
  const auto position = [&](std::int64_t k) { return take(order, full({1}, k, i64), along); };
  const Tensor last = position(x.dim(along) - 1), largest = gather(x.detach(), last, along);
  const Tensor ids = where(not_equal(largest, largest), last, position((x.dim(along) - 1) / 2));  // NaN is largest
  return {squeeze(gather(x, ids, along), along), squeeze(ids, along)};
}

Tensor quantile(const Tensor& x, double q, int axis) {
  const int along = axis_with_elements("quantile", x, axis);
  check_real("quantile", x);
  if (!(q >= 0 && q <= 1))
    throw ValueError(text("quantile: ", describe_operand("x", x), " with q ", q, "; give 0 to 1"));
  const Tensor sorted = sort(x, along).values;
  const auto at = [&](double k) { return take(sorted, full({}, k, i64), along); };
  const double last = static_cast<double>(x.dim(along) - 1), place = q * last, below = std::floor(place);
  const Tensor low = at(below);
  const Tensor y = place == below ? low : low + (place - below) * (at(below + 1) - low);
  const Tensor largest = at(last).detach();
  return where(not_equal(largest, largest), largest, y);  // NaN is largest
}

}  // namespace retrace
