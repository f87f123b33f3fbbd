// Making tensors from numbers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include <retrace/core/tensor/no_memory.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {
namespace {

void check_count(std::size_t count, const Shape& shape, const char* function) {
  check_numel(shape, function);
  if (static_cast<std::int64_t>(count) != shape.numel())
    throw ShapeError(text(function, ": ", count, " values for shape ", shape, ", which holds ", shape.numel(),
                          "; give one value per element"));
}

/// "3.64 TiB"
std::string bytes_text(const Shape& shape, Dtype dtype) {
  double amount = static_cast<double>(shape.numel()) * static_cast<double>(size_of(dtype));
  const char* unit = "bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = larger;
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", amount);
  return text(digits, " ", unit);
}

template <class T> Tensor copied(std::span<const T> values, const Shape& shape) {
  check_count(values.size(), shape, "tensor");
  Tensor result = empty(shape, dtype_of<T>, "tensor");
  std::ranges::copy(values, OpAccess::values<T>(result));
  return result;
}

/// Throws ValueError if a tensor of this dtype does not hold the number.
void check_holds(const char* function, const Scalar& number, Dtype dtype) {
  if (dtype == i64 && !number.is_i64())
    throw ValueError(text(function, ": ", number, " is not an integer of i64; give integers, or another dtype"));
}

Tensor constant(const char* function, const Shape& shape, const Scalar& value, Dtype dtype) {
  check_holds(function, value, dtype);
  Tensor result = empty(shape, dtype, function);
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(OpAccess::values<T>(result), result.numel(), value.as<T>());
  });
  return result;
}

Tensor constant_like(const char* function, const Tensor& x, const Scalar& value) {
  check_defined(function, x, "x");
  return constant(function, x.shape(), value, x.dtype());
}

/// value(k), a double or a Scalar, for each element k.
template <class Value> Tensor generated(const char* function, const Shape& shape, Dtype dtype, Value&& value) {
  Tensor result = empty(shape, dtype, function);
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* element = OpAccess::values<T>(result);
    for (std::int64_t k = 0; k < result.numel(); ++k) {
      const Scalar number = value(k);
      check_holds(function, number, dtype);
      element[k] = number.as<T>();
    }
  });
  return result;
}

/// The size of a - b, for a >= b; it need not fit into i64.
std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

/// start + k step for k in [0, count), of integers that all fit.
Tensor stepped(const char* function, std::int64_t start, std::int64_t step, std::uint64_t count) {
  if (count > std::uint64_t{1000000000000000})
    throw ShapeError(text(function, ": ", count, " elements are more than memory can hold; use a larger step"));
  Tensor result = empty({static_cast<std::int64_t>(count)}, i64, function);
  std::uint64_t next = static_cast<std::uint64_t>(start);
  std::int64_t* element = OpAccess::values<std::int64_t>(result);
  for (std::int64_t k = 0; k < result.numel(); ++k, next += static_cast<std::uint64_t>(step))
    element[k] = static_cast<std::int64_t>(next);
  return result;
}

Tensor arange_of_integers(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0)
    throw ValueError(text("arange: from ", start, " to ", stop, " by 0 never ends; use a finite step that is not 0"));
  const bool rises = step > 0;
  if (rises ? start >= stop : start <= stop) return stepped("arange", start, step, 0);
  const std::uint64_t way = rises ? distance(stop, start) : distance(start, stop);
  const std::uint64_t size = rises ? distance(step, 0) : distance(0, step);
  return stepped("arange", start, step, (way - 1) / size + 1);
}

/// first, ..., last, where the steps between them are integers.
Tensor linspace_of_integers(std::int64_t first, std::int64_t last, std::int64_t count) {
  if (count < 2) return stepped("linspace", first, 0, static_cast<std::uint64_t>(count));
  const std::uint64_t steps = static_cast<std::uint64_t>(count - 1);
  const std::uint64_t way = first <= last ? distance(last, first) : distance(first, last);
  if (way % steps != 0)
    throw ValueError(text("linspace: ", count, " numbers from ", first, " to ", last,
                          " are not all integers of i64; give another count, or another dtype"));
  const std::uint64_t size = way / steps;
  return stepped("linspace", first, static_cast<std::int64_t>(first <= last ? size : 0 - size), steps + 1);
}

}  // namespace

