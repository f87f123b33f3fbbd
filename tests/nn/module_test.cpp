// What follows from visit(): names, order, clones, conversions, freezing, files, hashes.
#include <retrace/nn/module.h>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/safetensors.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

struct Block {
  Linear inner;
  std::optional<Parameter> gain;
  explicit Block(Random& random) : inner(2, 2, random) {}
  void visit(auto&& see) const { see("inner", inner), see("gain", gain); }
};

struct Net {
  Parameter first;
  std::vector<Block> blocks;
  std::array<Linear, 2> pair;
  std::optional<LayerNorm> absent, norm;
  explicit Net(Random& random) : first(random.normal({3, 2})), pair{Linear(4, 1, random), Linear(1, 1, random)} {
    for (int k = 0; k < 2; ++k) blocks.emplace_back(random);
    blocks[1].gain.emplace(random.normal({2}));
    norm.emplace(5);
  }
  void visit(auto&& see) const {
    see("first", first), see("blocks", blocks), see("pair", pair), see("absent", absent), see("norm", norm);
  }
};

/// Lists of lists, with a place that holds nothing.
struct Grid {
  std::array<std::vector<std::optional<Parameter>>, 2> rows;
  Grid() {
    for (auto& row : rows)
      for (int k = 0; k < 2; ++k) row.emplace_back(Parameter(zeros({1})));
    rows[0][0].reset();
  }
  void visit(auto&& see) const { see("rows", rows); }
};

std::vector<std::string> names_of(const auto& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(module)) names.push_back(parameter.name);
  return names;
}

