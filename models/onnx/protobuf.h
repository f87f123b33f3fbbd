// Messages in the wire format of Protocol Buffers, of which ONNX files consist.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace retrace::onnx {

/// A message: fields one after the other, each with its number. A field that is added twice is a list.
class Message {
 public:
  Message& integer(int field, std::int64_t value);
  Message& number(int field, float value);
  Message& bytes(int field, std::string_view value);
  Message& message(int field, const Message& value) { return bytes(field, value.encoded()); }
  const std::string& encoded() const { return encoded_; }

 private:
  void varint(std::uint64_t value);
  void key(int field, int wire_type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire_type));
  }

  std::string encoded_;
};

}  // namespace retrace::onnx
