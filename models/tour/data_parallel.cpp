// Lesson 11: a loop of your own on several processes, which gives the same bytes on any number of them.
#include <retrace/models/mpi/mpi_ranks.h>
#include <retrace/models/training/ranks/all_reduce.h>
#include <retrace/nn/nn.h>

#include <iostream>
using namespace retrace;

struct Net {
  Linear inner, outer;
  explicit Net(Random& random) : inner(8, 16, random), outer(16, 1, random) {}
  Tensor operator()(const Tensor& x) const { return outer(inner(x, Activation::tanh)); }
  void visit(auto&& see) const { see("inner", inner), see("outer", outer); }
};

int main() {
  MpiRanks ranks;    // processes that mpirun started; one, without it
  Random random(7);  // the same seed everywhere: all have the same data, and begin with the same weights
  Tensor x = random.normal({64, 8}), y = tanh(slice(x, {all, range(0, 1)}));
  Net net(random);
  Adam adam(net, {.lr = 1e-2});
  double loss = 0;
  for (int step = 0; step < 150; ++step) {
    loss = all_reduce_gradients(net, ranks, 8, [&](const Shard& shard) {  // called for the shards of this rank
      SliceIndex rows = range(shard.begin(64), shard.end(64));
      return mse(net(slice(x, {rows})), slice(y, {rows})) / 8;  // its part in the mean
    });
    adam.step();
  }
  if (ranks.rank() == 0) std::cout << "loss " << loss << ", weights " << weights_hash(net) << '\n';
  return loss < 0.01 ? 0 : 1;
}
