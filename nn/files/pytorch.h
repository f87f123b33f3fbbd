// Exchanges weights with PyTorch: a state_dict as a safetensors file, with PyTorch's names and layouts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/nn/layers/gru.h>
#include <retrace/nn/layers/lstm.h>
#include <retrace/nn/layers/multi_head_attention.h>
#include <retrace/nn/layers/rnn.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// A tensor of a state_dict, and the parameters that hold its values: their rows, concatenated. An addend has a single
/// parameter. Loading adds it to that parameter, after the other entries; saving writes zeros.
struct PytorchEntry {
  std::string name;
  Tensors rows;
  bool addend = false;
};
/// A state_dict, in its order.
using PytorchEntries = std::vector<PytorchEntry>;

/// The layout of the state_dict of a layer whose names or shapes differ from PyTorch's:
///   here                                      torch.nn
///   Linear, LayerNorm, Embedding, GruCell     Linear, LayerNorm, Embedding, GRUCell: no difference
///   Transformer(En|De)coder(Layer)            the same, but for MultiHeadAttention; PyTorch has no SwiGLU
///   Sequential                                Sequential: no difference if functions, Dropout, ... have a part each
///   Gru                                       GRU: names end in _l0, _l0_reverse, _l1, ...
///   Lstm, Rnn                                 LSTM, RNN: names likewise; bias = bias_ih_l0 + bias_hh_l0
///   LstmCell, RnnCell                         LSTMCell, RNNCell: bias = bias_ih + bias_hh
///   MultiHeadAttention                        MultiheadAttention: in_proj_weight = [query; key; value].weight,
///                                             in_proj_bias likewise, out_proj = out; with other sizes of keys or
///                                             values (kdim, vdim) q_proj_weight, k_proj_weight and v_proj_weight
/// A GRU, LSTM or RNN has biases and no proj_size; batch_first changes no weight. To give a module of your own such a
/// layout, define pytorch_layout for it in its namespace; it must name every parameter.
PytorchEntries pytorch_layout(const Gru& module);
PytorchEntries pytorch_layout(const Lstm& module);
PytorchEntries pytorch_layout(const LstmCell& module);
PytorchEntries pytorch_layout(const Rnn& module);
PytorchEntries pytorch_layout(const RnnCell& module);
PytorchEntries pytorch_layout(const MultiHeadAttention& module);

namespace detail {

/// Throws ValueError unless the entries hold this number of weights.
void check_complete(const PytorchEntries& entries, std::int64_t weights);

// Like visit_member, but a module with a layout adds the entries of that layout.
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
/// Throws ValueError if a pytorch_layout leaves a parameter out.
template <Module M> PytorchEntries pytorch_entries(const M& module) {
  PytorchEntries entries;
  detail::add_pytorch_entries(Path{}, module, entries);
  detail::check_complete(entries, count_parameters(module));
  return entries;
}

/// Writes a safetensors file, completely or not at all. PyTorch's load_state_dict(strict=True) accepts the result of
/// safetensors.torch.load_file. Throws FileError if it cannot be written, ValueError if two tensors have the same name.
void save_pytorch(const std::string& path, const PytorchEntries& entries);
/// save_pytorch of a module: see pytorch_entries.
template <Module M> void save_pytorch(const std::string& path, const M& module) {
  save_pytorch(path, pytorch_entries(module));
}

/// Reads a state_dict that was saved as safetensors, and converts it to the dtypes of the parameters. Throws ValueError
/// if tensors are missing, unexpected or mis-shaped (it lists all of them, by PyTorch's names and shapes), FileError if
/// the file cannot be read; nothing is changed then.
void load_pytorch(const std::string& path, const PytorchEntries& entries);
/// load_pytorch into a module: see pytorch_entries.
template <Module M> void load_pytorch(const std::string& path, const M& module) {
  load_pytorch(path, pytorch_entries(module));
}

}  // namespace retrace
