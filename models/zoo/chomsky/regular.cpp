// The regular languages: a machine with a few states decides them.
#include <retrace/models/zoo/chomsky/chomsky.h>

#include <array>

namespace retrace {
namespace {

using Symbols = std::span<std::int64_t>;

/// yes (1) if the number of pairs ab and ba, of neighbours that differ, is even: if the first and the last symbol are
/// the same.
void even_pairs(Random& random, Symbols input, Symbols answers) {
  draw_evenly(random, 2, input);
  std::int64_t changes = 0;
  for (std::size_t k = 1; k < input.size(); ++k) changes += input[k] != input[k - 1] ? 1 : 0;
  answers[0] = 1 - changes % 2;
}

/// yes (1) if the number of b is even.
void parity_check(Random& random, Symbols input, Symbols answers) {
  draw_evenly(random, 2, input);
  std::int64_t count = 0;
  for (const std::int64_t symbol : input) count += symbol;
  answers[0] = 1 - count % 2;
}

/// Steps left (-1), none (0) or right (+1) on a cycle of five places from place 0: the last place.
void cycle_navigation(Random& random, Symbols input, Symbols answers) {
  draw_evenly(random, 3, input);
  std::int64_t place = 0;
  for (const std::int64_t symbol : input) place = (place + symbol + 4) % 5;
  answers[0] = place;
}

/// d_1 o_1 d_2 ... d_k with digits of 0 to 4 and o of + - *, products first: the value modulo 5.
void modular_arithmetic(Random& random, Symbols input, Symbols answers) {
  constexpr std::int64_t digits = 5, minus_sign = 6, times_sign = 7;
  std::int64_t sum = 0, term = 0;
  for (std::size_t k = 0; k < input.size(); k += 2) {
    const std::int64_t op = k == 0 ? digits : digits + random.integer(3), digit = random.integer(digits);
    input[k] = digit;
    if (k > 0) input[k - 1] = op;
    if (op == times_sign) {
      term = term * digit % digits;
      continue;
    }
    sum += term;
    term = op == minus_sign ? digits - digit : digit;
  }
  answers[0] = (sum + term) % digits;
}

constexpr std::array finite_state_rules{
    StringRules{"even-pairs", "a b", "no yes", even_pairs},
    StringRules{"modular-arithmetic-simple", "0 1 2 3 4 + - *", "0 1 2 3 4", modular_arithmetic, nullptr, 1, true},
    StringRules{"parity-check", "a b", "no yes", parity_check},
    StringRules{"cycle-navigation", "-1 0 +1", "0 1 2 3 4", cycle_navigation},
};

}  // namespace

std::span<const StringRules> regular_tasks() { return finite_state_rules; }

}  // namespace retrace
