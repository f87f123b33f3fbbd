// Exchange of weights with PyTorch, of layers of several cells, Transformers and Sequential, as in pytorch_test.cpp.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <retrace/core/files/safetensors.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/nn/pytorch/example.h>
#include <retrace/tests/nn/pytorch/stacks.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

const std::string stacks_file = pytorch_folder() + "stacks.safetensors";

PytorchStacks loaded(Dtype dtype) {
  Random random(1);
  PytorchStacks stacks(random);
  to(stacks, dtype);
  load_pytorch(stacks_file, stacks);
  return stacks;
}

TEST(PytorchStacks, AStateDictGivesTheOutputsOfPytorch) {
  for (const Dtype dtype : {f32, f64})
    expect_outputs_of_pytorch(loaded(dtype), "stacks_example.safetensors", dtype, 23);
}

/// Of two biases that are added, the first holds the sum and the second is zero.
void add_biases_of(NamedTensors& tensors, const std::string& layer) {
  for (auto& [name, tensor] : tensors) {
    if (!name.starts_with(layer + ".bias_hh")) continue;
    std::string first = name;
    first.replace(first.find("bias_hh"), 7, "bias_ih");
    tensors.at(first) = tensors.at(first) + tensor;
    tensor = full_like(tensor, -0.0);
  }
}

TEST(PytorchStacks, WhatIsWrittenHasTheNamesShapesAndValuesOfPytorch) {
  const TemporaryFolder own;
  const char* kept = std::getenv("RETRACE_PYTORCH_FILES");
  for (const Dtype dtype : {f32, f64}) {
    const std::string path = kept == nullptr ? own / "ours.safetensors" : text(kept, "stacks_", dtype, ".safetensors");
    save_pytorch(path, loaded(dtype));
    NamedTensors ours = read_safetensors(path).tensors, theirs = read_safetensors(stacks_file).tensors;
    for (auto& [name, tensor] : theirs) tensor = tensor.to(dtype);
    for (const char* layer : {"lstm", "rnn", "relu_rnn"}) add_biases_of(theirs, layer);
    EXPECT_EQ(ours.size(), theirs.size());
    for (const auto& [name, tensor] : theirs) {
      ASSERT_TRUE(ours.contains(name)) << name;
      EXPECT_TRUE(same_bits(ours.at(name), tensor)) << name;
    }
    Random random(3);
    const PytorchStacks other(random);
    to(other, dtype);
    load_pytorch(path, other);
    EXPECT_EQ(weights_hash(other), weights_hash(loaded(dtype))) << "read back to the same bits";
  }
}

}  // namespace
}  // namespace retrace
