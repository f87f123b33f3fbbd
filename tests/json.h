// JSON documents in tests: to look into, to change and to write again.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>

namespace retrace {

/// Null, a truth value, a number, a text, a list or an object. Whatever it does not have throws: a member, an element,
/// or a value of another type.
class Json {
 public:
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json>;

  Json() = default;
  template <class T>
  requires(!std::same_as<T, Json> && (!std::input_iterator<T> || std::convertible_to<T, std::string_view>))
      Json(const T& value) {
    if constexpr (std::same_as<T, JsonValue>)
      std::visit([this](const auto& held) { *this = Json(held); }, value.value);
    else if constexpr (std::same_as<T, bool> || std::same_as<T, std::monostate>)
      value_ = value;
    else if constexpr (std::integral<T>)
      value_ = static_cast<std::int64_t>(value);
    else if constexpr (std::floating_point<T>)
      value_ = static_cast<double>(value);
    else if constexpr (std::convertible_to<const T&, std::string_view>)
      value_ = std::string(std::string_view(value));
    else if constexpr (requires { typename T::mapped_type; })
      value_ = Object(value.begin(), value.end());
    else
      value_ = List(value.begin(), value.end());
  }

  /// Throws JsonError for a text that is not JSON.
  static Json parse(std::string_view text) { return read_json_tree(text); }
  static bool accept(std::string_view text) {
    try {
      return parse(text), true;
    } catch (const JsonError&) {
      return false;
    }
  }

  /// Whether it holds a value of this very type: std::int64_t or double for numbers.
  template <class T> bool is() const { return std::holds_alternative<T>(value_); }
  bool is_null() const { return is<std::monostate>(); }
  bool is_number() const { return is<std::int64_t>() || is<double>(); }
  bool has_type_of(const Json& other) const { return value_.index() == other.value_.index(); }

  /// A number as any other type of numbers; the elements of a list as those of a vector.
  template <class T> T get() const {
    if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
      return std::get<T>(value_);
    } else if constexpr (std::integral<T> || std::floating_point<T>) {
      if (is<double>()) return static_cast<T>(std::get<double>(value_));
      return static_cast<T>(std::get<std::int64_t>(value_));
    } else {
      T result;
      for (const Json& item : *this) result.push_back(item.get<typename T::value_type>());
      return result;
    }
  }

  const Json& at(const std::string& name) const { return items().at(name); }
  const Json& operator[](const std::string& name) const { return at(name); }
  const Json& operator[](std::size_t index) const { return std::get<List>(value_).at(index); }
  /// For a change: a member that is not there yet becomes one, and null an object.
  Json& operator[](const std::string& name) {
    if (is_null()) value_ = Object();
    return std::get<Object>(value_)[name];
  }
  Json& operator[](std::size_t index) { return std::get<List>(value_).at(index); }
  void erase(const std::string& name) { std::get<Object>(value_).erase(name); }

  bool contains(const std::string& name) const { return items().contains(name); }
  std::size_t size() const { return is<Object>() ? items().size() : std::get<List>(value_).size(); }
  const Json& back() const { return (*this)[size() - 1]; }
  const Object& items() const { return std::get<Object>(value_); }
  List::const_iterator begin() const { return std::get<List>(value_).begin(); }
  List::const_iterator end() const { return std::get<List>(value_).end(); }

  /// 2 equals 2.0, though their types differ.
  bool operator==(const Json& other) const {
    if (has_type_of(other)) return value_ == other.value_;
    return is_number() && other.is_number() && get<double>() == other.get<double>();
  }
  std::partial_ordering operator<=>(const Json& other) const { return get<double>() <=> other.get<double>(); }

  std::string dump() const {
    JsonWriter json;
    write(json);
    return json.text();
  }
  friend std::ostream& operator<<(std::ostream& stream, const Json& json) { return stream << json.dump(); }

 private:
  void write(JsonWriter& json) const {
    if (is<List>()) {
      json.begin_array();
      for (const Json& item : *this) item.write(json);
      json.end_array();
    } else if (is<Object>()) {
      json.begin_object();
      for (const auto& [name, member] : items()) member.write(json.key(name));
      json.end_object();
    } else if (is_null()) {
      json.null();
    } else {
      const auto write_value = [&](const auto& value) {
        if constexpr (requires { json.value(value); }) json.value(value);
      };
      std::visit(write_value, value_);
    }
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> value_;
};

}  // namespace retrace
