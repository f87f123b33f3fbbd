// JSON (RFC 8259) for files and prints: a writer that appends, and a reader that reports each part as an event.
// (core/files/json_tree.h reads whole documents.)
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/base/error.h>

namespace retrace {

/// Builds a JSON text. The writer adds commas, quotes and escapes; the caller alternates keys and values and closes the
/// brackets.
class JsonWriter {
 public:
  /// With `lines`, puts each element of the outermost object or array on its own line.
  explicit JsonWriter(bool lines = false) : lines_(lines) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  /// Replaces bytes that are not UTF-8 by U+FFFD, and escapes every control code (core/base/printable.h) by four
  /// digits: the checksums in stored files depend on it (core/files/safetensors_checksum.h).
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  /// A truth value or an integer.
  JsonWriter& value(std::integral auto number) {
    if constexpr (std::same_as<decltype(number), bool>)
      return word(number ? "true" : "false");
    else
      return word(std::to_string(number));
  }
  JsonWriter& null() { return word("null"); }
  /// Writes the shortest digits that read back as the same number; null for NaN and infinities, which JSON lacks.
  JsonWriter& value(double number);
  /// A list of whatever value() takes.
  JsonWriter& list(const auto& items) {
    begin_array();
    for (const auto& item : items) value(item);
    return end_array();
  }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& word(std::string_view literal);
  void separate();
  void append_quoted(std::string_view text);

  std::string text_;
  bool lines_;
  bool after_key_ = false;
  std::vector<bool> has_elements_;  // of each open object or array, outermost first
};

/// Receives the parts of a text from read_json(), in order.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void start_object() = 0;
  virtual void key(std::string name) = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
  virtual void string(std::string text) = 0;
  virtual void unsigned_integer(std::uint64_t number) = 0;
  virtual void negative_integer(std::int64_t integer) { number(static_cast<double>(integer)); }
  /// A fraction, or an integer that neither of the two above can hold.
  virtual void number(double number) = 0;
  virtual void boolean(bool value) = 0;
  virtual void null() = 0;
};

/// The text passed to read_json() is not JSON.
class JsonError : public Error {
 public:
  JsonError(std::size_t position, const std::string& message) : Error(message), position_(position) {}
  /// The offset of the first unexpected byte, from 0.
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// Reads one JSON value, optionally surrounded by spaces, tabs and line ends. Throws JsonError for anything else,
/// including a byte order mark and bytes that are not UTF-8, and for more than 64 levels of nested brackets.
void read_json(std::string_view text, JsonEvents& events);

}  // namespace retrace
