// y'_0 = x_0, y'_i = x_i y_(i-1), y(0) = 0, from t = 0 to 2 by the classical method of Runge and Kutta.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {
namespace {

Tensor slope(const Tensor& x, const Tensor& y) {
  const std::int64_t n = x.numel();
  return x * concat({ones({1}, f64), slice(y, {range(0, n - 1)})});
}

Tensor solution(const Tensor& x, std::int64_t steps) {
  const double h = 2.0 / static_cast<double>(steps);
  Tensor y = zeros(x.shape(), f64);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor k1 = slope(x, y), k2 = slope(x, y + h / 2 * k1), k3 = slope(x, y + h / 2 * k2);
    const Tensor k4 = slope(x, y + h * k3);
    y = y + h / 6 * (k1 + 2 * (k2 + k3) + k4);
  }
  return y;
}

Run primal(const Input& input) {
  return [x = input.tensor("x"), steps = input.integer("s")] { return solution(x, steps); };
}
// The gradient of the last element of y.
Run gradient(const Input& input) {
  return [x = input.tensor("x"), steps = input.integer("s")] {
    return gradient_of([&](const Tensor& at) { return slice(solution(at, steps), {-1}); }, x);
  };
}
constexpr Function functions[] = {{"primal", primal}, {"gradient", gradient}};

}  // namespace

const Eval ode{"ode", functions};

}  // namespace retrace::gradbench