std::vector<std::uint32_t> bits_of(const Tensor& x) {
  std::vector<std::uint32_t> bits;
  for (const float value : x.values<float>()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::vector<std::vector<std::uint32_t>> all_bits(const auto& module) {
  std::vector<std::vector<std::uint32_t>> bits;
  for (const NamedTensor& parameter : parameters(module)) bits.push_back(bits_of(parameter.tensor));
  return bits;
}

/// A file that is gone when the test ends.
struct TemporaryPath {
  std::string path;
  explicit TemporaryPath(const char* name) : path(testing::TempDir() + "retrace_module_test_" + name) {}
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath() { std::filesystem::remove(path); }
};

TEST(Module, NamesItsParametersInTheOrderOfVisit) {
  Random random(1);
  const Net net(random);
  EXPECT_EQ(names_of(net),
            (std::vector<std::string>{"first", "blocks.0.inner.weight", "blocks.0.inner.bias", "blocks.1.inner.weight",
                                      "blocks.1.inner.bias", "blocks.1.gain", "pair.0.weight", "pair.0.bias",
                                      "pair.1.weight", "pair.1.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(parameters(net)[5].tensor.values<float>().data(), net.blocks[1].gain->values<float>().data());
  EXPECT_EQ(count_parameters(net), 6 + 2 * (4 + 2) + 2 + (4 + 1) + (1 + 1) + 2 * 5);
  EXPECT_EQ(names_of(Linear(3, 2, random, {.bias = false})), (std::vector<std::string>{"weight"}));
  EXPECT_EQ(names_of(Grid()), (std::vector<std::string>{"rows.0.1", "rows.1.0", "rows.1.1"}));
}

TEST(Module, ACloneIsEqualAndSharesNothing) {
  Random random(2);
  const Net net(random);
  const Net copy = clone(net);
  EXPECT_EQ(names_of(copy), names_of(net));
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
  EXPECT_EQ(names_of(copy), (std::vector<std::string>{"plain.0", "pair.1"}));
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

TEST(Module, SaveAndLoadAreBitExact) {
  const TemporaryPath file("exact.safetensors");
  Random random(5);
  const Net net(random), other(random);
  const auto odd = net.pair[0].weight.mutable_values<float>();
  odd[0] = -0.0f, odd[1] = std::numeric_limits<float>::denorm_min();
  odd[2] = std::bit_cast<float>(0x7FC12345u), odd[3] = -std::numeric_limits<float>::infinity();
  ASSERT_NE(all_bits(other), all_bits(net));
  save(file.path, net);
  load(file.path, other);
  EXPECT_EQ(all_bits(other), all_bits(net));
}

TEST(Module, LoadListsAllThatDoesNotFitAndChangesNothing) {
  const TemporaryPath file("misfits.safetensors");
  Random random(6);
  const Net net(random);
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& parameter : parameters(net)) tensors[parameter.name] = zeros_like(parameter.tensor);
  tensors.erase("first"), tensors.erase("pair.1.bias");
  tensors["norm.bias"] = zeros({6}), tensors["blocks.0.inner.weight"] = zeros({4});
  tensors["extra"] = zeros({2, 1}), tensors["pair.2"] = zeros({});
  write_safetensors(file.path, tensors);
  const auto before = all_bits(net);
  expect_error<ValueError>([&] { load(file.path, net); },
                           text("load: ", file.path,
                                ": the values do not fit the module, and nothing was changed:"
                                "\n  missing: first [3, 2]"
                                "\n  mis-shaped: blocks.0.inner.weight is [4], the module has [2, 2]"
                                "\n  missing: pair.1.bias [1]"
                                "\n  mis-shaped: norm.bias is [6], the module has [5]"
                                "\n  unexpected: extra [2, 1]"
                                "\n  unexpected: pair.2 []"));
  EXPECT_EQ(all_bits(net), before);
  EXPECT_THROW(load(file.path + ".nowhere", net), FileError);
}

/// Two parameters of one name cannot both be in the file: what would be lost is refused.
TEST(Module, SaveRefusesANameThatComesTwice) {
  const TemporaryPath file("twice.safetensors");
  expect_error<ValueError>(
      [&] {
        save(file.path, std::vector<NamedTensor>{{"w", ones({1})}, {"b", ones({1})}, {"w", zeros({2, 3})}});
      },
      "save: two parameters are named 'w', [1] and [2, 3]; let visit give each member a name of its own");
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(Module, AssignRefusesANameThatComesTwiceAndChangesNothing) {
  const Parameter w(tensor({1.0}));
  expect_error<ValueError>(
      [&] {
        assign({{"w", w}}, {{"w", tensor({2.0})}, {"w", tensor({3.0})}}, "assign");
      },
      "assign: two values are named 'w', [1] and [1]; give one value a parameter");
  EXPECT_EQ(w.at({0}), 1);
}

TEST(Module, AssignConvertsAndTheNextRunUsesTheNewValues) {
  Random random(7);
  const Linear layer(2, 1, random);
  const Tensor x = tensor({{1, 10}});
  layer(x);  // whatever a run prepares from the old weights must not be used again
  assign(layer, {{"bias", tensor({0.5}, f64)}, {"weight", tensor({{2, 3}}, f64)}});
  EXPECT_EQ(layer.weight.dtype(), f32);
  EXPECT_EQ(layer(x).item(), 32.5);
  EXPECT_THROW(assign(layer, {{"weight", tensor({{0, 0}})}}), ValueError);
  EXPECT_EQ(layer(x).item(), 32.5);
}

TEST(Module, TheHashChangesWithOneBitAndWithAName) {
  const Tensor a = tensor({1.0, 2.0}), b = tensor({3.0});
  const std::string hash = weights_hash(std::vector<NamedTensor>{{"a", a}, {"b", b}});
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(weights_hash(std::vector<NamedTensor>{{"a", a.clone()}, {"b", b.clone()}}), hash);
  EXPECT_NE(weights_hash(std::vector<NamedTensor>{{"a", a}, {"c", b}}), hash);
  EXPECT_NE(weights_hash(std::vector<NamedTensor>{{"a", a}}), hash);
  float& last = b.mutable_values<float>()[0];
  last = std::bit_cast<float>(std::bit_cast<std::uint32_t>(last) ^ 1u);
  EXPECT_NE(weights_hash(std::vector<NamedTensor>{{"a", a}, {"b", b}}), hash);
}

}  // namespace
}  // namespace retrace
