#include <retrace/models/onnx/protobuf.h>

#include <bit>

namespace retrace::onnx {
namespace {

constexpr int varint_type = 0, length_type = 2, four_bytes_type = 5;

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) encoded_ += static_cast<char>(value | 0x80);
  encoded_ += static_cast<char>(value);
}

Message& Message::integer(int field, std::int64_t value) {
  key(field, varint_type);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::number(int field, float value) {
  key(field, four_bytes_type);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) encoded_ += static_cast<char>(bits >> shift);
  return *this;
}

Message& Message::bytes(int field, std::string_view value) {
  key(field, length_type);
  varint(value.size());
  encoded_ += value;
  return *this;
}

}  // namespace retrace::onnx
