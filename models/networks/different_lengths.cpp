#include <retrace/models/networks/different_lengths.h>

#include <algorithm>
#include <numeric>

#include <retrace/core/tensor/memory.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using Positions = std::vector<std::int64_t, PoolAllocator<std::int64_t>>;

Tensor as_tensor(std::span<const std::int64_t> positions) { return indices(positions, {std::ssize(positions)}); }

// Calls run(rows [n, L, I]) for the n samples of each length L, and puts the results in the order of the batch.
template <class Run> Tensor by_length(const Tensor& x, const Tensor& lengths, Run&& run) {
  const auto length = lengths.values<std::int64_t>();
  const auto length_of = [&](std::int64_t sample) { return length[static_cast<std::size_t>(sample)]; };
  Positions order(length.size()), place(length.size());
  std::iota(order.begin(), order.end(), 0);
  // std::stable_sort would take a buffer from the heap in every step.
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return length_of(a) != length_of(b) ? length_of(a) < length_of(b) : a < b;
  });
  if (order.empty() || length_of(order.front()) == x.dim(1)) return run(x);
  Tensors parts;
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    const std::int64_t own = length_of(order[first]);
    for (last = first; last < order.size() && length_of(order[last]) == own;) ++last;
    const Tensor samples = take(x, as_tensor(std::span(order).subspan(first, last - first)));
    parts.push_back(run(slice(samples, {all, range(0, own)})));
  }
  for (std::size_t k = 0; k < order.size(); ++k)
    place[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
  return take(concat(parts, 0), as_tensor(place));
}

}  // namespace

void check_lengths(const char* function, const Tensor& x, const Tensor& lengths) {
  check_defined(function, x, "x");
  check_defined(function, lengths, "lengths");
  if (x.rank() != 3 || lengths.dtype() != i64 || lengths.shape() != Shape{x.dim(0)})
    throw ShapeError(text(function, ": lengths", lengths.shape(), " of dtype ", lengths.dtype(),
                          " must be i64, one for each sample of x", x.shape(), " [samples, time, features]"));
  for (const std::int64_t length : lengths.values<std::int64_t>())
    if (length < 1 || length > x.dim(1))
      throw IndexError(text(function, ": a sequence of ", length, " rows; lengths are from 1 to ", x.dim(1),
                            ", the time of x", x.shape()));
}

Tensor answers_at_ends(const SequenceModel& model, const Tensor& x, const Tensor& lengths, Random* random) {
  check_lengths("answers_at_ends", x, lengths);
  return by_length(x, lengths, [&](const Tensor& rows) { return model(rows, random); });
}

Tensor answers_to_all_rows(const SequenceModel& model, const Tensor& x, const Tensor& lengths, Random* random) {
  check_lengths("answers_to_all_rows", x, lengths);
  return by_length(x, lengths, [&](const Tensor& rows) {
    const Tensor answers = model.answers(rows, rows.dim(1), random);
    return pad(answers, {{0, 0}, {0, x.dim(1) - rows.dim(1)}, {0, 0}});
  });
}

}  // namespace retrace
