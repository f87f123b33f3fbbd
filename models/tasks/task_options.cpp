#include <retrace/core/base/error.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/tasks/task_options.h>

#include <algorithm>
#include <concepts>
#include <utility>

namespace retrace {
namespace {

std::string key_of(const TaskOptionRow& row) {
  std::string key(row.name());
  std::ranges::replace(key, '-', '_');
  return key;
}

// In a file, 0 and "" stand for an option that is not chosen.
bool stored(bool truth) { return truth; }
template <class T> T stored(const std::optional<T>& option) { return option.value_or(T()); }
template <class T> std::optional<T> chosen(T value) {
  return value == T() ? std::nullopt : std::optional<T>(std::move(value));
}

}  // namespace

bool TaskOptionRow::is_given(const TaskOptions& options) const {
  return std::visit([&](auto option) { return options.*option != TaskOptions{}.*option; }, member);
}

std::string TaskOptionRow::in_words(const TaskOptions& options) const {
  return std::visit(
      [&]<class T>(T TaskOptions::*option) {
        if constexpr (!std::same_as<T, bool>) return text(name(), " ", (options.*option).value());
        std::string words(name());
        std::ranges::replace(words, '-', ' ');
        return words;
      },
      member);
}

std::string TaskOptionRow::value_of(const TaskOptions& options) const {
  return std::visit(
      [&]<class T>(T TaskOptions::*option) {
        if constexpr (std::same_as<T, bool>)
          return std::string();
        else
          return text((options.*option).value());
      },
      member);
}

TaskOptions TaskOptions::or_else(const TaskOptions& defaults) const {
  TaskOptions result = defaults;
  for (const TaskOptionRow& row : task_option_rows)
    if (row.is_given(*this)) std::visit([&](auto member) { result.*member = this->*member; }, row.member);
  return result;
}

JsonObject to_json(const TaskOptions& options) {
  JsonObject object;
  for (const TaskOptionRow& row : task_option_rows)
    if (row.in_every_file || row.is_given(options))
      std::visit([&](auto option) { object.add(key_of(row), stored(options.*option)); }, row.member);
  return object;
}

TaskOptions task_options_in(const JsonFields& fields) {
  TaskOptions options;
  for (const TaskOptionRow& row : task_option_rows) {
    const std::string key = "task_options." + key_of(row);
    if (!row.in_every_file && !fields.has(key)) continue;
    const auto read = [&]<class T>(T TaskOptions::*option) {
      if constexpr (std::same_as<T, bool>)
        options.*option = fields.truth(key);
      else if constexpr (std::same_as<T, std::optional<std::string>>)
        options.*option = chosen(fields.string(key));
      else
        options.*option = chosen(fields.integer_in(key, 0, largest_count));
    };
    std::visit(read, row.member);
  }
  return options;
}

}  // namespace retrace
