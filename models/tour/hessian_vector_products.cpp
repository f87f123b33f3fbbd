// Lesson 10: second derivatives. The largest curvature of an LSTM's loss, found by Hessian-vector products alone.
#include <cmath>
#include <iomanip>
#include <iostream>

#include <retrace/nn/nn.h>
using namespace retrace;

struct Forecast {  // the next number of a wave
  Lstm lstm;
  Linear head;
  explicit Forecast(Random& random) : lstm(1, 8, random), head(8, 1, random) {}
  Tensor operator()(const Tensor& x) const { return head(lstm(x).y); }
  void visit(auto&& see) const { see("lstm", lstm), see("head", head); }
};

double dot(const Tensors& a, const Tensors& b) {
  double result = 0;
  for (std::size_t k = 0; k < a.size(); ++k) result += sum(a[k] * b[k]).item();
  return result;
}

int main() {
  Random random(1);
  Forecast model(random);
  to(model, f64);
  std::cout << model;  // its parts, shapes and weights

  Tensor wave = sin(reshape(arange(0, 8, 0.25, f64), {1, 32, 1}));
  Tensor x = slice(wave, {all, range(0, 31)}), next = slice(wave, {all, range(1, 32)});
  auto loss = [&](const Forecast& m) { return mean(square(m(x) - next)); };

  // The power method: H v, normalised, again and again turns v to the direction of the largest curvature. Each product
  // is one forward and one backward on dual numbers; the Hessian of 329 x 329 numbers is never made.
  Tensors v;
  for (const Tensor& weight : parameter_tensors(model)) v.push_back(random.normal(weight.shape(), f64));
  double curvature = 0;
  for (int step = 0; step < 100; ++step) {
    const double length = std::sqrt(dot(v, v));
    for (Tensor& part : v) part = part / length;
    Tensors hv = hvp(model, loss, v);
    curvature = dot(v, hv);
    v = hv;
  }
  const double length = std::sqrt(dot(v, v));
  for (Tensor& part : v) part = part / length;

  // Along v, the loss is a parabola of that curvature.
  const double step = 1e-3;
  auto moved_loss = [&](double by) {
    Forecast moved = clone(model);
    const Tensors weights = parameter_tensors(moved);
    for (std::size_t k = 0; k < weights.size(); ++k) copy_values((weights[k] + by * v[k]).detach(), weights[k]);
    return loss(moved).item();
  };
  const double difference = (moved_loss(step) - 2 * moved_loss(0) + moved_loss(-step)) / (step * step);
  std::cout << std::setprecision(8) << "largest curvature by Hessian-vector products  " << curvature
            << "\nthe same from three losses along its direction  " << difference << '\n';

  // The whole Hessian of a part is small enough to look at: it is symmetric.
  Tensor h = hessian([&] { return loss(model); }, {model.head.weight, *model.head.bias});
  const double asymmetry = max(abs(h - transpose(h))).item();
  std::cout << "Hessian of the head " << h.shape() << ", asymmetry " << asymmetry << '\n';

  // A gradient can be part of a loss: this one asks for a flat answer, and its own gradient is exact.
  Tape tape;
  Tensor slope = gradient([&](const Tensor& at) { return sum(model(at)); }, x);
  tape.backward(loss(model) + 0.1 * mean(square(slope)));
  std::cout << "gradient of loss and penalty " << model.head.weight.grad();
  return std::abs(difference / curvature - 1) < 1e-4 && asymmetry < 1e-12 ? 0 : 1;
}
