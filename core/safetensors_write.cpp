// The writing half; core/safetensors.cpp has the other.
#include <retrace/core/crc64.h>
#include <retrace/core/json.h>
#include <retrace/core/printable.h>
#include <retrace/core/replacement_file.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/safetensors_checksum.h>
#include <retrace/core/utf8.h>

#include <span>

namespace retrace {
namespace {

void check_tensor(const std::string& name, const Tensor& tensor) {
  if (name == "__metadata__")
    throw ValueError(
        "write_safetensors: a tensor is called __metadata__, which the format keeps for itself; rename it");
  if (!tensor.defined() || !tensor.has_values())
    throw ValueError(text("write_safetensors: ", printable(name), " has no values; assign a tensor to it first"));
  if (tensor.dtype() == dual)
    throw DtypeError(
        text("write_safetensors: ", printable(name), " is dual, which the format does not know; write it as f64"));
}

const char* format_name(Dtype dtype) { return dtype == f32 ? "F32" : dtype == f64 ? "F64" : "I64"; }

void check_text(std::string_view text) {
  if (!is_utf8(text))
    throw ValueError("write_safetensors: a name or the metadata is not UTF-8, as the format asks; encode it");
}

void add_metadata(JsonWriter& header, const std::map<std::string, std::string>& metadata) {
  header.key("__metadata__").begin_object().key(checksum_key).value(blank_digits);
  for (const auto& [key, value] : metadata) {
    check_text(key);
    check_text(value);
    if (key == checksum_key)
      throw ValueError(text("write_safetensors: the metadata has an entry ", checksum_key,
                            ", which is kept for the checksum; rename it"));
    header.key(key).value(value);
  }
  header.end_object();
}

std::string header_of(const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  JsonWriter header;
  header.begin_object();
  add_metadata(header, metadata);
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check_tensor(name, tensor);
    check_text(name);
    const std::uint64_t end = offset + static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    header.key(name).begin_object();
    header.key("data_offsets").begin_array().value(offset).value(end).end_array();
    header.key("dtype").value(format_name(tensor.dtype()));
    header.key("shape").begin_array();
    for (const std::int64_t extent : tensor.shape()) header.value(extent);
    header.end_array().end_object();
    offset = end;
  }
  std::string result = header.end_object().text();
  result.resize((result.size() + 7) / 8 * 8, ' ');
  return result;
}

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return dispatch_any(tensor.dtype(), [&](auto zero) { return std::as_bytes(tensor.values<decltype(zero)>()); });
}

}  // namespace

void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  Crc64 checksum;
  checksum.add(&length, sizeof length);
  checksum.add(header.data(), header.size());
  for (const auto& entry : tensors) checksum.add(bytes_of(entry.second).data(), bytes_of(entry.second).size());
  header.replace(checksum_mark.size(), blank_digits.size(), checksum_digits(checksum.value()));

  ReplacementFile file("write_safetensors", path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& entry : tensors) file.write(bytes_of(entry.second).data(), bytes_of(entry.second).size());
  file.put_into_place();
}

}  // namespace retrace
