#include <retrace/nn/module/module.h>

#include <cstring>
#include <map>
#include <ostream>
#include <string_view>

#include <retrace/core/base/printable.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

std::uint64_t hash_bytes(std::uint64_t hash, const void* bytes, std::size_t count) {
  const unsigned char* first = static_cast<const unsigned char*>(bytes);
  for (std::size_t k = 0; k < count; ++k) hash = (hash ^ first[k]) * 0x100000001B3;
  return hash;
}

const void* bytes_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) -> const void* { return x.values<decltype(zero)>().data(); });
}

using Values = std::map<std::string, Tensor>;

Values by_name(const std::vector<NamedTensor>& list, const char* function, const char* what, const char* remedy) {
  Values result;
  for (const auto& [name, tensor] : list) {
    if (!tensor.defined()) throw_undefined(function, name);
    if (const auto [first, is_new] = result.emplace(name, tensor); !is_new)
      throw ValueError(text(function, ": two ", what, " are named '", printable(name), "', ", first->second.shape(),
                            " and ", tensor.shape(), "; ", remedy));
  }
  return result;
}

// The values of names that the module does not have.
Values unexpected(const std::vector<NamedTensor>& parameters, Values values) {
  for (const NamedTensor& parameter : parameters) values.erase(parameter.name);
  return values;
}

// The values that do not fit, one per line; empty if all fit.
std::string misfits(const std::vector<NamedTensor>& parameters, const Values& values) {
  std::string list;
  for (const NamedTensor& parameter : parameters) {
    const auto found = values.find(parameter.name);
    if (found == values.end())
      list += text("\n  missing: ", printable(parameter.name), " ", parameter.tensor.shape());
    else if (found->second.shape() != parameter.tensor.shape())
      list += text("\n  mis-shaped: ", printable(parameter.name), " is ", found->second.shape(), ", the module has ",
                   parameter.tensor.shape());
  }
  for (const auto& [name, value] : unexpected(parameters, values))
    list += text("\n  unexpected: ", printable(name), " ", value.shape());
  return list;
}

// Whether only PyTorch has the name: see pytorch_layout.
bool is_of_pytorch(std::string_view name) {
  for (const std::string_view part : {"_ih_l", "_hh_l", "bias_ih", "bias_hh", "in_proj_", "_proj_weight", "out_proj."})
    if (name.find(part) != name.npos) return true;
  return false;
}

std::string remedy_for_pytorch(const std::vector<NamedTensor>& parameters, const Values& values) {
  for (const auto& [name, value] : unexpected(parameters, values))
    if (is_of_pytorch(name))
      return text("\n", printable(name), " is a name of PyTorch's: read files of safetensors.torch.save_file with ",
                  "load_pytorch");
  return "";
}

void assign_all(const std::vector<NamedTensor>& parameters, const Values& values, const std::string& function,
                const std::string& remedy = "") {
  const std::string list = misfits(parameters, values);
  if (!list.empty())
    throw ValueError(text(function, ": the values do not fit the module, and nothing was changed:", list, remedy));
  const NoTape no_tape;
  for (const NamedTensor& parameter : parameters)
    copy_values(to(values.at(parameter.name), parameter.tensor.dtype()), parameter.tensor);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const NamedTensor& named) {
  return out << named.name << ' ' << named.tensor;
}

void convert(const std::vector<NamedTensor>& parameters, Dtype dtype) {
  const NoTape no_tape;
  for (const auto& [name, tensor] : parameters) {
    if (tensor.dtype() == dtype) continue;
    exchange_values(tensor, to(tensor, dtype));
  }
}

std::string weights_hash(const std::vector<NamedTensor>& parameters) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const auto& [name, tensor] : parameters) {
    hash = hash_bytes(hash, name.data(), name.size());
    hash = hash_bytes(hash, bytes_of(tensor), static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype()));
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15];
  return digits;
}

void assign(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& values, const char* function) {
  assign_all(parameters, by_name(values, function, "values", "give one value per parameter"), function);
}

void save(const std::string& path, const std::vector<NamedTensor>& parameters) {
  write_safetensors(path, by_name(parameters, "save", "parameters", "let visit give each member a name of its own"));
}

void load(const std::string& path, const std::vector<NamedTensor>& parameters) {
  const Values values = read_safetensors(path).tensors;
  assign_all(parameters, values, text("load: ", path), remedy_for_pytorch(parameters, values));
}

}  // namespace retrace
