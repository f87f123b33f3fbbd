// Options as a table: each is said once, in a row of its struct. Flags, help, checks, files, words and command lines
// are loops over the rows.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <retrace/models/formats/json_text.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {

class JsonFields;

/// The value of an option, and its kind as the alternative's index.
using OptionValue = std::variant<bool, std::int64_t, double, std::string>;
enum class OptionKind { truth, count, number, word };

/// The part of the help in which an option stands.
enum class OptionGroup { task, model, memory, training, files, options };

/// The range of an option and its other rules.
struct OptionRules {
  NumberRange range = above_0;  // of a count or a number that is given
  std::string_view no = {};     // the help of --no-NAME, which a truth can have too, or instead
  std::span<const std::string_view> (*words)() = nullptr;  // all that it can be, in the order of an enumeration
  bool may_change = false;                                 // whether a training that is resumed can have another value
};

/// An option, whichever struct has it.
struct OptionInfo {
  std::string_view name;  // "slot-size": --slot-size on a command line, slot_size in files and errors
  OptionGroup group;
  std::string_view help = {};  // of --NAME; empty: there is only --no-NAME
  OptionRules rules = {};

  std::string key() const;  // "slot_size"
};

/// A count's smallest and largest value.
std::pair<std::int64_t, std::int64_t> whole_numbers(const OptionInfo& option);
/// An option and its value.
struct GivenOption {
  const OptionInfo& row;
  OptionValue value;
};
using GivenOptions = std::vector<GivenOption>;

/// "32"; of a number, all digits.
std::string as_words(const OptionValue& value);
/// "slot-size 32, held only, not causal".
std::string in_words(const GivenOptions& options);
/// As on a command line, each after a blank: " --slot-size 32 --held-only --no-causal", with quotes where a shell needs
/// them.
std::string as_flags(const GivenOptions& options);
/// As members of an object.
JsonObject to_json(const GivenOptions& options);
/// Throws ValueError, in the name of `function`, for a number out of range, and for a word that is not known with the
/// nearest right one.
void check_values(const char* function, const GivenOptions& options);
/// The member of an object in a file; nothing if it is missing. Throws ValueError for one of another type or out of
/// range.
std::optional<OptionValue> read_value(const JsonFields& fields, const std::string& object, const OptionInfo& option,
                                      OptionKind kind);

/// An option of a struct.
template <class Options> struct OptionRow : OptionInfo {
  OptionKind kind;
  bool is_enumeration;  // whose words are all that it can be
  std::optional<OptionValue> (*get)(const Options&, const OptionInfo&);
  void (*put)(Options&, const OptionInfo&, const std::optional<OptionValue>&);

  /// Nothing for an optional member that is empty, and only for one.
  std::optional<OptionValue> value(const Options& options) const { return get(options, *this); }
  void set(Options& options, const std::optional<OptionValue>& value) const { put(options, *this, value); }
  void reset(Options& options) const { set(options, value(Options())); }
  /// Whether it differs from the default.
  bool is_given(const Options& options) const { return value(options) != value(Options()); }
};

namespace option_member {

template <class Member> struct Of { using type = Member; };
template <class Value> struct Of<std::optional<Value>> { using type = Value; };
/// A member's type without std::optional.
template <class Member> using Value = typename Of<Member>::type;

template <class Member> constexpr OptionKind kind() {
  if constexpr (std::same_as<Member, bool>) return OptionKind::truth;
  if constexpr (std::integral<Member>) return OptionKind::count;
  return std::floating_point<Member> ? OptionKind::number : OptionKind::word;
}

template <class Member> OptionValue read(const Member& member, const OptionInfo& info) {
  if constexpr (std::is_enum_v<Member>)
    return std::string(info.rules.words()[static_cast<std::size_t>(member)]);
  else if constexpr (std::integral<Member> && !std::same_as<Member, bool>)
    return static_cast<std::int64_t>(member);
  else
    return member;
}

/// A word of an enumeration has to be one of its words.
template <class Member> Member made(const OptionValue& value, const OptionInfo& info) {
  if constexpr (std::is_enum_v<Member>) {
    std::size_t index = 0;
    while (info.rules.words()[index] != std::get<std::string>(value)) ++index;
    return static_cast<Member>(index);
  } else {
    return static_cast<Member>(std::get<static_cast<std::size_t>(kind<Member>())>(value));
  }
}

template <class Options, class Member> Options owner(Member Options::*);
template <auto first, auto... rest> constexpr auto& at(auto& options) {
  if constexpr (sizeof...(rest) == 0)
    return options.*first;
  else
    return at<rest...>(options.*first);
}

}  // namespace option_member

/// The row of a member, or of a member of a member, as &ModelSpec::sizes and &SizeOptions::slots.
template <auto first, auto... rest>
constexpr auto option(std::string_view name, OptionGroup group, std::string_view help, const OptionRules& rules = {}) {
  using Options = decltype(option_member::owner(first));
  using Member = std::remove_cvref_t<decltype(option_member::at<first, rest...>(std::declval<Options&>()))>;
  using Value = option_member::Value<Member>;
  constexpr bool is_optional = !std::same_as<Member, Value>;
  constexpr auto get = [](const Options& options, const OptionInfo& its) -> std::optional<OptionValue> {
    const Member& member = option_member::at<first, rest...>(options);
    if constexpr (is_optional)
      return member ? std::optional(option_member::read(*member, its)) : std::nullopt;
    else
      return option_member::read(member, its);
  };
  constexpr auto put = [](Options& options, const OptionInfo& its, const std::optional<OptionValue>& value) {
    Member& member = option_member::at<first, rest...>(options);
    if constexpr (is_optional)
      member = value ? std::optional(option_member::made<Value>(*value, its)) : std::nullopt;
    else
      member = option_member::made<Value>(value.value(), its);
  };
  return OptionRow<Options>{{name, group, help, rules}, option_member::kind<Value>(), std::is_enum_v<Value>, get, put};
}

template <class Options> using OptionRows = std::span<const OptionRow<Options>>;

/// The options that differ from the default, in the order of their rows.
template <class Options> GivenOptions given_options(OptionRows<Options> rows, const Options& options) {
  GivenOptions given;
  for (const OptionRow<Options>& row : rows)
    if (row.is_given(options)) given.push_back({row, *row.value(options)});
  return given;
}

/// Reads options from the members of `object`, or from the outermost one if that is empty.
template <class Options>
Options options_in(OptionRows<Options> rows, const JsonFields& fields, const std::string& object) {
  Options options;
  for (const OptionRow<Options>& row : rows)
    if (const auto value = read_value(fields, object, row, row.kind)) row.set(options, value);
  return options;
}

}  // namespace retrace
