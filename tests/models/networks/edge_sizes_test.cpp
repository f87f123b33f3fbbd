// Sizes at which a layout may be confused with another one, or loops run once: a batch as large as the state, a batch
// of one, one slot, one head, one step. Each sample of a batch equals that sample alone, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <retrace/models/networks/relational_rnn.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

constexpr std::int64_t features = 5;

/// A layer as a function of x [B, T, features], batch first in all that it gives.
struct Layer {
  std::string name;
  std::function<Tensors(const Tensor& x)> run;
};

struct LayerSizes {
  std::int64_t hidden = 4;
  std::int64_t slots = 3;
  int heads = 2;
};

/// A memory that takes in x[:, t], step by step, from its rows of the identity.
template <class Memory> Layer stepped(const char* name, const Memory& memory, std::int64_t slots, std::int64_t size) {
  return {name, [=, memory = std::make_shared<Memory>(clone(memory))](const Tensor& x) {
            Tensor now = broadcast_to(eye(slots, size, x.dtype()), {x.dim(0), slots, size});
            Tensor weights;
            for (std::int64_t t = 0; t < x.dim(1); ++t) {
              const auto step = (*memory)(now, at_step(x, t));
              now = step.memory, weights = step.weights;
            }
            return Tensors{now, weights};
          }};
}

std::vector<Layer> memories(const LayerSizes& n, Random& random) {
  const std::int64_t size = n.hidden;
  const RelationalMemoryCoreOptions core{.slots = n.slots, .head_size = size / n.heads, .heads = n.heads};
  return {stepped("RelationalMemory",
                  RelationalMemory(features, random, {.slots = n.slots, .slot_size = size, .heads = n.heads}), n.slots,
                  size),
          stepped("CellMemory", CellMemory(features, random, {.slots = n.slots, .slot_size = size, .heads = n.heads}),
                  n.slots, size),
          stepped("RelationalMemoryCore", RelationalMemoryCore(features, random, core), n.slots, size)};
}

std::vector<Layer> layers(const LayerSizes& n, Random& random) {
  std::vector<Layer> result = memories(n, random);
  result.push_back({"Lstm", [lstm = std::make_shared<Lstm>(features, n.hidden, random)](const Tensor& x) {
                      const LstmResult run = (*lstm)(x);
                      return Tensors{run.y, run.state.h, run.state.c};
                    }});
  result.push_back({"Gru", [gru = std::make_shared<Gru>(features, n.hidden, random)](const Tensor& x) {
                      const GruResult run = (*gru)(x);
                      return Tensors{run.y, run.h};
                    }});
  result.push_back({"Rnn", [rnn = std::make_shared<Rnn>(features, n.hidden, random)](const Tensor& x) {
                      const RnnResult run = (*rnn)(x);
                      return Tensors{run.y, run.h};
                    }});
  const auto network = std::make_shared<RelationalRNN>(
      RelationalRNN(features, n.hidden, 2, random, {.slots = n.slots, .slot_size = n.hidden, .heads = n.heads}));
  result.push_back({"RelationalRNN", [network](const Tensor& x) {
                      const RelationalResult run = (*network)(x);
                      return Tensors{run.y, network->last(x).y, run.state.lstm.h, run.state.lstm.c, run.state.memory};
                    }});
  const auto project = std::make_shared<Linear>(features, n.hidden, random);
  const auto mha = std::make_shared<MultiHeadAttention>(n.hidden, random, MultiHeadAttentionOptions{.heads = n.heads});
  result.push_back({"MultiHeadAttention", [project, mha](const Tensor& x) {
                      const AttentionResult run = (*mha)((*project)(x), causal_mask(x.dim(1), x.dtype()));
                      return Tensors{run.y, run.weights};
                    }});
  return result;
}

/// Every result of the batch, cut into samples, is what each sample gives alone.
void expect_one_by_one(const Layer& layer, const Tensor& x, const std::string& what) {
  const Tensors together = layer.run(x);
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    const Tensors alone = layer.run(slice(x, {range(b, b + 1)}));
    for (std::size_t k = 0; k < together.size(); ++k) {
      ASSERT_EQ(together[k].dim(0), x.dim(0)) << layer.name << ", result " << k << ", " << what;
      EXPECT_TRUE(same_bits(slice(together[k], {range(b, b + 1)}), alone[k]))
          << layer.name << ", result " << k << ", sample " << b << ", " << what;
    }
  }
}

