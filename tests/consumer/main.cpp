// Fits a line: succeeds if the library computes, records and trains.
#include <iostream>

#ifdef TWO_FILES
#include "retrace.h"
#else
#include <retrace/nn/nn.h>
#endif

using namespace retrace;

int main() {
  Random random(1);
  Linear line(1, 1, random);
  Adam adam(line, {.lr = 0.1});
  const Tensor x = tensor({{-1}, {0}, {1}, {2}}), y = 3.0 * x + 1.0;
  double last = 0;
  for (int step = 0; step < 500; ++step) {
    Tape tape;
    const Tensor loss = mse(line(x), y);
    tape.backward(loss);
    adam.step();
    last = loss.item();
  }
  std::cout << "loss " << last << '\n';
  return last < 1e-3 ? 0 : 1;
}
