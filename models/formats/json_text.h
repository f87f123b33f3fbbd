// JSON as text, built without a tree. No destructor here allocates, unlike that of an nlohmann::json tree, which ends
// the program when memory runs out.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

class JsonObject;

/// A value: null, true or false, a number (null if it is not finite), a string (invalid UTF-8 becomes U+FFFD, and
/// control codes are escaped), a list or an object.
class JsonText {
 public:
  JsonText() : text_("null") {}
  JsonText(std::same_as<bool> auto truth) : text_(truth ? "true" : "false") {}
  JsonText(double number);
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) JsonText(Integer number) : text_(std::to_string(number)) {}
  JsonText(std::string_view string);
  JsonText(const std::string& string) : JsonText(std::string_view(string)) {}
  JsonText(const char* string) : JsonText(std::string_view(string)) {}
  JsonText(const JsonObject& object);
  template <class T> JsonText(const std::vector<T>& list);
  template <class T> JsonText(const std::optional<T>& value) : JsonText(value ? JsonText(*value) : JsonText()) {}

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// An object, with its members in the order in which they were added.
class JsonObject {
 public:
  JsonObject(std::initializer_list<std::pair<std::string_view, JsonText>> members = {}) {
    for (const auto& [name, value] : members) add(name, value);
  }
  void add(std::string_view name, const JsonText& value);
  void add(const JsonObject& others);
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;  // separated by commas
};

template <class T> JsonText::JsonText(const std::vector<T>& list) : text_("[") {
  for (const auto& item : list) {
    if (text_.size() > 1) text_ += ',';
    text_ += JsonText(item).text();
  }
  text_ += ']';
}

}  // namespace retrace
