#include <retrace/nn/layers/recurrent_layers.h>

#include <algorithm>
#include <span>

namespace retrace {
namespace {

// Which row of x [B T, ...] each row of the reversed x is.
Tensor reversed_rows(const Tensor& x, const Tensor& lengths) {
  const std::int64_t time = x.dim(1);
  Tensor rows = empty({x.dim(0) * time}, i64);
  rows.update<std::int64_t>([&](std::span<std::int64_t> values) {
    auto row = values.begin();
    std::int64_t first = 0;
    for (const std::int64_t length : lengths.values<std::int64_t>()) {
      for (std::int64_t t = 0; t < time; ++t) *row++ = first + (t < length ? length - 1 - t : t);
      first += time;
    }
  });
  return rows;
}

void check_reverse_time(const Tensor& x, const Tensor& lengths) {
  check_defined("reverse_time", x, "x");
  if (x.rank() < 2) throw ShapeError(text("reverse_time: x", x.shape(), " must be [batch, time, ...]; reshape it"));
  if (!lengths.defined()) return;
  if (lengths.dtype() != i64 || lengths.shape() != Shape{x.dim(0)})
    throw ShapeError(text("reverse_time: lengths", lengths.shape(), " of dtype ", lengths.dtype(), " must be i64 [",
                          x.dim(0), "], one for each sample of x", x.shape()));
  for (const std::int64_t length : lengths.values<std::int64_t>())
    if (length < 0 || length > x.dim(1))
      throw IndexError(text("reverse_time: the length ", length, " is not in [0, ", x.dim(1), "], the time of x",
                            x.shape(), "; give each sample's number of steps"));
}

}  // namespace

Tensor state_after(std::int64_t t, const Tensor& lengths, const Tensor& next, const Tensor& before) {
  if (!lengths.defined()) return next;
  if (lengths.dtype() != i64 || next.rank() < 1 || lengths.shape() != Shape{next.dim(0)})
    throw ShapeError(text("state_after: lengths", lengths.shape(), " of dtype ", lengths.dtype(),
                          " must be i64, one for each sample of the state ", next.shape()));
  Shape shape{next.dim(0)};
  for (int axis = 1; axis < next.rank(); ++axis) shape = shape.inserted(axis, 1);
  Tensor runs = empty(shape, i64);
  runs.update<std::int64_t>([&](std::span<std::int64_t> flags) {
    std::ranges::transform(lengths.values<std::int64_t>(), flags.begin(),
                           [t](std::int64_t length) { return t < length ? 1 : 0; });
  });
  return where(runs, next, before);
}

std::string name_of_cell(int k, const RecurrentOptions& options) {
  if (!options.bidirectional) return "l" + std::to_string(k);
  return "l" + std::to_string(k / 2) + (k % 2 == 1 ? "_reverse" : "");
}

const RecurrentOptions& checked_options(const char* layer, const RecurrentOptions& options) {
  if (options.layers < 1) throw ValueError(text(layer, ": ", options.layers, " layers; at least one is needed"));
  if (!(options.dropout >= 0 && options.dropout <= 1))
    throw ValueError(text(layer, ": the probability of dropout ", options.dropout, " must lie from 0 to 1"));
  return options;
}

void check_states(const char* layer, const char* role, const Tensor& state, int cells, std::int64_t batch,
                  std::int64_t hidden) {
  if (cells == 1) return check_state(layer, role, state, batch, hidden);
  check_defined(layer, state, role);
  if (state.shape() != Shape{cells, batch, hidden})
    throw ShapeError(text(layer, ": the state ", role, state.shape(), " must be [", cells, ", ", batch, ", ", hidden,
                          "], one [batch, hidden] for each layer and direction; stack them"));
}

Tensor state_of_cell(const Tensor& states, int k, int cells, const Shape& shape, Dtype dtype) {
  if (!states.defined()) return zeros(shape, dtype);
  return cells == 1 ? states : slice(states, {k});
}

Tensor states_of_cells(const Tensors& states) { return states.size() == 1 ? states.front() : stack(states); }

Tensor reverse_time(const Tensor& x, const Tensor& lengths) {
  check_reverse_time(x, lengths);
  if (!lengths.defined()) return flip(x, 1);
  if (x.numel() == 0) return x;
  const std::int64_t rows = x.dim(0) * x.dim(1);
  return reshape(take(reshape(x, {rows, x.numel() / rows}), reversed_rows(x, lengths)), x.shape());
}

}  // namespace retrace
