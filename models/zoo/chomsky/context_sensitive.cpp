// The context-sensitive languages: a machine with a tape as long as its input decides them.
#include <retrace/models/zoo/chomsky/chomsky.h>

#include <retrace/models/tasks/draw_different.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

using Tape = std::span<std::int64_t>;

/// s_1 ... s_n s_1 ... s_n.
void duplicate_string(Random& random, Tape input, Tape answers) {
  draw_evenly(random, 2, input);
  std::ranges::copy(input, std::ranges::copy(input, answers.begin()).out);
}

/// A string and itself again, with "?" in the place of one symbol (and "_" at the end of an odd length): the symbol.
void missing_duplicate(Random& random, Tape input, Tape answers) {
  constexpr std::int64_t missing = 2, blank = 3;
  const std::size_t half = input.size() / 2;
  draw_evenly(random, 2, input.first(half));
  std::ranges::copy(input.first(half), input.begin() + static_cast<std::ptrdiff_t>(half));
  if (input.size() % 2 == 1) input.back() = blank;
  std::int64_t& place = input[static_cast<std::size_t>(random.integer(2 * static_cast<std::int64_t>(half)))];
  answers[0] = place;
  place = missing;
}

/// s_1 s_3 s_5 ... s_2 s_4 s_6 ...
void odds_first(Random& random, Tape input, Tape answers) {
  draw_evenly(random, 2, input);
  std::size_t next = 0;
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}})
    for (std::size_t k = first; k < input.size(); k += 2) answers[next++] = input[k];
}

/// s_1 ... s_n in ascending order.
void bucket_sort(Random& random, Tape input, Tape answers) {
  draw_evenly(random, 5, input);
  std::ranges::copy(input, answers.begin());
  std::ranges::sort(answers);
}

/// Bits of a number above 0, each as likely as the others.
void draw_number(Random& random, Tape bits) {
  do {
    draw_evenly(random, 2, bits);
  } while (std::ranges::count(bits, 1) == 0);
}

struct Operands {
  Tape first, second;
};

/// Two binary numbers above 0, the lowest bit first, with an operator between them.
Operands draw_operands(Random& random, Tape input) {
  constexpr std::int64_t op = 2;
  const auto length = static_cast<std::size_t>(1 + random.integer(std::ssize(input) - 2));
  const Operands drawn{input.first(length), input.subspan(length + 1)};
  draw_number(random, drawn.first), draw_number(random, drawn.second);
  input[length] = op;
  return drawn;
}

/// The number without the zeros above its highest bit, then "end".
void answer_number(const Integers& number, Tape answers) {
  constexpr std::int64_t end = 2;
  std::size_t bits = number.size();
  while (number[bits - 1] == 0) --bits;
  std::copy_n(number.begin(), bits, answers.begin());
  answers[bits] = end;
}

/// number += bits 2^place. The number has room for the sum.
void add(Integers& number, Tape bits, std::size_t place) {
  std::int64_t carry = 0;
  for (std::size_t k = 0; k < bits.size() || carry != 0; ++k) {
    std::int64_t& bit = number[place + k];
    carry += bit + (k < bits.size() ? bits[k] : 0);
    bit = carry % 2;
    carry /= 2;
  }
}

/// a + b: the sum, the lowest bit first.
void binary_addition(Random& random, Tape input, Tape answers) {
  const auto [first, second] = draw_operands(random, input);
  Integers sum(std::max(first.size(), second.size()) + 1);
  add(sum, first, 0), add(sum, second, 0);
  answer_number(sum, answers);
}

/// a * b: the product, the lowest bit first.
void binary_multiplication(Random& random, Tape input, Tape answers) {
  const auto [first, second] = draw_operands(random, input);
  Integers product(first.size() + second.size());
  for (std::size_t k = 0; k < first.size(); ++k)
    if (first[k] == 1) add(product, second, k);
  answer_number(product, answers);
}

void shift_in(Integers& number, std::int64_t lowest) {
  std::copy_backward(number.begin(), number.end() - 1, number.end());
  number.front() = lowest;
}

/// a -= b unless that is below 0. Returns whether it did.
bool subtract(Integers& a, const Integers& b) {
  if (std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend())) return false;
  std::int64_t borrowed = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] -= b[k] + borrowed;
    borrowed = a[k] < 0 ? 1 : 0;
    a[k] += 2 * borrowed;
  }
  return true;
}

/// x > 0, the highest bit first: floor(sqrt(x)), the highest of its ceil(n / 2) bits first. Each two bits of x give one
/// of the root q: with the rest r of them, it is 1 if (2 q) 2 + 1 <= r.
void compute_sqrt(Random& random, Tape input, Tape answers) {
  draw_number(random, input);
  const std::size_t length = input.size(), bits = answers.size();
  Integers root(bits + 3), rest(bits + 3), trial;
  for (std::size_t k = 0; k < bits; ++k) {
    const std::size_t high = 2 * k - length % 2;  // wraps around before the first bit of an odd number of them
    shift_in(rest, high < length ? input[high] : 0);
    shift_in(rest, input[high + 1]);
    trial = root;
    shift_in(trial, 0), shift_in(trial, 1);
    answers[k] = subtract(rest, trial) ? 1 : 0;
    shift_in(root, answers[k]);
  }
}

constexpr std::array tape_rules{
    StringRules{"duplicate-string", "a b", "a b", duplicate_string, [](std::int64_t length) { return 2 * length; }},
    StringRules{"missing-duplicate", "a b ? _", "a b", missing_duplicate, nullptr, 2},
    StringRules{"odds-first", "a b", "a b", odds_first, [](std::int64_t length) { return length; }},
    StringRules{"binary-addition", "0 1 +", "0 1 end", binary_addition, [](std::int64_t length) { return length + 1; },
                3},
    StringRules{"binary-multiplication", "0 1 *", "0 1 end", binary_multiplication,
                [](std::int64_t length) { return length; }, 3},
    StringRules{"compute-sqrt", "0 1", "0 1", compute_sqrt, [](std::int64_t length) { return (length + 1) / 2; }},
    StringRules{"bucket-sort", "0 1 2 3 4", "0 1 2 3 4", bucket_sort, [](std::int64_t length) { return length; }},
};

}  // namespace

std::span<const StringRules> context_sensitive_tasks() { return tape_rules; }

}  // namespace retrace
