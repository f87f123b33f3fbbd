// A JSON text as a tree, for documents that are read as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace retrace {

/// Null, a truth value, an integer, another number, a string, a list or an object.
struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> value = {};

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  /// The value if it is of this type; null otherwise.
  template <class T> const T* get() const { return std::get_if<T>(&value); }
};

/// Throws JsonError for what is not JSON. Integers that std::int64_t cannot hold are rounded to
/// double.
JsonValue read_json_tree(std::string_view text);

}  // namespace retrace
