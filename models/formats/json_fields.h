// A JSON object from a file, for a reader that knows which members it must have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace retrace {

/// The members of an object, and those of the objects and lists in it: "sizes.hidden", "vocabulary.0". Every error is a
/// ValueError that names the place (`place`, given to the constructor), the member, the expected value and the value
/// found; the caller adds the file.
class JsonFields {
 public:
  /// Throws for text that is not JSON, is not an object, is nested more than 8 deep, or names a member twice.
  JsonFields(std::string place, std::string_view json);

  bool has(std::string_view name) const { return values_.contains(name); }
  /// Throw for a member that is missing or of another type. number() accepts integers; integer() accepts no fraction.
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer_in(std::string_view name, std::int64_t smallest, std::int64_t largest) const;
  std::uint64_t natural(std::string_view name) const;
  double number(std::string_view name) const;
  double number_in(std::string_view name, double smallest, double largest) const;
  /// Like number(), but null, as which JsonText writes a number that is not finite, gives `not_finite`.
  double number_or_null(std::string_view name, double not_finite) const;
  bool truth(std::string_view name) const;
  const std::string& string(std::string_view name) const;
  std::vector<std::string> strings(std::string_view name) const;
  /// The names in an object that is a member, in the order in which it has them.
  const std::vector<std::string>& members(std::string_view name) const;

  void erase(std::string_view name);
  /// "name value" of every member that is neither a list nor an object, and of the members of these.
  std::vector<std::string> in_words() const;
  /// Whether both have the same members with the same values, in any order.
  bool operator==(const JsonFields& other) const { return values_ == other.values_; }

 private:
  struct List {
    std::size_t size = 0;
    bool operator==(const List&) const = default;
  };
  struct Object {
    std::vector<std::string> members = {};
    bool operator==(const Object&) const { return true; }  // its members are values of their own
  };
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;
  class Reader;

  const Value& value(std::string_view name, std::string_view expected) const;
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, const Value& found) const;
  static std::string description_of(const Value& value);

  std::string place_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace retrace
