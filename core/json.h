// JSON (RFC 8259) as files and prints need it: a writer that appends, and a reader that reports what it meets.
//
// By hand, so that whoever links core, ops or nn needs no other library. What holds whole documents (models) uses
// nlohmann-json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/error.h>

namespace retrace {

/// Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, nothing overlong).
bool is_utf8(std::string_view bytes);

/// Appends JSON to a text. Commas, quotes and escapes are the writer's; that keys and values alternate and that
/// brackets match is the caller's.
class JsonWriter {
 public:
  /// With `lines`, each element of the outermost object or array stands on a line of its own.
  explicit JsonWriter(bool lines = false) : lines_(lines) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  /// Bytes that are not UTF-8 become U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  /// The shortest digits that read back as the same number; null for NaN and infinities, which JSON lacks.
  JsonWriter& value(double number);

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void append_quoted(std::string_view text);

  std::string text_;
  bool lines_;
  bool after_key_ = false;
  std::vector<bool> has_elements_;  // of each open object or array, outermost first
};

/// What read_json() calls for each part of a text, in order.
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
  /// A negative integer, a fraction, or an integer above 2^64 - 1.
  virtual void number(double number) = 0;
  virtual void boolean(bool value) = 0;
  virtual void null() = 0;
};

/// The text that read_json() was given is not JSON.
class JsonError : public Error {
 public:
  JsonError(std::size_t position, const std::string& message) : Error(message), position_(position) {}
  /// Of the first byte that does not fit, from 0.
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// Reads one JSON value, which spaces, tabs and line ends may surround. Throws JsonError for anything else (a byte order
/// mark and bytes that are not UTF-8, too), and for more than 64 brackets inside each other.
void read_json(std::string_view text, JsonEvents& events);

}  // namespace retrace
