// A minimal training: an LSTM learns to add. Linked statically, its size is checked (see check.cmake).
#include <retrace/nn/nn.h>

#include <cstdio>
using namespace retrace;

struct Adder {
  Lstm lstm;
  Linear head;
  explicit Adder(Random& random) : lstm(1, 16, random), head(16, 1, random) {}
  Tensor operator()(const Tensor& numbers) const { return head(lstm(numbers).state.h); }
  void visit(auto&& see) const { see("lstm", lstm), see("head", head); }
};

int main(int argc, char**) {
  Random random(7);
  Adder model(random);
  Adam adam(model, {.lr = 1e-2});
  for (int step = 0, steps = argc > 1 ? 1 : 100; step < steps; ++step) {
    const Tensor numbers = random.uniform({32, 4, 1}, -1, 1);
    Tape tape;
    const Tensor loss = mse(model(numbers), sum(numbers, 1));
    tape.backward(loss);
    adam.step();
    if (step % 50 == 0) std::printf("loss %.3f\n", loss.item());
  }
}
