// The writing half; core/safetensors.cpp has the other.
#include <retrace/core/replacement_file.h>
#include <retrace/core/safetensors.h>

#include <vector>

#include <nlohmann/json.hpp>

namespace retrace {
namespace {

using nlohmann::json;

void check_tensor(const std::string& name, const Tensor& tensor) {
  if (name == "__metadata__")
    throw ValueError(
        "write_safetensors: a tensor is called __metadata__, which the format keeps for itself; rename it");
  if (!tensor.defined() || !tensor.has_values())
    throw ValueError(text("write_safetensors: ", name, " has no values; assign a tensor to it first"));
  if (tensor.dtype() == dual)
    throw DtypeError(text("write_safetensors: ", name, " is dual, which the format does not know; write it as f64"));
}

const char* format_name(Dtype dtype) { return dtype == f32 ? "F32" : dtype == f64 ? "F64" : "I64"; }

std::string header_of(const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    check_tensor(name, tensor);
    const std::uint64_t end = at + static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    header[name] = {{"dtype", format_name(tensor.dtype())},
                    {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  try {
    std::string result = header.dump();
    result.resize((result.size() + 7) / 8 * 8, ' ');
    return result;
  } catch (const json::type_error&) {
    throw ValueError("write_safetensors: a name or the metadata is not UTF-8, as the format asks; encode it");
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  ReplacementFile file("write_safetensors", path);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& entry : tensors)
    dispatch_any(entry.second.dtype(), [&](auto zero) {
      const auto values = entry.second.values<decltype(zero)>();
      file.write(values.data(), values.size_bytes());
    });
  file.put_into_place();
}

}  // namespace retrace
