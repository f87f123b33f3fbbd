// Lesson 6: an op of your own, twice: composed of others, and with loops of its own.
#include <cmath>
#include <iostream>

#include <retrace/core/tape/recording.h>
#include <retrace/nn/nn.h>
using namespace retrace;

// The short way: forward and backward are functions of tensors. y = x sigmoid(b x).
Tensor swish(const Tensor& x, double b) {
  return custom_op(
      "swish", {x}, [b](const Tensors& in) { return in[0] * sigmoid(b * in[0]); },
      [b](const Tensor& dy, const Tensors& in, const Tensor& y) {
        Tensor s = sigmoid(b * in[0]);
        return Tensors{dy * (s + b * y * (1 - s))};
      });
}

// The library's way: formulas, a backward that reads the record, and loops over elements of any real type. Dual numbers
// run through the same loops, so gradcheck compares them with the backward, exactly.
constexpr OpInfo softsign_info{"softsign", "y = x / (1 + |x|)", "dx = dy / (1 + |x|)^2", "x"};

void softsign_backward(Record& r) {
  dispatch_real(r.in(0).dtype, softsign_info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* x = r.saved(0).values<T>();
    const auto [dy, dx] = r.flow<T>(0);  // the gradient of y, and where the gradient of x goes
    dx.put(r.in(0).numel(), [=, dy = dy](std::int64_t k) {
      using std::abs;
      const T below = T(1) + abs(x[k]);
      return dy[k] / (below * below);
    });
  });
}

Tensor softsign(const Tensor& x) {
  check_defined("softsign", x, "x");
  Tensor y = empty_like(x);
  dispatch_real(x.dtype(), softsign_info.name, [&](auto zero) {
    using T = decltype(zero);
    const auto from = x.values<T>();
    y.update<T>([&](std::span<T> to) {
      using std::abs;
      for (std::size_t k = 0; k < to.size(); ++k) to[k] = from[k] / (T(1) + abs(from[k]));
    });
  });
  record(softsign_info, softsign_backward, {&x}, {&y}, {&x});  // saved: x
  return y;
}

int main() {
  Random random(1);
  Tensor x = parameter(random.normal({2, 3}), "x");
  {
    Tape tape;  // both print and walk back like the library's ops
    tape.backward(sum(softsign(swish(x, 1.5))));
    std::cout << tape;
  }
  GradcheckResult composed = gradcheck([](const Tensor& v) { return swish(v, 1.5); }, x);
  GradcheckResult looped = gradcheck(softsign, x, {.kinks = {0}});
  std::cout << composed << looped;
  return composed.passed() && looped.passed() ? 0 : 1;
}
