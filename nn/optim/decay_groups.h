// Weight decay for matrices alone: biases, the gains of norms and, unless asked for, embeddings are left out of it, as
// is usual for Transformers (Loshchilov and Hutter, 2019; Radford et al., GPT-2).
//
//   AdamW adam(decay_groups(model, AdamOptions{.lr = 3e-4, .weight_decay = 0.1}));
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/positions.h>
#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// Which parameters of rank 2 or more decay: those of Embedding and LearnedPositions only with `embeddings`, and none
/// whose name contains one of the strings of `except` ("memory.initial").
struct DecayRule {
  bool embeddings = false;
  std::vector<std::string> except = {};
};

/// The parameters of a module, in the order of visit(): those that decay, and the others.
struct DecaySplit {
  std::vector<NamedTensor> decayed;
  std::vector<NamedTensor> others;
};

namespace detail {

// Visits the parameters as visit_member does, and sorts them by what holds them.
struct DecaySplitter {
  const DecayRule& rule;
  DecaySplit split = {};

  template <class Member> void operator()(const Path& path, const Member& member, bool decays) {
    if constexpr (std::is_base_of_v<Tensor, Member>) {
      if (member.defined()) add({path.text(), member}, path.name, decays);
    } else if constexpr (IsModule<Member>) {
      const bool inner_decay = decays && decays_in<Member>();
      member.visit([&](std::string_view name, const auto& inner) { (*this)(Path{&path, name}, inner, inner_decay); });
    } else if constexpr (IsList<Member>) {
      std::int64_t index = 0;
      for (const auto& element : member) (*this)(Path{&path, {}, index++}, element, decays);
    } else {
      if (member) (*this)(path, *member, decays);
    }
  }

 private:
  // The gains of a norm over several axes are matrices in shape alone.
  template <class M> bool decays_in() const {
    if constexpr (std::is_same_v<M, Embedding> || std::is_same_v<M, LearnedPositions>) return rule.embeddings;
    return !std::is_same_v<M, LayerNorm> && !std::is_same_v<M, RmsNorm>;
  }
  void add(NamedTensor parameter, std::string_view own_name, bool decays) {
    const bool is_bias = own_name.starts_with("bias") || own_name.ends_with("_bias");
    const bool excepted = std::ranges::any_of(
        rule.except, [&](const std::string& part) { return parameter.name.find(part) != std::string::npos; });
    const bool decayed = decays && parameter.tensor.rank() >= 2 && !is_bias && !excepted;
    (decayed ? split.decayed : split.others).push_back(std::move(parameter));
  }
};

}  // namespace detail

/// Splits the parameters of a module: of rank 2 or more, and neither of a norm, a bias nor what the rule leaves out;
/// and the others.
template <Module M> DecaySplit split_for_decay(const M& module, const DecayRule& rule = {}) {
  detail::DecaySplitter splitter{rule};
  splitter(Path{}, module, true);
  return std::move(splitter.split);
}

/// Two groups for an optimiser: the parameters that decay, with the options as given, and the others with weight_decay
/// 0. See split_for_decay.
template <Module M, class Options>
std::vector<ParameterGroup<Options>> decay_groups(const M& module, const Options& options, const DecayRule& rule = {}) {
  DecaySplit split = split_for_decay(module, rule);
  Options without = options;
  without.weight_decay = 0;
  return {{std::move(split.decayed), options}, {std::move(split.others), without}};
}

}  // namespace retrace
