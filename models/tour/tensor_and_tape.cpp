// Lesson 1: tensors, and the tape that records what is computed with them and walks back over it.
#include <iostream>

#include <retrace/nn/nn.h>
using namespace retrace;

int main() {
  // Numbers are f32 unless another type is asked for. Copying a tensor copies a handle, not the numbers.
  Tensor x = tensor({{1, 2}, {3, 4}});
  std::cout << x << x[1] << sum(x, 0) << slice(x, {all, -1}) << x + tensor({10, 20});

  // A parameter wants a gradient. While a Tape is in scope, the ops that touch it are recorded.
  Tensor w = parameter(tensor({{0.5}, {-1}}), "w");
  Tape tape;
  Tensor y = tanh(matmul(x, w)), loss = mean(square(y));
  std::cout << tape << '\n';  // one line per record: shapes, formula, formula of the gradient

  // The walk back goes from the last record to the first. Each adds to the gradients of its inputs.
  for (BackwardWalk walk(tape, loss); walk.next();) std::cout << walk.record() << '\n';
  std::cout << "dloss/dw\n" << w.grad() << "dloss/dy\n" << y.grad();  // y has one because we hold it

  // By hand: dy = 2 y / 2, dz = dy (1 - y^2), dw = x^T dz.
  Tensor by_hand = matmul(transpose(x), y * (1 - square(y)));
  return max(abs(by_hand - w.grad())).item() < 1e-6 ? 0 : 1;
}
