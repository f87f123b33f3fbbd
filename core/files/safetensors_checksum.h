// The checksum in the files that Retrace writes: an entry of the metadata with 16 hexadecimal digits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <retrace/core/files/safetensors_types.h>
#include <retrace/core/tensor/shape.h>

namespace retrace {

inline constexpr const char* checksum_key = "retrace.checksum";

/// The part of a tensor that the checksum covers.
struct TensorDigest {
  std::string_view type;
  Shape shape;
  std::uint64_t crc = 0;  // Crc64 of its bytes
};
using TensorDigests = std::map<std::string, TensorDigest>;

/// The Crc64 of the metadata and the tensors by their names, as JSON without spaces:
/// {"metadata":{"key":"value"},"tensors":{"name":["F32",[2,3],"0123456789abcdef"]}}. So it does not depend on how
/// the header is written, nor on the order of the tensors.
std::string checksum_of(const std::map<std::string, std::string>& metadata, const TensorDigests& tensors);

/// Up to version 0.2 the checksum was the first entry of the header, and of the bytes of the whole file, with zeros
/// for its own digits.
namespace checksum_of_bytes {
inline constexpr const char* key = "retrace.crc64";
inline constexpr std::string_view mark = R"({"__metadata__":{"retrace.crc64":")";
inline constexpr std::string_view blank_digits = "0000000000000000";
}  // namespace checksum_of_bytes

/// Whether the key of a metadata entry is that of a checksum, or would be but for one or two bytes: then it is damaged.
bool resembles_checksum_key(std::string_view key);

std::string checksum_digits(std::uint64_t checksum);

}  // namespace retrace
