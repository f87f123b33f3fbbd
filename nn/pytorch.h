// Weights from PyTorch and for it: a state_dict as a safetensors file, by PyTorch's names and in its layouts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/nn/gru.h>
#include <retrace/nn/lstm.h>
#include <retrace/nn/module.h>
#include <retrace/nn/multi_head_attention.h>
#include <retrace/nn/rnn.h>

namespace retrace {

/// A tensor of a state_dict, and where its values are here: in the rows of these parameters, one parameter under the
/// other. An addend is one that is added to its only parameter: loaded after what is not one, and saved as zeros.
struct PytorchEntry {
  std::string name;
  Tensors rows;
  bool addend = false;
};
using PytorchEntries = std::vector<PytorchEntry>;

/// How the state_dict of one layer is made, where it is not by our names and shapes. Module by module:
///   here                                      torch.nn
///   Linear, LayerNorm, Embedding, GruCell     Linear, LayerNorm, Embedding, GRUCell: the same
///   Gru                                       GRU: names end in _l0
///   Lstm, Rnn                                 LSTM, RNN: names end in _l0; bias = bias_ih_l0 + bias_hh_l0
///   LstmCell, RnnCell                         LSTMCell, RNNCell: bias = bias_ih + bias_hh
///   MultiHeadAttention                        MultiheadAttention: in_proj_weight = [query; key; value].weight,
///                                             in_proj_bias likewise, out_proj = out
/// A GRU, LSTM or RNN has one layer, one direction and biases; batch_first changes no weight. A module of your own gets
/// names of its own from such a function in its namespace, which names all of its parameters.
PytorchEntries pytorch_layout(const Gru& module);
PytorchEntries pytorch_layout(const Lstm& module);
PytorchEntries pytorch_layout(const LstmCell& module);
PytorchEntries pytorch_layout(const Rnn& module);
PytorchEntries pytorch_layout(const RnnCell& module);
PytorchEntries pytorch_layout(const MultiHeadAttention& module);

namespace detail {

/// Throws ValueError unless the entries hold that many weights.
void check_complete(const PytorchEntries& entries, std::int64_t weights);

// As visit_member goes, but whole at the modules that have a layout.
template <class Member> void add_pytorch_entries(const Path& path, const Member& member, PytorchEntries& entries) {
  if constexpr (requires { pytorch_layout(member); }) {
    for (PytorchEntry& entry : pytorch_layout(member))
      entries.push_back({Path{&path, entry.name}.text(), std::move(entry.rows), entry.addend});
  } else if constexpr (std::is_base_of_v<Tensor, Member>) {
    if (member.defined()) entries.push_back({path.text(), {member}});
  } else if constexpr (IsModule<Member>) {
    member.visit([&](std::string_view name, const auto& inner) {
      add_pytorch_entries(Path{&path, name}, inner, entries);
    });
  } else if constexpr (IsList<Member>) {
    std::int64_t index = 0;
    for (const auto& element : member) add_pytorch_entries(Path{&path, {}, index++}, element, entries);
  } else {
    if (member) add_pytorch_entries(path, *member, entries);  // an optional or a pointer
  }
}

}  // namespace detail

/// The state_dict of any module, with prefixes as PyTorch gives them: "encoder.lstm.weight_ih_l0", "blocks.0.bias".
/// Throws ValueError where a pytorch_layout left a parameter out.
template <Module M> PytorchEntries pytorch_entries(const M& module) {
  PytorchEntries entries;
  detail::add_pytorch_entries(Path{}, module, entries);
  detail::check_complete(entries, count_parameters(module));
  return entries;
}

/// A file that PyTorch's load_state_dict(strict=True) takes, once safetensors has read it; written whole or not at all.
/// Throws FileError, and ValueError for two tensors of one name.
void save_pytorch(const std::string& path, const PytorchEntries& entries);
template <Module M> void save_pytorch(const std::string& path, const M& module) {
  save_pytorch(path, pytorch_entries(module));
}

/// The values of a state_dict that was saved as safetensors, converted to the dtypes here. Missing, unexpected and
/// mis-shaped tensors are listed all at once, by PyTorch's names and shapes, in a ValueError, and nothing is changed
/// then. Throws FileError for a file that cannot be read.
void load_pytorch(const std::string& path, const PytorchEntries& entries);
template <Module M> void load_pytorch(const std::string& path, const M& module) {
  load_pytorch(path, pytorch_entries(module));
}

}  // namespace retrace
