// Exchange of weights with PyTorch. The results of PyTorch are in tests/nn/pytorch, made by make_example.py. Where
// python3 has torch, live_test.py runs these tests on new weights, and lets PyTorch read the files written here.
#include <retrace/nn/files/pytorch.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/files/safetensors.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/json.h>
#include <retrace/tests/nn/pytorch/example.h>
#include <retrace/tests/nn/pytorch/layers.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

const std::string pytorch_files = pytorch_folder();

TEST(Pytorch, AStateDictGivesTheOutputsOfPytorchInFloats) {
  Random random(1);
  const PytorchLayers layers(random);
  load_pytorch(pytorch_files + "state_dict.safetensors", layers);
  expect_outputs_of_pytorch(layers, "example.safetensors", f32, 15);
}

TEST(Pytorch, AStateDictGivesTheOutputsOfPytorchInDoubles) {
  Random random(1);
  const PytorchLayers layers(random);
  to(layers, f64);
  load_pytorch(pytorch_files + "state_dict.safetensors", layers);
  expect_outputs_of_pytorch(layers, "example.safetensors", f64, 15);
}

/// As published models have them: a state_dict in BF16 is its upper halves.
TEST(Pytorch, AStateDictOfHalvesIsRead) {
  const TemporaryFolder own;
  const std::string path = own / "halves.safetensors";
  const std::string f32_bytes = file_bytes(pytorch_files + "state_dict.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, f32_bytes.data(), sizeof length);
  const Json header = Json::parse(f32_bytes.substr(sizeof length, length));
  Json halved;
  std::string data;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    ASSERT_EQ(entry.at("dtype"), "F32");
    const auto offsets = entry["data_offsets"].get<std::vector<std::size_t>>();
    const std::size_t begin = data.size();
    for (std::size_t place = offsets[0]; place < offsets[1]; place += 4)
      data += f32_bytes.substr(sizeof length + length + place + 2, 2);
    halved[name]["dtype"] = "BF16";
    halved[name]["shape"] = entry["shape"];
    halved[name]["data_offsets"] = std::vector{begin, data.size()};
  }
  const std::string text = halved.dump();
  length = text.size();
  std::ofstream(path, std::ios::binary) << std::string(reinterpret_cast<const char*>(&length), sizeof length) << text
                                        << data;
  Random random(1), other(1);
  const PytorchLayers whole(random), halves(other);
  load_pytorch(pytorch_files + "state_dict.safetensors", whole);
  load_pytorch(path, halves);
  const std::vector<NamedTensor> expected = parameters(whole), read = parameters(halves);
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_LE(max(abs(read[k].tensor - expected[k].tensor)).item(), 0x1p-7 * max(abs(expected[k].tensor)).item() * 2)
        << expected[k].name;
}

/// As large models are published: in several files, with an index.
TEST(Pytorch, AStateDictInSeveralFilesIsRead) {
  const TemporaryFolder own;
  const NamedTensors all = read_safetensors(pytorch_files + "state_dict.safetensors").tensors;
  NamedTensors parts[2];
  Json index;
  int part = 0;
  for (const auto& [name, tensor] : all) {
    part = 1 - part;
    parts[part][name] = tensor;
    index["weight_map"][name] = text("model-", part, ".safetensors");
  }
  for (const int k : {0, 1}) write_safetensors(own / text("model-", k, ".safetensors"), parts[k]);
  const std::string path = own / "model.safetensors.index.json";
  std::ofstream(path) << index.dump();
  Random random(1), other(1);
  const PytorchLayers whole(random), sharded(other);
  load_pytorch(pytorch_files + "state_dict.safetensors", whole);
  load_pytorch(path, sharded);
  EXPECT_EQ(weights_hash(sharded), weights_hash(whole));
}

/// The example's state_dict as save_pytorch writes it: of two biases that are added, the first holds the sum and the
/// second is zero.
NamedTensors state_dict_with_sums(Dtype dtype) {
  NamedTensors tensors = read_safetensors(pytorch_files + "state_dict.safetensors").tensors;
  for (auto& [name, tensor] : tensors) tensor = tensor.to(dtype);
  for (const char* biases : {"encoder.lstm.bias_?h_l0", "rnn.bias_?h_l0", "lstm_cell.bias_?h", "rnn_cell.bias_?h"}) {
    std::string name = biases;
    const std::size_t place = name.find('?');
    name[place] = 'h';
    Tensor& second = tensors.at(name);
    name[place] = 'i';
    tensors[name] = tensors.at(name) + second;
    second = full_like(second, -0.0);
  }
  return tensors;
}

