#include <iostream>

#include <retrace/nn/nn.h>
using namespace retrace;

int main() {
  Tensor x = tensor({{1, 2}, {3, 4}});
  Tensor w = parameter(tensor({{0.5}, {-1}}), "w");

  Tape tape;  // from here to the end of the block, ops are recorded
  Tensor y = tanh(matmul(x, w));
  tape.backward(sum(y * y));  // w.grad() = dloss/dw; y.grad() as well, because we hold y
  std::cout << tape;

  // Checks the gradients of the same function by finite differences and by dual numbers in f64.
  std::cout << gradcheck([](const Tensors& in) { return Tensors{tanh(matmul(in[0], in[1]))}; }, {x, w});
}
