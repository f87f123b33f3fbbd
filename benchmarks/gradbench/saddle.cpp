// min over x of max over y of |x|^2 - |y|^2, both by gradient descent: the outer derivative goes through the inner
// descent.
#include <retrace/benchmarks/gradbench/descent.h>

namespace retrace::gradbench {
namespace {

// The negative of the function, so that both descents go down. y may be Moving.
constexpr auto loss = [](const auto& y, const Tensor& x) { return sum(square(y)) - sum(square(x)); };

template <Mode outer, Mode inner> Answer saddle_point(const Tensor& start) {
  const auto highest = [&](const Tensor& x) {
    return argmin([&](const Tensor& y) { return loss(y, x); },
                  [&](const Tensor& y) { return inner_gradient(inner, loss, y, x); }, start);
  };
  const auto height = [&](const Tensor& x) { return -loss(highest(x), x); };
  const Tensor x = argmin(
      height, [&](const Tensor& at) { return outer_gradient(outer, height, at); }, start);
  const auto at_x = [&](const Tensor& y) { return loss(y, x); };
  return concat({x, argmin(
                        at_x, [&](const Tensor& y) { return outer_gradient(outer, at_x, y); }, start)});
}

template <Mode outer, Mode inner> Run prepare(const Input& input) {
  return [start = input.tensor("start")] { return saddle_point<outer, inner>(start); };
}
constexpr Function functions[] = {{"ff", prepare<Mode::forward, Mode::forward>},
                                  {"fr", prepare<Mode::forward, Mode::reverse>},
                                  {"rf", prepare<Mode::reverse, Mode::forward>},
                                  {"rr", prepare<Mode::reverse, Mode::reverse>}};

}  // namespace

const Eval saddle{"saddle", functions};

}  // namespace retrace::gradbench
