// An expression that has been read: a list of steps, each of which uses results of earlier ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/study/expression/expression_error.h>
#include <retrace/models/study/expression/op_table.h>

namespace retrace::expressions {

struct Step {
  enum class Kind { number, word, quoted, none, input, negative, arithmetic, call, list, positions, item, member };
  static constexpr std::ptrdiff_t absent = -1;

  Kind kind = Kind::none;
  TextPart place = {};  // what an error in this step is about
  double number = 0;
  std::string_view word = {};                 // one of a parameter's words
  char sign = 0;                              // of arithmetic: + - * /
  const ExpressionOp* op = nullptr;           // of a call
  std::string member = {};                    // of the results of a call; a quoted text
  std::size_t input = 0;                      // its number
  std::vector<std::ptrdiff_t> operands = {};  // earlier steps; absent: the default of that parameter
  std::string name = {};                      // that the expression gives this step
};

struct Program {
  std::string source;
  std::vector<std::string> inputs;     // in the order of their first use
  std::vector<TextPart> input_places;  // of the first use
  std::vector<Step> steps;
  std::size_t result = 0;  // the step
};

/// Throws ExpressionError.
Program parsed(std::string_view source);

}  // namespace retrace::expressions
