#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// The shape that all ids broadcast to. Throws ShapeError, DtypeError.
Shape shape_of_picks(const Tensor& x, const Tensors& ids) {
  if (ids.empty() || std::ssize(ids) > x.rank())
    throw ShapeError(text("index: ", ids.size(), " tensors of ids for ", describe_operand("x", x),
                          "; give one for each of its first axes"));
  Shape shape;
  for (const Tensor& each : ids) {
    check_defined("index", each, "ids");
    check_integers("index", each, "ids", "indices");
    shape = broadcast_shapes(shape, each.shape(), "index", "ids before", "ids");
  }
  check_rank("index", x, shape.rank() + x.rank() - static_cast<int>(ids.size()));
  return shape;
}

/// An id as a position from 0.
std::int64_t counted_from_the_start(std::int64_t id, std::int64_t length, std::size_t axis, const Tensor& x) {
  if (id < -length || id >= length)
    throw IndexError(text("index: id ", id, " is outside axis ", axis, " of ", describe_operand("x", x),
                          ", which has positions ", -length, " to ", length - 1, "; check the ids"));
  return id < 0 ? id + length : id;
}

}  // namespace

Tensor index(const Tensor& x, const Tensors& ids) {
  check_defined("index", x, "x");
  const Shape picks = shape_of_picks(x, ids);
  const int axes = static_cast<int>(ids.size());
  const Tensor rows = zeros({picks.numel()}, i64);  // places among the elements of the first axes
  std::int64_t* const row = OpAccess::values<std::int64_t>(rows);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::int64_t length = x.shape()[static_cast<int>(k)];
    const Tensor all_ids = broadcast_to(ids[k], picks);
    const std::int64_t* id = all_ids.values<std::int64_t>().data();
    for (std::int64_t n = 0; n < picks.numel(); ++n)
      row[n] = row[n] * length + counted_from_the_start(id[n], length, k, x);
  }
  const Shape rest = x.shape().last(x.rank() - axes);
  Shape y = picks;
  for (int k = 0; k < rest.rank(); ++k) y = y.inserted(y.rank(), rest[k]);
  return reshape(take(reshape(x, rest.inserted(0, x.shape().first(axes).numel())), rows), y);
}

}  // namespace retrace
