// The words, numbers and signs of an expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/study/expression/expression_error.h>

namespace retrace::expressions {

struct Token {
  enum class Kind { number, name, quoted, sign, end };
  Kind kind = Kind::end;
  std::string_view text = {};  // of the source, which outlives it; what stands between quotes
  TextPart place = {};
  double number = 0;
};

/// The tokens of the source, and one of kind `end`. Throws ExpressionError for a character that no expression has and
/// for a number that is too large, and for a quote that is never closed.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace retrace::expressions
