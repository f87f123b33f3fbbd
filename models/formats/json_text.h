// JSON as text, built value by value.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/files/json.h>

namespace retrace {

class JsonObject;

/// A value: null, whatever JsonWriter writes (a truth value, a number or a string), a list or an object.
class JsonText {
 public:
  JsonText() : text_("null") {}
  template <class Value>
  requires requires(JsonWriter writer, Value value) { writer.value(value); }
  JsonText(Value value) : text_(JsonWriter().value(value).text()) {}
  JsonText(const JsonObject& object);
  template <class T> JsonText(const std::vector<T>& list) : text_("[") {
    for (const T& item : list) text_ += (text_.size() > 1 ? "," : "") + JsonText(item).text();
    text_ += ']';
  }
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

}  // namespace retrace
