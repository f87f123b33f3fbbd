// The writing half; core/files/safetensors.cpp has the other.
#include <retrace/core/base/printable.h>
#include <retrace/core/base/utf8.h>
#include <retrace/core/files/crc64.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/core/files/safetensors_checksum.h>
#include <retrace/core/files/safetensors_header.h>

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

void check_text(std::string_view text) {
  if (!is_utf8(text))
    throw ValueError("write_safetensors: a name or the metadata is not UTF-8, as the format asks; encode it");
}

void check_metadata(const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    check_text(key);
    check_text(value);
    if (resembles_checksum_key(key))
      throw ValueError(text("write_safetensors: the metadata has an entry ", printable(key),
                            ", which would be taken for the checksum, ", checksum_key, "; rename it"));
  }
}

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return dispatch_any(tensor.dtype(), [&](auto zero) { return std::as_bytes(tensor.values<decltype(zero)>()); });
}

TensorDigests digests_of(const std::map<std::string, Tensor>& tensors) {
  TensorDigests digests;
  for (const auto& [name, tensor] : tensors) {
    Crc64 checksum;
    checksum.add(bytes_of(tensor).data(), bytes_of(tensor).size());
    digests[name] = {stored_type_of(tensor.dtype()).name, tensor.shape(), checksum.value()};
  }
  return digests;
}

std::string header_of(const std::map<std::string, Tensor>& tensors, std::map<std::string, std::string> metadata) {
  metadata[checksum_key] = checksum_of(metadata, digests_of(tensors));
  JsonWriter header;
  header.begin_object().key("__metadata__").begin_object();
  for (const auto& [key, value] : metadata) header.key(key).value(value);
  header.end_object();
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t end = offset + bytes_of(tensor).size();
    header.key(name).begin_object();
    header.key("data_offsets").begin_array().value(offset).value(end).end_array();
    header.key("dtype").value(stored_type_of(tensor.dtype()).name);
    header.key("shape").list(tensor.shape()).end_object();
    offset = end;
  }
  std::string result = header.end_object().text();
  result.resize((result.size() + 7) / 8 * 8, ' ');
  if (result.size() > max_safetensors_header)
    throw ValueError(text("write_safetensors: names, shapes and metadata take ", result.size(),
                          " bytes, and the format's limit is ", max_safetensors_header, "; write several files"));
  return result;
}

}  // namespace

void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  for (const auto& [name, tensor] : tensors) {
    check_tensor(name, tensor);
    check_text(name);
  }
  check_metadata(metadata);
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();

  ReplacementFile file("write_safetensors", path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& entry : tensors) file.write(bytes_of(entry.second).data(), bytes_of(entry.second).size());
  file.put_into_place();
}

}  // namespace retrace
