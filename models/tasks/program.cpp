#include <retrace/models/tasks/program.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr char operand_mark = '#', comparison_mark = '?', digit_mark = '@';
constexpr std::int64_t parentheses = 2;

std::int64_t operands_of(ProgramOp op) { return std::ranges::count(pattern_of(op), operand_mark); }

std::int64_t power_of_ten(std::int64_t exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

void append_number(Characters& code, std::int64_t number) {
  const auto begin = std::ssize(code);
  for (; number > 0; number /= 10) code.push_back(static_cast<char>('0' + number % 10));
  std::reverse(code.begin() + begin, code.end());
}

struct Choices {
  bool less;           // of the comparison
  std::int64_t times;  // of the loop
};

ProgramValue apply(ProgramOp op, const std::array<ProgramValue, 4>& operands, Choices choices) {
  const auto [a, b, c, d] = operands;
  switch (op) {
    case ProgramOp::sum:
      return a + b;
    case ProgramOp::difference:
      return a - b;
    case ProgramOp::product:
      return a * b;
    case ProgramOp::condition:
      return (choices.less ? b < c : b > c) ? a : d;
    case ProgramOp::loop:
      break;
  }
  return a + choices.times * b;
}

}  // namespace

std::string_view pattern_of(ProgramOp op) {
  switch (op) {
    case ProgramOp::sum:
      return "#+#";
    case ProgramOp::difference:
      return "#-#";
    case ProgramOp::product:
      return "#*#";
    case ProgramOp::condition:
      return "#if#?#else#";
    case ProgramOp::loop:
      break;
  }
  return "x=#for[@]x+=#";
}

std::int64_t longest_program(std::span<const ProgramOp> ops, std::int64_t length, std::int64_t nesting) {
  std::int64_t first = 0, each = 0;  // characters of the first op, and those that another adds
  for (const ProgramOp op : ops) {
    const std::int64_t signs = std::ssize(pattern_of(op)) - operands_of(op);
    first = std::max(first, signs + operands_of(op) * length);
    each = std::max(each, signs + (operands_of(op) - 1) * length + parentheses);
  }
  return first + (nesting - 1) * each;
}

std::int64_t floor_mod(ProgramValue value, std::int64_t modulus) {
  const auto remainder = static_cast<std::int64_t>(value % modulus);
  return remainder < 0 ? remainder + modulus : remainder;
}

void Program::draw(Random& random, std::span<const ProgramOp> ops, std::int64_t length, std::int64_t nesting) {
  for (std::int64_t depth = 0; depth < nesting; ++depth)
    wrap_in(random, ops[static_cast<std::size_t>(random.integer(std::ssize(ops)))], length, depth == 0);
}

void Program::wrap_in(Random& random, ProgramOp op, std::int64_t length, bool is_first) {
  inner_.swap(code_);
  code_.clear();
  const Choices choices{.less = random.chance(0.5), .times = 1 + random.integer(9)};
  const std::int64_t smallest = power_of_ten(length - 1);
  std::array<ProgramValue, 4> operands{};
  std::size_t operand = 0;
  for (const char sign : pattern_of(op)) {
    if (sign == comparison_mark) {
      code_.push_back(choices.less ? '<' : '>');
    } else if (sign == digit_mark) {
      append_number(code_, choices.times);
    } else if (sign != operand_mark) {
      code_.push_back(sign);
    } else {
      const bool is_inner = operand == 0 && !is_first;
      ProgramValue& value = operands[operand++];
      if (is_inner) {
        value = value_;
        code_.push_back('(');
        code_.insert(code_.end(), inner_.begin(), inner_.end());
        code_.push_back(')');
      } else {
        const std::int64_t number = smallest + random.integer(9 * smallest);
        value = number;
        append_number(code_, number);
      }
    }
  }
  value_ = apply(op, operands, choices);
}

}  // namespace retrace
