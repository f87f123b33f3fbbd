// Trains an LSTM to add the numbers of a sequence.
#include <cstdio>

#ifdef TWO_FILES
#include "retrace.h"
#else
#include <retrace/nn/nn.h>
#endif

using namespace retrace;

struct Adder {
  Lstm lstm;
  Linear head;
  explicit Adder(Random& random) : lstm(1, 16, random), head(16, 1, random) {}
  Tensor operator()(const Tensor& numbers) const { return head(lstm(numbers).state.h); }
  void visit(auto&& see) const { see("lstm", lstm), see("head", head); }
};

int main() {
  Random random(7);
  Adder model(random);
  Adam adam(model, {.lr = 1e-2});
  double first = 0, last = 0;
  for (int step = 0; step < 300; ++step) {
    const Tensor numbers = random.uniform({32, 4, 1}, -1, 1);
    Tape tape;
    const Tensor loss = mse(model(numbers), sum(numbers, 1));
    tape.backward(loss);
    adam.step();
    (step == 0 ? first : last) = loss.item();
  }
  std::printf("loss %.4f -> %.4f\n", first, last);
  return last < first / 10 ? 0 : 1;
}
