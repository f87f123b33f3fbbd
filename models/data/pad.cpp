#include <retrace/core/base/error.h>
#include <retrace/core/tensor/dtype.h>
#include <retrace/models/data/pad.h>

#include <algorithm>

namespace retrace {
namespace {

void check(const Tensors& sequences) {
  if (sequences.empty()) throw ValueError("pad: there is no sequence; give one or more");
  const Tensor& first = sequences.front();
  for (std::size_t k = 0; k < sequences.size(); ++k) {
    const Tensor& sequence = sequences[k];
    if (sequence.rank() != 2 || sequence.dim(1) != first.dim(1))
      throw ShapeError(text("pad: sequence ", k, " is ", sequence, " and sequence 0 is ", first,
                            "; all must be [length, features] with the same features"));
    if (sequence.dtype() != first.dtype())
      throw DtypeError(text("pad: sequence ", k, " is ", name_of(sequence.dtype()), " and sequence 0 is ",
                            name_of(first.dtype()), "; convert one with to()"));
  }
}

}  // namespace

PaddedBatch pad(const Tensors& sequences) {
  check(sequences);
  const auto count = static_cast<std::int64_t>(sequences.size());
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.dim(0));
  PaddedBatch result{.values = zeros({count, longest, sequences.front().dim(1)}, sequences.front().dtype()),
                     .mask = zeros({count, longest}, i64),
                     .lengths = empty({count}, i64)};
  auto seen = result.mask.mutable_values<std::int64_t>();
  auto lengths = result.lengths.mutable_values<std::int64_t>();
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const Tensor& sequence = sequences[static_cast<std::size_t>(sample)];
    lengths[static_cast<std::size_t>(sample)] = sequence.dim(0);
    std::fill_n(seen.begin() + sample * longest, sequence.dim(0), 1);
    if (sequence.numel() > 0)
      copy_values(sequence, view(result.values, sequence.shape(), sample * longest * sequence.dim(1)));
  }
  return result;
}

}  // namespace retrace
