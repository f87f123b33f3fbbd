// The shorter pieces of code of the READMEs, run one after the other.
#include <filesystem>

#include <retrace/nn/nn.h>
using namespace retrace;

namespace {

void store_a_trace() {
  Random random(1);
  const Linear model(3, 2, random);
  const Tensor x = random.normal({4, 3}), y = random.normal({4, 2});
  Tape tape({.keep = true});
  const Tensor loss = mean(square(model(x) - y));
  save(trace_backward(tape, loss, {.names = names_of(model)}), "step.trace.safetensors");
  std::filesystem::remove("step.trace.safetensors");
}

bool finds_what_is_not_finite() {
  const Tensor y = parameter(ones({4, 2}));
  try {
    Tape tape({.check_finite = true});
    tape.backward(sum(sqrt(y - y)));  // the slope of the root is infinite at 0
  } catch (const TapeError&) {
    return true;
  }
  return false;
}

void derive_more_than_gradients() {
  Random random(2);
  const Mlp model({3, 8, 1}, random, {.activation = Activation::tanh});
  const Tensor x = random.normal({16, 3}), y = random.normal({16, 1});
  Tensors v;
  for (const Tensor& weight : parameter_tensors(model)) v.push_back(random.normal(weight.shape()));
  const auto loss = [&](const Mlp& m) { return mean(square(m(x) - y)); };
  Tensors curvature = hvp(model, loss, v);                                 // H v, one f64 tensor per parameter
  Tensor j = jacobian([&](const Tensor& in) { return model(in); }, x[0]);  // [1, 3]
  auto each =
      per_sample_gradients(model, 16, [&](const Mlp& m, std::int64_t b) { return sum(square(m(x[b]) - y[b])); });

  Tape tape;
  Tensor slope = gradient([&](const Tensor& in) { return sum(model(in)); }, x);  // is on the tape itself
  tape.backward(loss(model) + 0.1 * mean(square(norm(slope, -1) - 1)));          // a gradient penalty
}

}  // namespace

int main() {
  store_a_trace();
  derive_more_than_gradients();
  return finds_what_is_not_finite() ? 0 : 1;
}