TEST(Pytorch, WhatIsWrittenHasTheNamesShapesAndValuesOfPytorch) {
  const TemporaryFolder own;
  const std::string file = own / "names.safetensors";
  const char* kept = std::getenv("RETRACE_PYTORCH_FILES");
  for (const Dtype dtype : {f32, f64}) {
    Random random(2);
    const PytorchLayers layers(random);
    to(layers, dtype);
    load_pytorch(pytorch_files + "state_dict.safetensors", layers);
    const std::string path = kept == nullptr ? file : text(kept, dtype, ".safetensors");
    save_pytorch(path, layers);
    const NamedTensors ours = read_safetensors(path).tensors, theirs = state_dict_with_sums(dtype);
    EXPECT_EQ(ours.size(), theirs.size());
    for (const auto& [name, tensor] : theirs) {
      ASSERT_TRUE(ours.contains(name)) << name;
      EXPECT_TRUE(same_bits(ours.at(name), tensor)) << name;
    }
  }
}

/// The bits of every number survive, including those of -0, in both dtypes.
TEST(Pytorch, WhatIsWrittenReadsBackToTheSameBits) {
  const TemporaryFolder own;
  const std::string file = own / "bits.safetensors";
  for (const Dtype dtype : {f32, f64}) {
    Random random(3);
    const PytorchLayers layers(random), other(random);
    copy_values(tensor({-0.0, 0.0, 1e-45, -infinity, 1e30}), layers.rnn.cell.bias);
    copy_values(random.normal({6}), *layers.attention.key.bias);
    to(layers, dtype), to(other, dtype);
    ASSERT_NE(weights_hash(other), weights_hash(layers));
    save_pytorch(file, layers);
    EXPECT_EQ(read_safetensors(file).tensors.at("attention.in_proj_weight").dtype(), dtype);
    load_pytorch(file, other);
    EXPECT_EQ(weights_hash(other), weights_hash(layers));
  }
}

TEST(Pytorch, AnyOneLayerIsAStateDictByItself) {
  const TemporaryFolder own;
  const std::string file = own / "layer.safetensors";
  Random random(4);
  save_pytorch(file, Lstm(3, 2, random));
  const NamedTensors tensors = read_safetensors(file).tensors;
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors.at("weight_ih_l0").shape(), (Shape{8, 3}));
  EXPECT_EQ(tensors.at("weight_hh_l0").shape(), (Shape{8, 2}));
  EXPECT_EQ(tensors.at("bias_ih_l0").at({2}), 1) << "the forget gate's";
  EXPECT_EQ(max(abs(tensors.at("bias_hh_l0"))).item(), 0);
}

TEST(Pytorch, LoadingAndSavingLeaveTheTapeAndFrozenWeightsAlone) {
  const TemporaryFolder own;
  const std::string file = own / "tape.safetensors";
  Random random(5);
  const MultiHeadAttention attention(4, random, {.heads = 2, .bias = true});
  freeze(attention.key);
  Tape tape;
  save_pytorch(file, attention);
  load_pytorch(file, attention);
  EXPECT_EQ(tape.size(), 0);
  EXPECT_FALSE(attention.key.weight.wants_gradient());
  EXPECT_TRUE(attention.query.weight.wants_gradient());
}

struct LstmAndAttention {
  Lstm lstm;
  MultiHeadAttention attention;
  explicit LstmAndAttention(Random& random) : lstm(3, 2, random), attention(4, random, {.heads = 2}) {}
  void visit(auto&& see) const { see("lstm", lstm), see("attention", attention); }
};

