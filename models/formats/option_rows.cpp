#include <retrace/core/base/error.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/formats/option_rows.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

std::string with(char separator, std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', separator);
  return result;
}

std::string written(const std::string& word) { return word; }
std::string written(double number) { return in_all_digits(number); }
std::string written(auto number) { return text(number); }

/// In single quotes, if a shell would not take it as it is.
std::string quoted(const std::string& argument) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:,/@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string result = "'";
  for (const char c : argument) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

void check_word(std::string_view function, std::string_view noun, const OptionInfo& option, const std::string& word) {
  if (option.rules.words != nullptr && std::ranges::find(option.rules.words(), word) == option.rules.words().end())
    throw ValueError(unknown_name(function, noun, word, option.rules.words()));
}

}  // namespace

std::string OptionInfo::key() const { return with('_', name); }

std::pair<std::int64_t, std::int64_t> whole_numbers(const OptionInfo& option) {
  const auto& [min, max, open] = option.rules.range;
  const double smallest = std::ceil(min) + (open == NumberRange::Open::min ? 1 : 0);
  return {static_cast<std::int64_t>(smallest), static_cast<std::int64_t>(std::min<double>(max, largest_count))};
}

std::string as_words(const OptionValue& value) {
  return std::visit([](const auto& of) { return written(of); }, value);
}

std::string in_words(const GivenOptions& options) {
  std::string words;
  for (const auto& [row, value] : options) {
    const bool* truth = std::get_if<bool>(&value);
    words += words.empty() ? "" : ", ";
    words += truth != nullptr ? (*truth ? "" : "not ") + with(' ', row.name) : text(row.name, " ", as_words(value));
  }
  return words;
}

std::string as_flags(const GivenOptions& options) {
  std::string flags;
  for (const auto& [row, value] : options) {
    const bool* truth = std::get_if<bool>(&value);
    flags += text(" --", truth != nullptr && !*truth ? "no-" : "", row.name);
    if (truth == nullptr) flags += " " + quoted(as_words(value));
  }
  return flags;
}

JsonObject to_json(const GivenOptions& options) {
  JsonObject object;
  for (const auto& [row, value] : options)
    object.add(row.key(), std::visit([](const auto& of) { return JsonText(of); }, value));
  return object;
}

void check_values(const char* function, const GivenOptions& options) {
  for (const auto& [row, value] : options) {
    if (const auto* count = std::get_if<std::int64_t>(&value))
      check_number(function, row.key().c_str(), *count, row.rules.range);
    if (const auto* number = std::get_if<double>(&value))
      check_number(function, row.key().c_str(), *number, row.rules.range);
    if (const auto* word = std::get_if<std::string>(&value)) check_word(function, row.name, row, *word);
  }
}

std::optional<OptionValue> read_value(const JsonFields& fields, const std::string& object, const OptionInfo& option,
                                      OptionKind kind) {
  const std::string member = (object.empty() ? "" : object + ".") + option.key();
  if (!fields.has(member)) return std::nullopt;
  if (kind == OptionKind::truth) return fields.truth(member);
  if (kind == OptionKind::count) {
    const auto [smallest, largest] = whole_numbers(option);
    return fields.integer_in(member, smallest, largest);
  }
  if (kind == OptionKind::number) return fields.number_in(member, option.rules.range.min, option.rules.range.max);
  check_word(member, text("kind of ", option.name), option, fields.string(member));
  return fields.string(member);
}

}  // namespace retrace