void throw_no_memory(const char* function, std::string_view name, const Shape& shape, Dtype dtype) {
  throw MemoryError(text(function, ": ", name, " ", shape, " of ", dtype, " takes ", bytes_text(shape, dtype),
                         ", which could not be allocated; use smaller sizes or batches"));
}

Tensor empty(const Shape& shape, Dtype dtype, const char* function) {
  check_numel(shape, function);
  try {
    Storage* storage = allocate_storage(static_cast<std::size_t>(shape.numel()) * size_of(dtype));
    return OpAccess::over(storage, storage->data(), shape, dtype);
  } catch (const MemoryError&) {
    throw_no_memory(function, "a tensor", shape, dtype);
  }
}

void check_memory(const char* function, std::string_view name, const Shape& shape, Dtype dtype) {
  check_numel(shape, text(function, ": ", name).c_str());
  const std::size_t bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
  if (bytes > total_memory()) throw_no_memory(function, name, shape, dtype);
}

Tensor empty_like(const Tensor& x) {
  check_defined("empty_like", x, "x");
  const Node& like = OpAccess::node(x);
  try {
    Storage* storage = allocate_storage(like.bytes());
    return OpAccess::over(storage, storage->data(), like.shape, like.dtype);
  } catch (const MemoryError&) {
    throw_no_memory("empty_like", "a tensor", like.shape, like.dtype);
  }
}

Tensor view(const Tensor& x, const Shape& shape, std::int64_t offset) {
  check_defined("view", x, "x");
  Node& node = OpAccess::node(x);
  if (!x.has_values())
    throw TapeError(text("view: the values of ", x, " are gone: only the tape refers to it; hold the tensor"));
  if (offset < 0 || offset > x.numel() || shape.numel() > x.numel() - offset)
    throw ShapeError(text("view: ", shape, " at ", offset, " does not lie inside ", x, "; use slice"));
  if (shape.numel() == 0) check_extents(shape, "view");
  retain(node.storage);
  std::byte* first = static_cast<std::byte*>(node.elements) + static_cast<std::size_t>(offset) * size_of(node.dtype);
  return OpAccess::over(node.storage, first, shape, node.dtype);
}

Shape NestedNumbers::flatten(std::vector<Scalar>& numbers) const {
  if (!is_list_) {
    numbers.push_back(number_);
    return {};
  }
  Shape inner;
  for (std::size_t k = 0; k < list_.size(); ++k) {
    const Shape shape = list_[k].flatten(numbers);
    if (k > 0 && shape != inner)
      throw ShapeError(text("tensor: the nested lists are ragged: ", inner, " and ", shape,
                            " side by side; give each list of a level the same length"));
    inner = shape;
  }
  return inner.inserted(0, static_cast<std::int64_t>(list_.size()));
}

Tensor tensor(const NestedNumbers& numbers, Dtype dtype) {
  std::vector<Scalar> values;
  const Shape shape = numbers.flatten(values);
  return generated("tensor", shape, dtype, [&](std::int64_t k) { return values[static_cast<std::size_t>(k)]; });
}

Tensor tensor(std::span<const float> values, const Shape& shape) { return copied(values, shape); }

Tensor tensor(std::span<const double> values, const Shape& shape, Dtype dtype) {
  check_count(values.size(), shape, "tensor");
  return generated("tensor", shape, dtype, [&](std::int64_t k) { return values[static_cast<std::size_t>(k)]; });
}

Tensor tensor(std::span<const Dual> values, const Shape& shape) { return copied(values, shape); }

Tensor indices(const NestedNumbers& numbers) { return tensor(numbers, i64); }

