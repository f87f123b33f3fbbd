// The rules of numbers in options, and the error for a number that breaks one.
#pragma once

#include <limits>
#include <string>

#include <retrace/core/base/error.h>

namespace retrace {

/// The numbers from `min` to `max`; `open` names the end that is excluded, if any. NaN is in no range.
struct NumberRange {
  enum class Open { none, min, max };
  double min, max;
  Open open = Open::none;

  bool contains(double value) const {
    return (open == Open::min ? value > min : value >= min) && (open == Open::max ? value < max : value <= max);
  }
  /// In words: "from 0 to below 1", "above 0", "a number of 0 or more", "a finite number".
  std::string rule() const;
};

/// Ranges that many options share; above_0 includes infinity.
///@{
inline constexpr NumberRange any_number{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
inline constexpr NumberRange not_negative{0, std::numeric_limits<double>::max()};
inline constexpr NumberRange above_0{0, std::numeric_limits<double>::infinity(), NumberRange::Open::min};
inline constexpr NumberRange from_0_to_1{0, 1};
inline constexpr NumberRange from_0_to_below_1{0, 1, NumberRange::Open::max};
///@}

/// Throws the ValueError of check_number.
[[noreturn]] void throw_outside(const char* owner, const char* option, const std::string& value,
                                const NumberRange& range, const char* remedy);

/// Throws ValueError unless the range contains the value of an option: "AdamOptions: b1 is 1; it has to be from 0 to
/// below 1, such as 0.9", where the owner of the option is a class or a function, and the remedy may be left out.
template <class Number>
void check_number(const char* owner, const char* option, Number value, const NumberRange& range,
                  const char* remedy = "") {
  if (!range.contains(static_cast<double>(value))) [[unlikely]]
    throw_outside(owner, option, text(value), range, remedy);
}

}  // namespace retrace
