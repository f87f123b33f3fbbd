// Checking gradients in f64 by plain central differences, u.(f(x + h) - f(x - h)) / 2h for every element of every
// input, against one backward with the cotangent u: the same work as in the checks of other libraries.
// gradcheck_thorough_* is the library's own check, which extrapolates the differences to h = 0 and compares dual
// numbers too.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <retrace/core/core.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using SmallFunction = std::function<Tensor(const Tensors&)>;

double dot(const Tensor& u, const Tensor& y) {
  const std::span<const double> a = u.values<double>(), b = y.values<double>();
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The largest difference between numeric and analytic gradients.
double largest_error(const SmallFunction& f, const Tensors& inputs) {
  constexpr double h = 1e-6;
  Random random(2);
  for (const Tensor& input : inputs) input.zero_grad();
  Tensor cotangent;
  {
    Tape tape;
    const Tensor y = f(inputs);
    cotangent = random.normal(y.shape(), f64);
    tape.backward({y}, {cotangent});
  }
  double error = 0;
  for (const Tensor& input : inputs) {
    const Tensor gradient = input.grad();
    const std::span<double> values = input.mutable_values<double>();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double here = values[k];
      values[k] = here + h;
      const double up = dot(cotangent, f(inputs));
      values[k] = here - h;
      const double down = dot(cotangent, f(inputs));
      values[k] = here;
      error = std::max(error, std::abs((up - down) / (2 * h) - gradient.values<double>()[k]));
    }
  }
  return error;
}

void add_check(const std::string& name, const std::vector<Shape>& shapes, const SmallFunction& f) {
  const auto inputs_of = [shapes] {
    Random random(1);
    Tensors inputs;
    for (const Shape& shape : shapes) inputs.push_back(random.normal(shape, f64).watch());
    return inputs;
  };
  const auto plain = [=](benchmark::State& state) {
    const Tensors inputs = inputs_of();
    for (auto _ : state)
      if (!(largest_error(f, inputs) < 1e-5)) state.SkipWithError("the gradient is wrong");
  };
  const auto thorough = [=](benchmark::State& state) {
    const Tensors inputs = inputs_of();
    for (auto _ : state)
      if (!gradcheck([&](const Tensors& in) { return Tensors{f(in)}; }, inputs).passed())
        state.SkipWithError("the gradient is wrong");
  };
  benchmark::RegisterBenchmark(("gradcheck_" + name).c_str(), plain)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("gradcheck_thorough_" + name).c_str(), thorough)->Unit(benchmark::kMillisecond);
}

Tensor attention_of(const Tensors& in) {
  const Tensor qkv = matmul(in[0], in[1]);
  return matmul(packed_attention(qkv, {.heads = 2, .key_size = 4}), in[2]);
}

/// An LSTM from x [B, T, I], W [4 H, I], U [4 H, H] and b; h after the last step.
Tensor lstm_of(const Tensors& in) {
  const std::int64_t batch = in[0].dim(0), hidden = in[2].dim(1);
  const Tensor state = zeros({batch, hidden}, f64);
  return lstm_sequence(linear(in[0], in[1], in[3]), state, state, in[2]).h;
}

const bool registered = [] {
  add_check("matmul_8x8", {{8, 8}, {8, 8}}, [](const Tensors& in) { return matmul(in[0], in[1]); });
  add_check("softmax_8x16", {{8, 16}}, [](const Tensors& in) { return softmax(in[0]); });
  add_check("layer_norm_8x16", {{8, 16}, {16}, {16}},
            [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); });
  add_check("mha_b2_s4_d8_h2", {{2, 4, 8}, {8, 24}, {8, 8}}, attention_of);
  add_check("lstm_i3_h4_s3_b2", {{2, 3, 3}, {16, 3}, {16, 4}, {16}}, lstm_of);
  return true;
}();

}  // namespace
}  // namespace retrace
