// Whatever core declares, core defines: this program links nothing else. It squares a row of a tensor by an op of its
// own, on a tape, and checks the gradient.
#include <iostream>

#include <retrace/core/core.h>
using namespace retrace;

namespace {

constexpr OpInfo square_info{"square", "y = x x", "dx = 2 x dy", "x"};

void square_backward(Record& r) {
  dispatch_real(r.in(0).dtype, "square", [&](auto zero) {
    using T = decltype(zero);
    const T *x = r.saved(0).values<T>(), *dy = r.grad_out<T>();
    r.grad_in<T>(0).put(r.in(0).numel(), [=](std::int64_t k) { return 2 * x[k] * dy[k]; });
  });
}

Tensor square(const Tensor& x) {
  Tensor y = empty_like(x);
  dispatch_real(x.dtype(), "square", [&](auto zero) {
    using T = decltype(zero);
    const auto from = x.values<T>();
    const auto to = y.mutable_values<T>();
    for (std::size_t k = 0; k < from.size(); ++k) to[k] = from[k] * from[k];
  });
  record(square_info, square_backward, {&x}, {&y}, {&x});
  return y;
}

}  // namespace

int main() {
  const int module = 0;
  const Tensor x = parameter(tensor({{1, 2}, {3, 4}}), "x");
  Tape tape;
  {
    const Scope scope(&module, "row");
    const Tensor y = square(identity(x)[-1].to(f64));
    BackwardWalk walk(tape, {y}, {ones_like(y)});
    while (walk.next()) std::cout << walk.record() << '\n';
  }
  std::cout << tape << x.grad();
  const GradcheckResult result = gradcheck([](const Tensor& v) { return square(v[1]); }, x);
  std::cout << result;
  const bool is_right = x.grad().at({0, 0}) == 0 && x.grad().at({1, 0}) == 6 && x.grad().at({1, 1}) == 8;
  return result.passed() && is_right ? 0 : 1;
}
