// The facts of a report, each stated once: a member of the JSON, a cell of a table, or both.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/base/printable.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/text_table.h>

namespace retrace {

struct Fact {
  /// In JSON only.
  Fact(std::string_view name, const JsonText& json) : member(name), value(json) {}
  /// In JSON, unless `name` is empty, and in print below `column`, there with `digits` if it is a floating-point
  /// number.
  template <class T>
  Fact(std::string_view name, const T& fact, std::string column, const char* digits = "%.3g")
      : member(name), value(fact), is_printed(true), heading(std::move(column)), cell(in_print(fact, digits)) {}

  std::string member;
  JsonText value;
  bool is_printed = false;
  std::string heading = {}, cell = {};

 private:
  static std::string in_print(std::string_view words, const char*) { return printable(words); }
  static std::string in_print(std::integral auto number, const char*) { return std::to_string(number); }
  static std::string in_print(double number, const char* digits) { return in_digits(number, digits); }
};

/// An object in JSON and a row of a table, with the facts in their order.
using FactRow = std::vector<Fact>;

void extend(FactRow& row, const FactRow& others);
JsonObject object_of(const FactRow& row);
/// The headings of the first row, and the cells of all.
std::vector<Row> printed_rows(const std::vector<FactRow>& rows);

/// write(item) of all items.
std::vector<JsonText> list_of(const auto& items, const auto& write) {
  std::vector<JsonText> list;
  for (const auto& item : items) list.push_back(write(item));
  return list;
}
/// write(*value); null without a value.
template <class T> JsonText optional_of(const std::optional<T>& value, const auto& write) {
  return value ? JsonText(write(*value)) : JsonText();
}

}  // namespace retrace
