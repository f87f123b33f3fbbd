// concat, and stack as concat along an axis of length 1.
#include <retrace/core/tensor/dtype_mismatch.h>
#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/strided.h>

namespace retrace {
namespace {

Formulas concat_formulas(const Record& r);
constexpr OpInfo concat_info{"concat", "y = [x0; x1; ...]", "dx0 = dy[part], dx1 = dy[part], ...",
                             "x...",   concat_formulas,     axis_attribute};

// Where a part lies in y that begins at `start` on the axis.
StridedWalk walk_in(const Shape& y, const Shape& part, int axis, std::int64_t start) {
  const auto strides = y.strides();
  return {part, {start * strides[static_cast<std::size_t>(axis)], strides}};
}

// Names only the first two parts and the last if there are more than four.
Formulas concat_formulas(const Record& r) {
  const int axis = r.attributes<int>();
  std::string forward, concat_backward;
  std::int64_t start = 0;
  for (int i = 0; i < r.inputs(); ++i) {
    const Shape& part = r.in(i).shape;
    const Strided place{start * r.out(0).shape.strides()[static_cast<std::size_t>(axis)], r.out(0).shape.strides()};
    start += part[axis];
    if (r.inputs() > 4 && i > 1 && i < r.inputs() - 1) {
      if (i == 2) forward += "; ...", concat_backward += ", ...";
      continue;
    }
    forward += text(i == 0 ? "" : "; ", "x", i);
    concat_backward += text(i == 0 ? "" : ", ", "dx", i, " = dy[", index_of_part(r.out(0).shape, part, place), "]");
  }
  return {text("y = [", forward, "]", along_axis(axis)), concat_backward};
}

void concat_backward(Record& r) {
  const int axis = r.attributes<int>();
  const Shape& y = r.out(0).shape;
  dispatch_real(r.out(0).dtype, concat_info.name, [&]<class T>(T) {
    std::int64_t start = 0;
    for (int i = 0; i < r.inputs(); ++i) {
      const Shape& part = r.in(i).shape;
      if (r.wants(i)) read_strided(walk_in(y, part, axis, start), r.grad_out<T>(), r.grad_in<T>(i));
      start += part[axis];
    }
  });
}

std::string describe_part(const Tensors& parts, std::size_t n) {
  return describe_operand(text("x", n).c_str(), parts[n]);
}

void check_count(const Tensors& parts, const char* function) {
  if (parts.empty()) throw ShapeError(text(function, ": there are no parts; give at least one"));
  for (std::size_t n = 0; n < parts.size(); ++n)
    if (!parts[n].defined()) throw_undefined(function, text("x", n));
}

// The dtype of y: that of all parts, or dual where real numbers meet dual ones.
Dtype joined_dtype(const Tensors& parts, const char* function) {
  const auto has = [&](Dtype dtype) {
    return std::any_of(parts.begin(), parts.end(), [=](const Tensor& part) { return part.dtype() == dtype; });
  };
  if (has(dual) && !has(i64)) return dual;
  for (std::size_t n = 1; n < parts.size(); ++n)
    if (parts[n].dtype() != parts[0].dtype())
      throw DtypeMismatch(
          text(function, ": ", describe_part(parts, 0), " is ", parts[0].dtype(), " and ", describe_part(parts, n),
               " is ", parts[n].dtype(), ": dtypes differ; convert one with to()"),
          parts[0], parts[n]);
  return parts[0].dtype();
}

Shape joined_shape(const Tensors& parts, int axis) {
  const Shape& first = parts[0].shape();
  std::int64_t length = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const Tensor& part = parts[n];
    if (part.rank() != first.rank() || part.shape().erased(axis) != first.erased(axis))
      throw ShapeError(text("concat: ", describe_part(parts, 0), " and ", describe_part(parts, n), " along axis ", axis,
                            ": all other extents must be equal; reshape or slice one of them"));
    length += part.dim(axis);
  }
  return first.replaced(axis, length);
}

}  // namespace

Tensor concat(const Tensors& parts, int axis) {
  check_count(parts, concat_info.name);
  const int along = axis_of(concat_info.name, parts[0], axis, "x0");
  const Shape shape = joined_shape(parts, along);
  const Dtype dtype = joined_dtype(parts, concat_info.name);
  if (std::any_of(parts.begin(), parts.end(), [=](const Tensor& part) { return part.dtype() != dtype; })) {
    Tensors alike;
    for (const Tensor& part : parts) alike.push_back(part.dtype() == dtype ? part : to(part, dtype));
    return concat(alike, along);
  }
  Tensor y = empty(shape, dtype, concat_info.name);
  dispatch_any(dtype, [&]<class T>(T) {
    std::int64_t start = 0;
    for (const Tensor& part : parts) {
      write_strided(walk_in(shape, part.shape(), along, start), part.values<T>().data(),
                    {OpAccess::values<T>(y), false});
      start += part.dim(along);
    }
  });
  record(concat_info, concat_backward, parts, {&y}, {}, along);
  return y;
}

Tensor stack(const Tensors& parts, int axis) {
  check_count(parts, "stack");
  const int along = new_axis_of("stack", parts[0], axis, "x0");
  joined_dtype(parts, "stack");
  for (std::size_t n = 1; n < parts.size(); ++n)
    if (parts[n].shape() != parts[0].shape())
      throw ShapeError(text("stack: ", describe_part(parts, 0), " and ", describe_part(parts, n),
                            ": shapes must be equal; reshape one of them"));
  Tensors rows;
  rows.reserve(parts.size());
  for (const Tensor& part : parts) rows.push_back(unsqueeze(part, along));
  return concat(rows, along);
}

}  // namespace retrace
