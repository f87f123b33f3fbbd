#include <retrace/nn/memory/head_rows.h>

namespace retrace {
namespace {

void check_head_lengths(const char* layer, const Tensor& x, const Tensor& lengths) {
  if (lengths.dtype() != i64 || lengths.shape() != Shape{x.dim(0)})
    throw ShapeError(text(layer, ": lengths", lengths.shape(), " of dtype ", lengths.dtype(), " must be i64 [",
                          x.dim(0), "], one for each sample of x", x.shape()));
  for (const std::int64_t length : lengths.values<std::int64_t>())
    if (length < 0 || length > x.dim(1))
      throw IndexError(text(layer, ": the length ", length, " is not in [0, ", x.dim(1), "], the time of x", x.shape(),
                            "; give each sample's number of steps"));
}

}  // namespace

Tensor after_end(const Tensor& lengths, std::int64_t heads, std::int64_t time) {
  Tensor result = empty({lengths.dim(0) * heads, time}, i64);
  result.update<std::int64_t>([&](std::span<std::int64_t> flags) {
    auto flag = flags.begin();
    for (const std::int64_t length : lengths.values<std::int64_t>())
      for (std::int64_t k = 0; k < heads * time; ++k) *flag++ = k % time >= length ? 1 : 0;
  });
  return result;
}

void check_heads(const char* layer, const Tensor& x, std::int64_t features, const Tensor& memory, const Shape& shape,
                 const Tensor& lengths) {
  check_input(layer, x, 3, features);
  if (x.dim(1) < 1) throw ShapeError(text(layer, ": the input ", x, " has no step; give at least one"));
  if (memory.defined() && memory.shape() != shape)
    throw ShapeError(
        text(layer, ": the memory ", memory.shape(), " must be ", shape, "; pass on that of an earlier call, or none"));
  if (lengths.defined()) check_head_lengths(layer, x, lengths);
}

void check_head_sizes(const char* layer, int heads, std::int64_t head_size) {
  if (heads < 1 || head_size < 1)
    throw ValueError(text(layer, ": ", heads, " heads of ", head_size, " features; each has to be 1 or more"));
}

Linear linear_of_blocks(const char* layer, std::initializer_list<std::int64_t> rows, std::int64_t features,
                        Random& random) {
  std::int64_t all_rows = 0;
  for (const std::int64_t count : rows) all_rows = checked_sum(layer, "the rows of project", {all_rows, count});
  parameter_shape(layer, "project.weight", {all_rows, features});
  Tensors blocks;
  for (const std::int64_t count : rows) blocks.push_back(glorot_uniform({count, features}, random));
  Linear result(features, all_rows, random);
  copy_values(concat(blocks, 0), result.weight);
  return result;
}

}  // namespace retrace