TEST(Pytorch, LoadOfPytorchsNamesLeadsToLoadPytorch) {
  const TemporaryFolder own;
  const std::string file = own / "of_pytorch.safetensors";
  Random random(6);
  const auto end_of_error = [&](const auto& module) {
    const std::string message = message_of([&] { load(file, module); });
    return message.substr(message.rfind('\n') + 1);
  };
  const std::string remedy = " is a name of PyTorch's: read files of safetensors.torch.save_file with load_pytorch";
  const LstmAndAttention pair(random);
  save_pytorch(file, pair);
  EXPECT_EQ(end_of_error(pair), "attention.in_proj_weight" + remedy);
  const LstmCell cell(3, 2, random);
  save_pytorch(file, cell);
  EXPECT_EQ(end_of_error(cell), "bias_hh" + remedy);

  const GruCell gru(3, 2, random);  // it has two biases here, too
  write_safetensors(file, {{"bias_ih", zeros({6})}, {"bias_hh", zeros({6})}});
  EXPECT_EQ(message_of([&] { load(file, gru); }).find("PyTorch"), std::string::npos);
}

TEST(Pytorch, LoadListsAllThatDoesNotFitAndChangesNothing) {
  const TemporaryFolder own;
  const std::string file = own / "misfits.safetensors";
  Random random(6);
  const LstmAndAttention pair(random);
  write_safetensors(file, {{"lstm.weight_ih_l0", zeros({8, 3})},
                           {"lstm.weight_hh_l0", zeros({8, 3})},
                           {"lstm.bias_ih_l0", zeros({8})},
                           {"lstm.weight_ih_l0_reverse", zeros({8, 3})},
                           {"attention.in_proj_weight", zeros({4, 12})},
                           {"attention.in_proj_bias", zeros({12})},
                           {"attention.out.weight", zeros({4, 4})}});
  const std::string before = weights_hash(pair);
  expect_error<ValueError>([&] { load_pytorch(file, pair); },
                           text("load_pytorch: ", file,
                                ": the values do not fit the module, and nothing was changed:"
                                "\n  mis-shaped: lstm.weight_hh_l0 is [8, 3], the module has [8, 2]"
                                "\n  missing: lstm.bias_hh_l0 [8]"
                                "\n  mis-shaped: attention.in_proj_weight is [4, 12], the module has [12, 4]"
                                "\n  missing: attention.out_proj.weight [4, 4]"
                                "\n  unexpected: attention.in_proj_bias [12]"
                                "\n  unexpected: attention.out.weight [4, 4]"
                                "\n  unexpected: lstm.weight_ih_l0_reverse [8, 3]"));
  EXPECT_EQ(weights_hash(pair), before);
  EXPECT_THROW(load_pytorch(file + ".nowhere", pair), FileError);
}

}  // namespace

namespace own {

/// Two stacked LSTMs, which are one LSTM of two layers in PyTorch.
struct Stack {
  Lstm lower, upper;
  std::optional<Linear> forgotten;
  explicit Stack(Random& random) : lower(3, 2, random), upper(2, 2, random) {}
  void visit(auto&& see) const { see("lower", lower), see("upper", upper), see("forgotten", forgotten); }
};

PytorchEntries pytorch_layout(const Stack& stack) {
  PytorchEntries entries = retrace::pytorch_layout(stack.lower);
  for (PytorchEntry& entry : retrace::pytorch_layout(stack.upper)) {
    entry.name.back() = '1';
    entries.push_back(entry);
  }
  return entries;
}

struct Tower {
  std::vector<Stack> stacks;
  void visit(auto&& see) const { see("stacks", stacks); }
};

TEST(Pytorch, AModuleOfOnesOwnMayHaveALayoutOfItsOwn) {
  const TemporaryFolder own;
  const std::string file = own / "own.safetensors";
  Random random(7);
  Tower tower;
  tower.stacks.emplace_back(random);
  save_pytorch(file, tower);
  const NamedTensors tensors = read_safetensors(file).tensors;
  EXPECT_EQ(tensors.size(), 8U);
  EXPECT_TRUE(same_bits(tensors.at("stacks.0.weight_ih_l1"), tower.stacks[0].upper.cell.weight_ih));
  tower.stacks[0].forgotten.emplace(2, 1, random);
  expect_error<ValueError>([&] { save_pytorch(file, tower); },
                           "pytorch_entries: 88 weights have a place in the state_dict, and the module has 91; let "
                           "pytorch_layout name every parameter of its module once");
}

}  // namespace own
}  // namespace retrace
