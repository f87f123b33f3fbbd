// Tensors for the debugger: gdb_test.cpp stops this program in `stop` and prints them.
#include <retrace/nn/nn.h>

#include <vector>

namespace {

using namespace retrace;

[[gnu::noinline]] void stop() { asm volatile(""); }

[[gnu::noinline]] void look(const Tensor& row, [[maybe_unused]] const Linear& linear) {
  const Tensor none, number = tensor(2.5, f64), ids = indices({{-3, 7}}), many = arange(0, 100), empty = zeros({0, 3});
  const std::vector<Dual> pairs{{1, 2}, {3, 4}};
  const Tensor duals = tensor(pairs, {2}), named = zeros({1}).named("a name on the heap, with 30 bytes");
  const Shape shape{4, 5};
  Tape tape;
  tape.backward(sum(row * row));
  stop();
}

}  // namespace

int main() {
  Random random(1);
  Linear linear(2, 1, random);
  copy_values(tensor({{0.5, -1}}), linear.weight);
  look(parameter(tensor({7, 8}), "row"), linear);
}
