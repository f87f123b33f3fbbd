// Half the squared distance of a polynomial with the coefficients x to the sign of t, at n points t from -1 to 1.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {
namespace {

// x [m], t [n].
Tensor distance(const Tensor& x, const Tensor& t) {
  const std::int64_t n = t.numel(), m = x.numel();
  // Row i of the powers: 1, t_i, t_i^2, ...
  const Tensor powers = concat({ones({n, 1}, f64), cumprod(broadcast_to(reshape(t, {n, 1}), {n, m - 1}))}, 1);
  return sum(square(sign(t) - matmul(powers, x))) / 2;
}

Run prepare(const Input& input, bool gradient) {
  const Tensor x = input.tensor("x"), t = linspace(-1, 1, input.integer("n"), f64);
  return [=]() -> Answer {
    if (!gradient) return distance(x, t);
    return gradient_of([&](const Tensor& at) { return distance(at, t); }, x);
  };
}
constexpr Function functions[] = {{"primal", [](const Input& input) { return prepare(input, false); }},
                                  {"gradient", [](const Input& input) { return prepare(input, true); }}};

}  // namespace

const Eval llsq{"llsq", functions};

}  // namespace retrace::gradbench
