#include <retrace/nn/files/pytorch.h>

#include <retrace/core/files/safetensors.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

template <class Cell> PytorchEntries with_one_bias(const Cell& cell, const std::string& suffix) {
  PytorchEntries entries{{"weight_ih" + suffix, {cell.weight_ih}}, {"weight_hh" + suffix, {cell.weight_hh}}};
  if (cell.bias.defined()) {
    entries.push_back({"bias_ih" + suffix, {cell.bias}});
    entries.push_back({"bias_hh" + suffix, {cell.bias}, true});
  }
  return entries;
}

PytorchEntries with_two_biases(const GruCell& cell, const std::string& suffix) {
  PytorchEntries entries{{"weight_ih" + suffix, {cell.weight_ih}}, {"weight_hh" + suffix, {cell.weight_hh}}};
  if (cell.bias_ih.defined()) {
    entries.push_back({"bias_ih" + suffix, {cell.bias_ih}});
    entries.push_back({"bias_hh" + suffix, {cell.bias_hh}});
  }
  return entries;
}

// The entries of every cell, whose names end in "_l0", "_l0_reverse", "_l1", ...
template <class Layers, class EntriesOfCell>
PytorchEntries of_all_cells(const Layers& layers, EntriesOfCell&& entries_of_cell) {
  PytorchEntries entries;
  for (int k = 0; k < cells_of(layers.options); ++k) {
    const auto& cell = k == 0 ? layers.cell : layers.further[static_cast<std::size_t>(k) - 1];
    for (PytorchEntry& entry : entries_of_cell(cell, "_" + name_of_cell(k, layers.options)))
      entries.push_back(std::move(entry));
  }
  return entries;
}

// The tensors of the state_dict: the parameter itself if it is the whole tensor, otherwise a new one.
std::vector<NamedTensor> state_dict(const PytorchEntries& entries) {
  std::vector<NamedTensor> result;
  for (const auto& [name, rows, addend] : entries) {
    // Adding -0 leaves the bits of every number unchanged; adding +0 would turn -0 into +0.
    if (addend)
      result.push_back({name, full_like(rows.front(), -0.0)});
    else
      result.push_back({name, rows.size() == 1 ? rows.front() : concat(rows, 0)});
  }
  return result;
}

void put_rows(const Tensor& joined, const Tensors& rows) {
  std::int64_t offset = 0;
  for (const Tensor& part : rows) {
    copy_values(view(joined, part.shape(), offset), part);
    offset += part.numel();
  }
}

}  // namespace

PytorchEntries pytorch_layout(const Gru& module) { return of_all_cells(module, with_two_biases); }
PytorchEntries pytorch_layout(const Lstm& module) { return of_all_cells(module, with_one_bias<LstmCell>); }
PytorchEntries pytorch_layout(const LstmCell& module) { return with_one_bias(module, ""); }
PytorchEntries pytorch_layout(const Rnn& module) { return of_all_cells(module, with_one_bias<RnnCell>); }
PytorchEntries pytorch_layout(const RnnCell& module) { return with_one_bias(module, ""); }

PytorchEntries pytorch_layout(const MultiHeadAttention& module) {
  const Linear &query = module.query, &key = module.key, &value = module.value, &out = module.out;
  const Shape& square = query.weight.shape();
  PytorchEntries entries;
  if (key.weight.shape() == square && value.weight.shape() == square)
    entries = {{"in_proj_weight", {query.weight, key.weight, value.weight}}};
  else
    entries = {{"q_proj_weight", {query.weight}}, {"k_proj_weight", {key.weight}}, {"v_proj_weight", {value.weight}}};
  if (query.bias && key.bias && value.bias) entries.push_back({"in_proj_bias", {*query.bias, *key.bias, *value.bias}});
  entries.push_back({"out_proj.weight", {out.weight}});
  if (out.bias) entries.push_back({"out_proj.bias", {*out.bias}});
  return entries;
}

void detail::check_complete(const PytorchEntries& entries, std::int64_t weights) {
  std::int64_t found = 0;
  for (const PytorchEntry& entry : entries)
    if (!entry.addend)
      for (const Tensor& part : entry.rows) found += part.numel();
  if (found != weights)
    throw ValueError(text("pytorch_entries: ", found, " weights have a place in the state_dict, and the module has ",
                          weights, "; let pytorch_layout name every parameter of its module once"));
}

void save_pytorch(const std::string& path, const PytorchEntries& entries) {
  const NoTape no_tape;
  save(path, state_dict(entries));
}

void load_pytorch(const std::string& path, const PytorchEntries& entries) {
  const NoTape no_tape;
  std::vector<NamedTensor> values;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) values.push_back({name, tensor});
  const std::vector<NamedTensor> received = state_dict(entries);
  assign(received, values, text("load_pytorch: ", path).c_str());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto& [name, rows, addend] = entries[k];
    if (addend)
      copy_values(rows.front() + received[k].tensor, rows.front());
    else if (rows.size() > 1)
      put_rows(received[k].tensor, rows);
  }
}

}  // namespace retrace
