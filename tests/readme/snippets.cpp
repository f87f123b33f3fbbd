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

}  // namespace

int main() {
  store_a_trace();
  return finds_what_is_not_finite() ? 0 : 1;
}
