// Functions based on visit(): names, order, clones, conversions, freezing.
#include <retrace/nn/module/module.h>

#include <gtest/gtest.h>

#include <retrace/tests/nn/module/module_test.h>

namespace retrace {
namespace {

/// Nested lists, with an empty optional.
struct Grid {
  std::array<std::vector<std::optional<Parameter>>, 2> rows;
  Grid() {
    for (auto& row : rows)
      for (int k = 0; k < 2; ++k) row.emplace_back(Parameter(zeros({1})));
    rows[0][0].reset();
  }
  void visit(auto&& see) const { see("rows", rows); }
};

TEST(Module, NamesItsParametersInTheOrderOfVisit) {
  Random random(1);
  const Net net(random);
  EXPECT_EQ(parameter_names_of(net),
            (std::vector<std::string>{"first", "blocks.0.inner.weight", "blocks.0.inner.bias", "blocks.1.inner.weight",
                                      "blocks.1.inner.bias", "blocks.1.gain", "pair.0.weight", "pair.0.bias",
                                      "pair.1.weight", "pair.1.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(parameters(net)[5].tensor.values<float>().data(), net.blocks[1].gain->values<float>().data());
  EXPECT_EQ(count_parameters(net), 6 + 2 * (4 + 2) + 2 + (4 + 1) + (1 + 1) + 2 * 5);
  EXPECT_EQ(parameter_names_of(Linear(3, 2, random, {.bias = false})), (std::vector<std::string>{"weight"}));
  EXPECT_EQ(parameter_names_of(Grid()), (std::vector<std::string>{"rows.0.1", "rows.1.0", "rows.1.1"}));
}

TEST(Module, ACloneIsEqualAndSharesNothing) {
  Random random(2);
  const Net net(random);
  const Net copy = clone(net);
  EXPECT_EQ(parameter_names_of(copy), parameter_names_of(net));
  EXPECT_EQ(all_bits(copy), all_bits(net));
  const auto before = all_bits(net);
  for (const NamedTensor& parameter : parameters(copy)) {
    EXPECT_TRUE(parameter.tensor.wants_gradient()) << parameter.name;
    for (float& value : parameter.tensor.mutable_values<float>()) value += 1;
    Tape tape;
    tape.backward(sum(parameter.tensor));
  }
  EXPECT_EQ(all_bits(net), before);
  for (const NamedTensor& parameter : parameters(net)) EXPECT_FALSE(parameter.tensor.has_grad()) << parameter.name;
}

/// The lists of parameters that can be cloned.
struct Lists {
  std::vector<Parameter> plain;
  std::array<std::optional<Parameter>, 2> pair;
  Lists() {
    plain.emplace_back(tensor({1.0}));
    pair[1].emplace(tensor({2.0}));
  }
  void visit(auto&& see) const { see("plain", plain), see("pair", pair); }
};

TEST(Module, AModuleOfListsOfParametersCanBeCloned) {
  const Lists lists;
  const Lists copy = clone(lists);
  EXPECT_EQ(parameter_names_of(copy), (std::vector<std::string>{"plain.0", "pair.1"}));
  EXPECT_EQ(all_bits(copy), all_bits(lists));
  EXPECT_NE(copy.plain[0].values<float>().data(), lists.plain[0].values<float>().data());
}

TEST(Module, WhatIsFrozenIsFrozenInAClone) {
  Random random(4);
  const Block block(random);
  freeze(block.inner);
  block.inner.bias->watch();
  const Block copy = clone(block);
  EXPECT_FALSE(copy.inner.weight.wants_gradient());
  EXPECT_TRUE(copy.inner.bias->wants_gradient());
  unfreeze(copy);
  EXPECT_TRUE(copy.inner.weight.wants_gradient());
  EXPECT_FALSE(block.inner.weight.wants_gradient());
}

TEST(Module, ACopiedParameterIsItsOwnLeaf) {
  const Parameter weight(tensor({1.0, 2.0}));
  Tape tape;
  const Parameter copy(weight);
  EXPECT_EQ(tape.size(), 0);
  copy.mutable_values<float>()[0] = 9;
  EXPECT_EQ(weight.at({0}), 1);
  tape.backward(sum(copy * weight));
  EXPECT_EQ(copy.grad().at({0}), 1);
  EXPECT_EQ(weight.grad().at({0}), 9);
}

TEST(Module, ConvertsToDoublesAndBackWithoutLosingABit) {
  Random random(3);
  const Linear layer(3, 2, random);
  const Tensor x = random.normal({4, 3}), before = layer(x);
  const auto bits = all_bits(layer);
  {
    Tape tape;
    tape.backward(sum(layer(x)));
  }
  to(layer, f64);
  for (const NamedTensor& parameter : parameters(layer)) {
    EXPECT_EQ(parameter.tensor.dtype(), f64);
    EXPECT_FALSE(parameter.tensor.has_grad()) << "the gradient of another dtype";
    EXPECT_TRUE(parameter.tensor.wants_gradient());
  }
  const Tensor in_doubles = layer(x.to(f64));
  for (std::size_t k = 0; k < 8; ++k)
    EXPECT_NEAR(in_doubles.values<double>()[k], static_cast<double>(before.values<float>()[k]), 1e-6);
  to(layer, f32);
  EXPECT_EQ(all_bits(layer), bits);
  EXPECT_EQ(bits_of(layer(x)), bits_of(before));
}

TEST(Module, AFrozenParameterGetsNoGradient) {
  Random random(4);
  const Linear frozen(2, 3, random), free(3, 1, random);
  const Tensor x = random.normal({5, 2}), u = random.normal({5, 1});
  const auto backward = [&] {
    Tape tape;
    tape.backward({free(tanh(frozen(x)))}, {u});
  };
  freeze(frozen);
  backward();
  EXPECT_FALSE(frozen.weight.has_grad() || frozen.bias->has_grad());
  EXPECT_TRUE(free.weight.has_grad() && free.bias->has_grad());
  unfreeze(frozen);
  backward();
  EXPECT_TRUE(frozen.weight.has_grad() && frozen.bias->has_grad());
  zero_grad(frozen);
  EXPECT_FALSE(frozen.weight.has_grad() || frozen.bias->has_grad());
}

}  // namespace
}  // namespace retrace
