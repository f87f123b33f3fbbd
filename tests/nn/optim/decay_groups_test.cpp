// Which parameters decay.
#include <retrace/nn/optim/decay_groups.h>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

using Names = std::vector<std::string>;
Names names_of(const std::vector<NamedTensor>& list) {
  Names names;
  for (const NamedTensor& parameter : list) names.push_back(parameter.name);
  return names;
}

TEST(DecayGroups, OfAnLstmTheMatricesDecay) {
  Random random(1);
  const DecaySplit split = split_for_decay(Lstm(3, 4, random));
  EXPECT_EQ(names_of(split.decayed), (Names{"weight_ih", "weight_hh"}));
  EXPECT_EQ(names_of(split.others), (Names{"bias"}));
}

TEST(DecayGroups, OfANormNothingDecaysWhateverItsShape) {
  EXPECT_EQ(names_of(split_for_decay(LayerNorm(4)).others), (Names{"weight", "bias"}));
  const LayerNorm of_matrices(Shape{3, 4}, {.axes = 2});
  EXPECT_EQ(names_of(split_for_decay(of_matrices).others), (Names{"weight", "bias"}));
  EXPECT_EQ(names_of(split_for_decay(RmsNorm(4)).others), (Names{"weight"}));
}

TEST(DecayGroups, OfAMemoryCoreEveryWeightIsInOneGroup) {
  Random random(2);
  const RelationalMemoryCore core(4, random, {.slots = 2, .head_size = 3, .heads = 2});
  const DecaySplit split = split_for_decay(core);
  EXPECT_EQ(split.decayed.size() + split.others.size(), parameters(core).size());
  for (const NamedTensor& parameter : split.decayed) {
    EXPECT_EQ(parameter.tensor.rank(), 2) << parameter.name;
    EXPECT_EQ(parameter.name.find("bias"), std::string::npos) << parameter.name;
    EXPECT_EQ(parameter.name.find("norm"), std::string::npos) << parameter.name;
  }
  for (const NamedTensor& parameter : split.others)
    EXPECT_TRUE(parameter.name.ends_with("bias") || parameter.name.find("norm") != std::string::npos) << parameter.name;
}

struct DecayedTagger {
  Embedding embed;
  LearnedPositions positions;
  std::vector<Linear> layers;
  std::optional<LayerNorm> norm;
  explicit DecayedTagger(Random& random) : embed(9, 4, random), positions(5, 4, random), norm(4) {
    layers.emplace_back(4, 4, random);
    layers.emplace_back(4, 2, random, BiasOptions{.bias = false});
  }
  void visit(auto&& see) const {
    see("embed", embed), see("positions", positions), see("layers", layers), see("norm", norm);
  }
};

TEST(DecayGroups, EmbeddingsDecayWhereAskedForAndExceptionsNever) {
  Random random(3);
  const DecayedTagger tagger(random);
  const DecaySplit plain = split_for_decay(tagger);
  EXPECT_EQ(names_of(plain.decayed), (Names{"layers.0.weight", "layers.1.weight"}));
  EXPECT_EQ(names_of(plain.others),
            (Names{"embed.weight", "positions.weight", "layers.0.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(names_of(split_for_decay(tagger, {.embeddings = true, .except = {"layers.1", "pos"}}).decayed),
            (Names{"embed.weight", "layers.0.weight"}));
}

/// A module of one's own may have biases of any rank, and gains outside of a norm.
struct OddShapes {
  Parameter weight{ones({2, 2})}, bias{ones({2, 2})}, bias_of_rows{ones({2, 2})}, gate_bias{ones({2, 2})},
      gain{ones({2})};
  Parameter unbiased{ones({2, 2})};
  void visit(auto&& see) const {
    see("weight", weight), see("bias", bias), see("bias_of_rows", bias_of_rows), see("gate_bias", gate_bias);
    see("gain", gain), see("unbiased", unbiased);
  }
};

TEST(DecayGroups, BiasesOfAnyRankAndGainsDoNotDecay) {
  const DecaySplit split = split_for_decay(OddShapes());
  EXPECT_EQ(names_of(split.decayed), (Names{"weight", "unbiased"}));
  EXPECT_EQ(names_of(split.others), (Names{"bias", "bias_of_rows", "gate_bias", "gain"}));
}

TEST(DecayGroups, AStepDecaysTheFirstGroupAlone) {
  Random random(4);
  const Linear model(2, 2, random);
  model.bias->mutable_values<float>()[0] = 1;
  const float before = model.weight.values<float>()[3];
  AdamW adam(decay_groups(model, AdamOptions{.lr = 0.5, .weight_decay = 0.5}));
  EXPECT_EQ(adam.groups(), 2U);
  Tape tape;
  tape.backward(sum(0 * model(ones({1, 2}))));
  adam.step();
  EXPECT_FLOAT_EQ(model.weight.values<float>()[3], 0.75F * before);
  EXPECT_EQ(model.bias->at({0}), 1);
}

}  // namespace
}  // namespace retrace
