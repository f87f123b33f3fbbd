// Lesson 2: checking the gradients of a function, and what the report of a wrong one says.
#include <array>
#include <cmath>
#include <iostream>
#include <span>

#include <retrace/core/checks/check_gradient.h>
#include <retrace/nn/nn.h>
using namespace retrace;

// y = x e^-x. The second backward forgets a term of the product rule.
Tensor ricker(const Tensor& x, bool right) {
  return custom_op(
      "ricker", {x}, [](const Tensors& in) { return in[0] * exp(-in[0]); },
      [right](const Tensor& dy, const Tensors& in, const Tensor& y) {
        return Tensors{right ? dy * (exp(-in[0]) - y) : dy * exp(-in[0])};
      });
}

int main() {
  Random random(1);
  Tensor x = random.normal({3, 4}, f64);
  // Each element is moved by a finite difference, and dual numbers check all of them at once, exactly.
  GradcheckResult right = gradcheck([](const Tensor& v) { return ricker(v, true); }, x);
  GradcheckResult wrong = gradcheck([](const Tensor& v) { return ricker(v, false); }, x);
  std::cout << right << wrong;

  // Several inputs, integers among them, and functions that have kinks.
  Tensor table = random.normal({5, 3}, f64), ids = indices({4, 0, 4});
  GradcheckResult rows =
      gradcheck([](const Tensors& in) { return Tensors{relu(embedding(in[0], in[1]))}; }, {table, ids}, {.kinks = {0}});

  // A whole model: every weight, in f64 for the time of the check.
  Lstm lstm(3, 4, random);
  Tensor sequence = random.normal({2, 5, 3}, f64);
  GradcheckResult model = gradcheck(lstm, [&](const Lstm& m) { return m(sequence).y; });

  // Code that knows no tensors: a function of doubles, and the gradient that its author wrote.
  auto length = [](std::span<const double> v) { return std::hypot(v[0], v[1]); };
  auto gradient = [&](std::span<const double> v) { return std::array{v[0] / length(v), v[1] / length(v)}; };
  GradcheckResult plain = check_gradient(length, gradient, std::array{3.0, -4.0}, {.name = "length"});
  std::cout << rows << model << plain;
  return right.passed() && !wrong.passed() && rows.passed() && model.passed() && plain.passed() ? 0 : 1;
}