Tensor indices(std::span<const std::int64_t> values, const Shape& shape) { return copied(values, shape); }

Tensor full(const Shape& shape, Scalar value, Dtype dtype) { return constant("full", shape, value, dtype); }
Tensor zeros(const Shape& shape, Dtype dtype) { return constant("zeros", shape, 0, dtype); }
Tensor ones(const Shape& shape, Dtype dtype) { return constant("ones", shape, 1, dtype); }
Tensor full_like(const Tensor& x, Scalar value) { return constant_like("full_like", x, value); }
Tensor zeros_like(const Tensor& x) { return constant_like("zeros_like", x, 0); }
Tensor ones_like(const Tensor& x) { return constant_like("ones_like", x, 1); }

Tensor arange(Scalar first, Scalar end, Scalar by, Dtype dtype) {
  if (dtype == i64) {
    for (const Scalar& number : {first, end, by}) check_holds("arange", number, dtype);
    return arange_of_integers(first.as<std::int64_t>(), end.as<std::int64_t>(), by.as<std::int64_t>());
  }
  const double start = first.real(), stop = end.real(), step = by.real();
  const double count = std::ceil((stop - start) / step);
  if (!std::isfinite(count))
    throw ValueError(
        text("arange: from ", start, " to ", stop, " by ", step, " never ends; use a finite step that is not 0"));
  if (count > 1e15)
    throw ShapeError(text("arange: ", count, " elements are more than memory can hold; use a larger step"));
  std::int64_t below = std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  const double last = start + static_cast<double>(below - 1) * step;
  if (below > 0 && (step > 0 ? last >= stop : last <= stop)) --below;  // the division rounded up
  const Shape shape{below};
  return generated("arange", shape, dtype, [&](std::int64_t k) { return start + static_cast<double>(k) * step; });
}

Tensor linspace(Scalar from, Scalar to, std::int64_t count, Dtype dtype) {
  if (count < 0) throw ValueError(text("linspace: ", count, " numbers; count must be 0 or more"));
  if (dtype == i64) {
    for (const Scalar& number : {from, to}) check_holds("linspace", number, dtype);
    return linspace_of_integers(from.as<std::int64_t>(), to.as<std::int64_t>(), count);
  }
  const double first = from.real(), last = to.real();
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  return generated("linspace", {count}, dtype, [&](std::int64_t k) {
    return count > 1 && k == count - 1 ? last : first + static_cast<double>(k) * step;
  });
}

Tensor eye(std::int64_t rows, std::int64_t columns, Dtype dtype, std::int64_t offset) {
  checked_size("eye", "rows", rows);
  const Shape shape{rows, columns == -1 ? rows : checked_size("eye", "columns", columns)};
  return generated("eye", shape, dtype,
                   [&](std::int64_t k) { return k % shape[1] - k / shape[1] == offset ? 1.0 : 0.0; });
}

Tensor one_hot(const Tensor& ids, std::int64_t classes, Dtype dtype) {
  check_defined("one_hot", ids, "ids");
  checked_size("one_hot", "classes", classes);
  const std::span<const std::int64_t> labels = ids.values<std::int64_t>();
  for (std::size_t k = 0; k < labels.size(); ++k)
    if (labels[k] < 0 || labels[k] >= classes)
      throw IndexError(text("one_hot: id ", labels[k], " at position ", k, " of ", ids, " is outside 0 to ",
                            classes - 1, "; check the ids or the number of classes"));
  return generated("one_hot", ids.shape().inserted(ids.rank(), classes), dtype, [&](std::int64_t k) {
    return labels[static_cast<std::size_t>(k / classes)] == k % classes ? 1.0 : 0.0;
  });
}

Tensor parameter(const Tensor& values, std::string_view name) {
  check_defined("parameter", values, "values");
  Tensor result = values.clone();
  if (!name.empty()) result.named(name);
  OpAccess::node(result).role = detail::Role::parameter;
  return result.watch();
}

}  // namespace retrace
