// The deterministic context-free languages: a machine with a stack decides them.
#include <retrace/models/zoo/chomsky/chomsky.h>

#include <retrace/models/tasks/draw_different.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

using Places = std::span<std::int64_t>;

/// A stack of bits, from the bottom up, then pop, push-0 and push-1; a pop of an empty stack does nothing. The answer
/// is the stack from the top down, then "end".
void stack_manipulation(Random& random, Places input, Places answers) {
  constexpr std::int64_t pop = 2, end = 2, pushed_0 = 3;
  const std::int64_t length = std::ssize(input), initial = length == 1 ? 1 : 1 + random.integer(length - 1);
  Integers stack;
  stack.reserve(input.size());
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t symbol = k < initial ? random.integer(2) : pop + random.integer(3);
    input[static_cast<std::size_t>(k)] = symbol;
    if (symbol != pop)
      stack.push_back(symbol < pop ? symbol : symbol - pushed_0);
    else if (!stack.empty())
      stack.pop_back();
  }
  std::reverse_copy(stack.begin(), stack.end(), answers.begin());
  answers[stack.size()] = end;
}

/// s_n ... s_1.
void reverse_string(Random& random, Places input, Places answers) {
  draw_evenly(random, 2, input);
  std::reverse_copy(input.begin(), input.end(), answers.begin());
}

// Symbols of expressions: the digits 0 to 4, then these.
constexpr std::int64_t modulus = 5, plus = 5, minus = 6, opening = 7, closing = 8, times = 9, unknown = 9, equals = 10;

/// Draws an expression of the length of `place`: d, -d, (d), (-d) or (expression op expression). Returns its value
/// modulo 5.
std::int64_t draw_expression(Random& random, Places place, std::int64_t ops) {
  const std::int64_t length = std::ssize(place);
  if (length == 3 || length == 4) {
    place.front() = opening, place.back() = closing;
    return draw_expression(random, place.subspan(1, place.size() - 2), ops);
  }
  if (length <= 2) {
    const std::int64_t digit = random.integer(modulus);
    place.back() = digit;
    if (length == 2) place.front() = minus;
    return length == 2 ? (modulus - digit) % modulus : digit;
  }
  const auto left_length = static_cast<std::size_t>(1 + random.integer(length - 4));
  const std::int64_t left = draw_expression(random, place.subspan(1, left_length), ops);
  const std::int64_t right =
      draw_expression(random, place.subspan(left_length + 2, place.size() - left_length - 3), ops);
  const std::int64_t op = random.integer(ops);
  place.front() = opening, place.back() = closing;
  place[left_length + 1] = op == 0 ? plus : op == 1 ? minus : times;
  return (op == 0 ? left + right : op == 1 ? left + modulus - right : left * right) % modulus;
}

/// An expression of + - * with brackets: its value modulo 5.
void modular_arithmetic_brackets(Random& random, Places input, Places answers) {
  answers[0] = draw_expression(random, input, 3);
}

/// An expression of + - with brackets, in which a digit is x, = and its value modulo 5: the digit.
void solve_equation(Random& random, Places input, Places answers) {
  const Places expression = input.first(input.size() - 2);
  input[input.size() - 2] = equals;
  input.back() = draw_expression(random, expression, 2);
  auto place = static_cast<std::size_t>(random.integer(std::ssize(expression)));
  while (expression[place] >= modulus) place = (place + 1) % expression.size();
  answers[0] = expression[place];
  expression[place] = unknown;
}

constexpr std::array stack_rules{
    StringRules{"stack-manipulation", "0 1 pop push-0 push-1", "0 1 end", stack_manipulation,
                [](std::int64_t length) { return length + 1; }},
    StringRules{"reverse-string", "a b", "a b", reverse_string, [](std::int64_t length) { return length; }},
    StringRules{"modular-arithmetic-brackets", "0 1 2 3 4 + - ( ) *", "0 1 2 3 4", modular_arithmetic_brackets},
    StringRules{"solve-equation", "0 1 2 3 4 + - ( ) x =", "0 1 2 3 4", solve_equation, nullptr, 3},
};

}  // namespace

std::span<const StringRules> context_free_tasks() { return stack_rules; }

}  // namespace retrace