/// Batch and time as large as the state, as the features, as each other; one slot, one head, one step, one feature.
const std::vector<LayerSizes> all_sizes{{}, {.slots = 1}, {.heads = 1}, {.slots = 1, .heads = 1}, {.hidden = 2}};

TEST(EdgeSizes, ASampleOfABatchIsThatSampleAloneBitForBit) {
  for (const Dtype dtype : {f32, f64}) {
    const DtypeScope scope(dtype);
    Random random(1);
    for (const LayerSizes& n : all_sizes)
      for (const Layer& layer : layers(n, random))
        for (const auto& [batch, time] :
             {std::pair{n.hidden, std::int64_t{3}}, {1, 3}, {features, features}, {4, 1}, {7, 4}})
          expect_one_by_one(layer, random.normal({batch, time, features}), text("batch ", batch, ", time ", time));
  }
}

/// Wide enough for blocked products and vector loops, with tails.
TEST(EdgeSizes, SoItIsAtSizesOfRealModels) {
  for (const Dtype dtype : {f32, f64}) {
    const DtypeScope scope(dtype);
    Random random(2);
    for (const Layer& layer : layers({.hidden = 72, .slots = 6, .heads = 4}, random))
      expect_one_by_one(layer, random.normal({9, 3, features}), "72 hidden");
  }
}

/// The gradient with respect to one sample's input does not depend on the other samples either.
TEST(EdgeSizes, GradientsOfASampleAreThoseOfThatSampleAlone) {
  const DtypeScope scope(f64);
  Random random(3);
  for (const Layer& layer : layers({}, random)) {
    const Tensor x = random.normal({4, 3, features}), u = random.normal(layer.run(x)[0].shape());
    const auto gradient = [&](const SliceIndex& samples) {
      const Tensor input = slice(x, {samples}).clone().watch();
      Tape tape;
      tape.backward({layer.run(input)[0]}, {slice(u, {samples})});
      return input.grad();
    };
    const Tensor together = gradient(all);
    for (std::int64_t b = 0; b < 4; ++b)
      EXPECT_TRUE(same_bits(slice(together, {range(b, b + 1)}), gradient(range(b, b + 1)))) << layer.name << ", " << b;
  }
}

TEST(EdgeSizes, GradientsAreRightWhereAnAxisHasLengthOne) {
  const DtypeScope scope(f64);
  Random random(4);
  for (const LayerSizes& n : {LayerSizes{.slots = 1, .heads = 1}, LayerSizes{.hidden = 1, .slots = 1, .heads = 1}})
    for (const Layer& layer : layers(n, random)) {
      const auto f = [&](const Tensor& x) { return layer.run(x)[0]; };
      const GradcheckResult result = gradcheck(f, random.normal({1, 1, features}));
      EXPECT_TRUE(result.passed()) << layer.name << ", hidden " << n.hidden << ": " << result;
    }
}

TEST(EdgeSizes, AttentionToASingleKeyReturnsItsValue) {
  Random random(5);
  const Tensor q = random.normal({2, 3, 4}), k = random.normal({2, 1, 4}), v = random.normal({2, 1, 6});
  for (const int heads : {1, 2}) {
    const AttentionResult result = attention_with_weights(q, k, v, {.heads = heads});
    EXPECT_EQ(min(result.weights).item(), 1);
    EXPECT_TRUE(same_bits(result.y, broadcast_to(v, {2, 3, 6})));
  }
}

/// A transposed state has the right number of elements, and the right shape if the batch is as large as the state. It
/// is then read with the batch first, as always.
TEST(EdgeSizes, ABatchAsLargeAsTheStateIsNotTransposed) {
  const DtypeScope scope(f64);
  Random random(6);
  const LstmCell cell(4, 4, random);
  const Tensor x = random.normal({4, 4}), h = random.normal({4, 4}), c = random.normal({4, 4});
  const LstmState whole = cell(x, {h, c});
  for (std::int64_t b = 0; b < 4; ++b) {
    const SliceIndex sample = range(b, b + 1);
    const LstmState alone = cell(slice(x, {sample}), {slice(h, {sample}), slice(c, {sample})});
    EXPECT_TRUE(same_bits(slice(whole.h, {sample}), alone.h) && same_bits(slice(whole.c, {sample}), alone.c));
  }
}

}  // namespace
}  // namespace retrace
