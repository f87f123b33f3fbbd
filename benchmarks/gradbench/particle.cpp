// The place w of a charge that lets a particle hit the origin: a descent on a trajectory, whose steps contain the
// gradient of a potential.
#include <retrace/benchmarks/gradbench/descent.h>

namespace retrace::gradbench {
namespace {

// The sum of 1 / distance from the charges [2, 2]. x [2] may be Moving.
constexpr auto potential = [](const auto& x, const Tensor& charges) {
  return sum(reciprocal(sqrt(sum(square(x - charges), 1))));
};

// The square of the abscissa at which the particle reaches the axis, by Euler's method; w [1].
Tensor miss(Mode inner, const Tensor& w) {
  constexpr double time_step = 0.1;
  const Tensor ten = full({1}, 10, f64);
  const Tensor charges = stack({concat({ten, ten - w}), concat({ten, zeros({1}, f64)})});
  Tensor x = tensor({0, 8}, f64), velocity = tensor({0.75, 0}, f64);
  for (;;) {
    const Tensor next = x + time_step * velocity;
    if (next.at({1}) <= 0) break;
    velocity = velocity - time_step * inner_gradient(inner, potential, x, charges);
    x = next;
  }
  return square(x[0] - x[1] / velocity[1] * velocity[0]);
}

template <Mode outer, Mode inner> Run prepare(const Input& input) {
  return [start = reshape(input.tensor("w"), {1})] {
    const auto f = [](const Tensor& w) { return miss(inner, w); };
    return argmin(
        f, [&](const Tensor& w) { return outer_gradient(outer, f, w); }, start)[0];
  };
}
constexpr Function functions[] = {{"ff", prepare<Mode::forward, Mode::forward>},
                                  {"fr", prepare<Mode::forward, Mode::reverse>},
                                  {"rf", prepare<Mode::reverse, Mode::forward>},
                                  {"rr", prepare<Mode::reverse, Mode::reverse>}};

}  // namespace

const Eval particle{"particle", functions};

}  // namespace retrace::gradbench
