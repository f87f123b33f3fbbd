// A module with every kind of member that visit() can name, and comparisons of its parameters.
#pragma once

#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>

namespace retrace {

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

inline std::vector<std::string> parameter_names_of(const auto& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(module)) names.push_back(parameter.name);
  return names;
}

inline std::vector<std::uint32_t> bits_of(const Tensor& x) {
  std::vector<std::uint32_t> bits;
  for (const float value : x.values<float>()) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

inline std::vector<std::vector<std::uint32_t>> all_bits(const auto& module) {
  std::vector<std::vector<std::uint32_t>> bits;
  for (const NamedTensor& parameter : parameters(module)) bits.push_back(bits_of(parameter.tensor));
  return bits;
}

}  // namespace retrace
