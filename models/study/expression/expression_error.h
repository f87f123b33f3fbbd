// An error in an expression, with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <retrace/core/base/error.h>

namespace retrace {

/// A part of a text, in bytes.
struct TextPart {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// An expression that cannot be read or computed. The message ends with the line of the text and a caret below the
/// place:
///   expression: there is no op named 'sofmax'; did you mean softmax
///     sofmax(x)
///     ^~~~~~
class ExpressionError : public ValueError {
 public:
  ExpressionError(const std::string& message, std::string_view source, TextPart place);
  /// The part of the expression that the error is about.
  TextPart place() const { return place_; }

 private:
  TextPart place_;
};

}  // namespace retrace
