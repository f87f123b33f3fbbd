// Reading and writing the values of modules by name: files, assignment, hashes.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>

#include <retrace/core/files/safetensors.h>
#include <retrace/tests/nn/module/module_test.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

TEST(Module, SaveAndLoadAreBitExact) {
  const TemporaryFolder own;
  const std::string file = own / "exact.safetensors";
  Random random(5);
  const Net net(random), other(random);
  const auto odd = net.pair[0].weight.mutable_values<float>();
  odd[0] = -0.0f, odd[1] = std::numeric_limits<float>::denorm_min();
  odd[2] = std::bit_cast<float>(0x7FC12345u), odd[3] = -std::numeric_limits<float>::infinity();
  ASSERT_NE(all_bits(other), all_bits(net));
  save(file, net);
  load(file, other);
  EXPECT_EQ(all_bits(other), all_bits(net));
}

TEST(Module, LoadListsAllThatDoesNotFitAndChangesNothing) {
  const TemporaryFolder own;
  const std::string file = own / "misfits.safetensors";
  Random random(6);
  const Net net(random);
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& parameter : parameters(net)) tensors[parameter.name] = zeros_like(parameter.tensor);
  tensors.erase("first"), tensors.erase("pair.1.bias");
  tensors["norm.bias"] = zeros({6}), tensors["blocks.0.inner.weight"] = zeros({4});
  tensors["extra"] = zeros({2, 1}), tensors["pair.2"] = zeros({});
  write_safetensors(file, tensors);
  const auto before = all_bits(net);
  expect_error<ValueError>([&] { load(file, net); },
                           text("load: ", file,
                                ": the values do not fit the module, and nothing was changed:"
                                "\n  missing: first [3, 2]"
                                "\n  mis-shaped: blocks.0.inner.weight is [4], the module has [2, 2]"
                                "\n  missing: pair.1.bias [1]"
                                "\n  mis-shaped: norm.bias is [6], the module has [5]"
                                "\n  unexpected: extra [2, 1]"
                                "\n  unexpected: pair.2 []"));
  EXPECT_EQ(all_bits(net), before);
  EXPECT_THROW(load(file + ".nowhere", net), FileError);
}

TEST(Module, ControlCodesInTheNamesOfAFileAreShownNotSent) {
  const TemporaryFolder own;
  const std::string file = own / "names.safetensors";
  write_safetensors(file, {{"\x1b[2J", ones({1})}});
  const Parameter w(tensor({1.0}));
  expect_error<ValueError>(
      [&] {
        load(file, std::vector<NamedTensor>{{"w", w}});
      },
      text("load: ", file,
           ": the values do not fit the module, and nothing was changed:"
           "\n  missing: w [1]"
           "\n  unexpected: \\x1b[2J [1]"));
}

/// Two parameters of the same name cannot both be in the file, so save throws instead of losing one.
TEST(Module, SaveRefusesANameThatComesTwice) {
  const TemporaryFolder own;
  const std::string file = own / "twice.safetensors";
  expect_error<ValueError>(
      [&] {
        save(file, std::vector<NamedTensor>{{"w", ones({1})}, {"b", ones({1})}, {"w", zeros({2, 3})}});
      },
      "save: two parameters are named 'w', [1] and [2, 3]; let visit give each member a name of its own");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Module, AssignRefusesANameThatComesTwiceAndChangesNothing) {
  const Parameter w(tensor({1.0}));
  expect_error<ValueError>(
      [&] {
        assign({{"w", w}}, {{"w", tensor({2.0})}, {"w", tensor({3.0})}}, "assign");
      },
      "assign: two values are named 'w', [1] and [1]; give one value per parameter");
  EXPECT_EQ(w.at({0}), 1);
}

TEST(Module, AssignConvertsAndTheNextRunUsesTheNewValues) {
  Random random(7);
  const Linear layer(2, 1, random);
  const Tensor x = tensor({{1, 10}});
  layer(x);  // anything that a run derived from the old weights must not be reused
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
