#include <retrace/nn/optim/adafactor.h>
#include <retrace/nn/optim/norm_of_numbers.h>
#include <retrace/nn/optim/optimizer_options.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

/// Moves an average towards the mean of count squares, the first of which is g[0] and each next one `stride` further.
template <class T>
void move_to_mean_square(T& average, double rest, const T* g, std::int64_t count, std::int64_t stride) {
  double squares = 0;
  for (std::int64_t k = 0; k < count; ++k)
    squares += static_cast<double>(g[k * stride]) * static_cast<double>(g[k * stride]);
  const double mean = squares / static_cast<double>(count), old = static_cast<double>(average);
  average = static_cast<T>(old + rest * (mean - old));
}

/// g / sqrt(max(v, e^2)).
template <class T> T scaled(T g, double v) {
  const double e = static_cast<double>(std::numeric_limits<T>::epsilon());
  return static_cast<T>(static_cast<double>(g) / std::sqrt(std::max(v, e * e)));
}

/// u of one matrix [rows, columns]; moves the averages r and c.
template <class T>
void scale_matrix(const T* g, std::int64_t rows, std::int64_t columns, double rest, T* r, T* c, T* u) {
  for (std::int64_t i = 0; i < rows; ++i) move_to_mean_square(r[i], rest, g + i * columns, columns, 1);
  for (std::int64_t j = 0; j < columns; ++j) move_to_mean_square(c[j], rest, g + j, rows, columns);
  double mean = 0;
  for (std::int64_t i = 0; i < rows; ++i) mean += static_cast<double>(r[i]) / static_cast<double>(rows);
  mean = std::max(mean, static_cast<double>(std::numeric_limits<T>::epsilon()));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      u[i * columns + j] = scaled(g[i * columns + j], static_cast<double>(r[i]) * static_cast<double>(c[j]) / mean);
}

/// u of a whole parameter.
template <class T> std::vector<T> scaled_gradient(OptimizerSlot& slot, double rest) {
  const Tensor& w = slot.parameter.tensor;
  const T* g = w.grad_values<T>().data();
  std::vector<T> u(static_cast<std::size_t>(w.numel()));
  T* state = slot.state[0].tensor.mutable_values<T>().data();
  if (w.rank() < 2) {
    for (std::int64_t k = 0; k < w.numel(); ++k) {
      move_to_mean_square(state[k], rest, g + k, 1, 1);
      u[static_cast<std::size_t>(k)] = scaled(g[k], static_cast<double>(state[k]));
    }
    return u;
  }
  const std::int64_t rows = w.dim(-2), columns = w.dim(-1);
  T* c = slot.state[1].tensor.mutable_values<T>().data();
  for (std::int64_t first = 0; first < w.numel(); first += rows * columns)
    scale_matrix(g + first, rows, columns, rest, state + first / columns, c + first / rows, u.data() + first);
  return u;
}

template <class T> double root_mean_square(std::span<const T> values) {
  return norm_of_values(values).value() / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

Shape AdafactorOptions::state_shape(std::string_view state, const Shape& parameter) {
  if (state == "v") return parameter;
  return parameter.erased(parameter.rank() - (state == "r" ? 1 : 2));
}

void AdafactorOptions::check() const {
  check_optimizer_options("AdafactorOptions", *this);
  check_number("AdafactorOptions", "decay", decay, above_0, "such as 0.8");
  check_number("AdafactorOptions", "clip", clip, above_0, "such as 1");
}

void Adafactor::update(OptimizerSlot& slot, const AdafactorOptions& options) {
  const Tensor& w = slot.parameter.tensor;
  const double t = static_cast<double>(slot.updates);
  if (w.numel() == 0) return;
  dispatch_real(w.dtype(), "step", [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> u = scaled_gradient<T>(slot, std::pow(t, -options.decay));
    const double size = std::max(options.eps, root_mean_square<T>(w.values<T>()));
    const double clipped = std::max(1.0, root_mean_square<T>(u) / options.clip);
    const T step = static_cast<T>(std::min(options.lr, 1 / std::sqrt(t)) * size / clipped);
    const T keep = static_cast<T>(1 - options.lr * options.weight_decay);
    w.update<T>([&](std::span<T> values) {
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = keep * values[k] - step * u[k];
    });
  });
}

}  // namespace retrace
