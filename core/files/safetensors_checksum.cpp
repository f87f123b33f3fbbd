#include <retrace/core/files/crc64.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/safetensors_checksum.h>

namespace retrace {

std::string checksum_of(const std::map<std::string, std::string>& metadata, const TensorDigests& tensors) {
  JsonWriter covered;
  covered.begin_object().key("metadata").begin_object();
  for (const auto& [key, value] : metadata) covered.key(key).value(value);
  covered.end_object().key("tensors").begin_object();
  for (const auto& [name, tensor] : tensors) {
    covered.key(name)
        .begin_array()
        .value(tensor.type)
        .list(tensor.shape)
        .value(checksum_digits(tensor.crc))
        .end_array();
  }
  covered.end_object().end_object();
  Crc64 checksum;
  checksum.add(covered.text().data(), covered.text().size());
  return checksum_digits(checksum.value());
}

bool resembles_checksum_key(std::string_view key) {
  constexpr std::size_t max_damaged = 2;
  for (const std::string_view right : {std::string_view(checksum_key), std::string_view(checksum_of_bytes::key)}) {
    std::size_t damaged = 0;
    for (std::size_t k = 0; k < right.size(); ++k) damaged += k >= key.size() || key[k] != right[k];
    if (key.size() == right.size() && damaged <= max_damaged) return true;
  }
  return false;
}

std::string checksum_digits(std::uint64_t checksum) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[checksum >> shift & 15];
  return digits;
}

}  // namespace retrace
