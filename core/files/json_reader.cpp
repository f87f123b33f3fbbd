// The reading half; core/files/json_writer.cpp has the other.
#include <retrace/core/base/utf8.h>
#include <retrace/core/files/json.h>

#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace retrace {
namespace {

constexpr int max_depth = 64;

/// The double closest to a JSON number, whatever the locale; false if its magnitude is too large or too small for one.
bool parse_double(const char* first, const char* last, double& number) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(first, last, number).ec == std::errc();
#else  // libc++ reads integers only
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", locale_t{});
  errno = 0;
  number = strtod_l(std::string(first, last).c_str(), nullptr, c_locale);
  return errno != ERANGE || (number != 0 && !std::isinf(number));
#endif
}

class Reader {
 public:
  Reader(std::string_view text, JsonEvents& events) : text_(text), events_(events) {}

  void read() {
    skip_space();
    read_value(0);
    skip_space();
    if (position_ != text_.size()) fail("the end of the text");
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw JsonError(position_, retrace::text("read_json: byte ", position_, ": expected ", expected));
  }
  /// The next byte; 0 at the end of the text, which no rule of the grammar accepts.
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  bool take(char expected) {
    if (position_ == text_.size() || text_[position_] != expected) return false;
    ++position_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++position_;
  }
  bool is_digit() const { return '0' <= peek() && peek() <= '9'; }
  bool take_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  void read_value(int depth) {
    if (peek() == '{') return read_object(depth);
    if (peek() == '[') return read_array(depth);
    if (peek() == '"') return events_.string(read_string());
    if (peek() == '-' || is_digit()) return read_number();
    if (take_word("true")) return events_.boolean(true);
    if (take_word("false")) return events_.boolean(false);
    if (take_word("null")) return events_.null();
    fail("a value");
  }

  void read_object(int depth) {
    if (depth == max_depth) fail("at most 64 nested brackets");
    ++position_;
    events_.start_object();
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        if (peek() != '"') fail("a key in quotes");
        events_.key(read_string());
        skip_space();
        if (!take(':')) fail("':'");
        skip_space();
        read_value(depth + 1);
        skip_space();
      } while (take(','));
      if (!take('}')) fail("',' or '}'");
    }
    events_.end_object();
  }

  void read_array(int depth) {
    if (depth == max_depth) fail("at most 64 nested brackets");
    ++position_;
    events_.start_array();
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        read_value(depth + 1);
        skip_space();
      } while (take(','));
      if (!take(']')) fail("',' or ']'");
    }
    events_.end_array();
  }

  std::string read_string() {
    ++position_;
    std::string result;
    while (!take('"')) {
      if (position_ == text_.size()) fail("the end of a string");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("an escape for a control character");
      if (take('\\')) {
        read_escape(result);
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(position_));
      if (length == 0) fail("UTF-8");
      result.append(text_, position_, length);
      position_ += length;
    }
    return result;
  }

  void read_escape(std::string& result) {
    constexpr std::string_view letters = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
    const std::size_t simple = position_ < text_.size() ? letters.find(peek()) : letters.npos;
    if (simple != letters.npos) {
      ++position_;
      result += characters[simple];
      return;
    }
    if (!take('u')) fail("an escape");
    std::uint32_t code_point = read_four_digits();
    if (0xDC00 <= code_point && code_point <= 0xDFFF) fail("the first half of a surrogate pair before its second");
    if (0xD800 <= code_point && code_point <= 0xDBFF) {
      if (!take_word("\\u")) fail("the second half of a surrogate pair");
      const std::uint32_t second = read_four_digits();
      if (second < 0xDC00 || 0xDFFF < second) fail("the second half of a surrogate pair");
      code_point = 0x10000 + ((code_point - 0xD800) << 10) + (second - 0xDC00);
    }
    append_utf8(result, code_point);
  }

  std::uint32_t read_four_digits() {
    const std::string_view four = text_.substr(position_, 4);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(four.data(), four.data() + four.size(), number, 16);
    if (four.size() < 4 || error != std::errc() || end != four.data() + 4) fail("four hexadecimal digits");
    position_ += 4;
    return number;
  }

  void skip_digits() {
    if (!is_digit()) fail("a digit");
    while (is_digit()) ++position_;
  }

  void read_number() {
    const std::size_t start = position_;
    const bool negative = take('-');
    if (!take('0')) skip_digits();
    bool whole = true;
    if (take('.')) {
      whole = false;
      skip_digits();
    }
    if (take('e') || take('E')) {
      whole = false;
      if (!take('+')) take('-');
      skip_digits();
    }
    const char *first = text_.data() + start, *last = text_.data() + position_;
    std::uint64_t integer = 0;
    if (whole && !negative && std::from_chars(first, last, integer).ec == std::errc())
      return events_.unsigned_integer(integer);
    std::int64_t below_zero = 0;
    if (whole && negative && std::from_chars(first, last, below_zero).ec == std::errc())
      return events_.negative_integer(below_zero);
    double number = 0;
    if (!parse_double(first, last, number)) fail("a number within the range of double");
    events_.number(number);
  }

  std::string_view text_;
  JsonEvents& events_;
  std::size_t position_ = 0;
};

}  // namespace

void read_json(std::string_view text, JsonEvents& events) { Reader(text, events).read(); }

}  // namespace retrace
