#include <retrace/nn/nn.h>
#include <iostream>
using namespace retrace;

int main() {
  Tensor x = tensor({{1, 2}, {3, 4}}), w = parameter(tensor({{0.5}, {-1}}), "w");
  Tape tape;  // from here to the end of the block, ops are recorded
  Tensor y = tanh(matmul(x, w));
  tape.backward(sum(y * y));
  std::cout << tape << w.grad();
  std::cout << gradcheck([](const Tensors& in) { return Tensors{tanh(matmul(in[0], in[1]))}; }, {x, w});
}
