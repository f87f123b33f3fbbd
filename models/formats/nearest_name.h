// Suggestions for mistyped names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace retrace {

/// The name with the fewest single-letter changes, insertions and deletions from `word`. `names` is not empty.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);
/// "<function>: there is no <kind> named 'lsmt'; did you mean lstm (known: gru, lstm, rnn)": the text of an error.
std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string_view> names);

}  // namespace retrace
