// Solvers of the tasks on strings, which share no code with the library's. Numbers have up to 64 bits, but where a
// function says more.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

using Words = std::vector<std::string>;

/// The digits of a sum or product of + - * with brackets and leading minus signs, read by recursive descent. `x`
/// stands for the digit `unknown`.
class Parser {
 public:
  Parser(const Words& words, int unknown = 0) : words_(words), unknown_(unknown) {}
  int value() {
    const int result = sum();
    EXPECT_EQ(next_, words_.size()) << "something follows the expression";
    return ((result % 5) + 5) % 5;
  }

 private:
  bool take(const char* word) {
    if (next_ == words_.size() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  int sum() {
    int result = product();
    for (;;)
      if (take("+"))
        result = (result + product()) % 5;
      else if (take("-"))
        result = (result - product()) % 5;
      else
        return result;
  }
  int product() {
    int result = factor();
    while (take("*")) result = result * factor() % 5;
    return result;
  }
  int factor() {
    if (take("-")) return -factor();
    if (take("(")) {
      const int inside = sum();
      EXPECT_TRUE(take(")"));
      return inside;
    }
    if (take("x")) return unknown_;
    EXPECT_LT(next_, words_.size());
    return std::stoi(words_[next_++]);
  }

  const Words& words_;
  int unknown_;
  std::size_t next_ = 0;
};

inline std::string joined(const Words& words) { return std::accumulate(words.begin(), words.end(), std::string()); }

inline std::uint64_t number_of(Words bits, bool lowest_first) {
  if (lowest_first) std::ranges::reverse(bits);
  return std::accumulate(bits.begin(), bits.end(), std::uint64_t{0},
                         [](std::uint64_t number, const std::string& bit) { return 2 * number + (bit == "1"); });
}

inline Words bits_of(std::uint64_t number, std::size_t count) {
  Words bits(count);
  for (std::size_t k = 0; k < count; ++k) bits[count - 1 - k] = (number >> k & 1) != 0 ? "1" : "0";
  return bits;
}

/// The number without leading zeros, the lowest bit first, and its end.
inline Words lowest_first(std::uint64_t number) {
  Words bits;
  for (; number != 0; number /= 2) bits.push_back(number % 2 == 1 ? "1" : "0");
  bits.push_back("end");
  return bits;
}

inline Words on_both_sides(const Words& words, const std::string& op,
                           const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& f) {
  const auto place = std::ranges::find(words, op);
  const Words left(words.begin(), place), right(place + 1, words.end());
  EXPECT_GT(number_of(left, true), 0U);
  EXPECT_GT(number_of(right, true), 0U);
  return lowest_first(f(number_of(left, true), number_of(right, true)));
}

inline Words stack_after(const Words& words) {
  Words stack;
  for (const std::string& word : words) {
    if (word == "pop") {
      if (!stack.empty()) stack.pop_back();
    } else {
      stack.push_back(word.substr(word.size() - 1));
    }
  }
  std::ranges::reverse(stack);
  stack.push_back("end");
  return stack;
}

inline Words solution_of(const Words& words) {
  const auto sign = std::ranges::find(words, "=");
  const Words left(words.begin(), sign), right(sign + 1, words.end());
  Words solutions;
  for (int digit = 0; digit < 5; ++digit)
    if (Parser(left, digit).value() == std::stoi(right.front())) solutions.push_back(std::to_string(digit));
  return solutions;  // exactly one
}

inline Words missing_of(Words words) {
  if (words.size() % 2 == 1) {
    EXPECT_EQ(words.back(), "_");
    words.pop_back();
  }
  const auto half = words.size() / 2;
  Words found;
  for (std::size_t k = 0; k < half; ++k) {
    if (words[k] == words[k + half]) continue;
    EXPECT_TRUE(words[k] == "?" || words[k + half] == "?");
    found.push_back(words[k] == "?" ? words[k + half] : words[k]);
  }
  return found;
}

inline Words root_of(const Words& words) {
  const std::uint64_t number = number_of(words, false);
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<long double>(number)));
  while (root * root > number) --root;
  while ((root + 1) * (root + 1) <= number) ++root;
  return bits_of(root, (words.size() + 1) / 2);
}

inline Words odds_before_evens(const Words& words) {
  Words odd, even;
  for (std::size_t k = 0; k < words.size(); ++k) (k % 2 == 0 ? odd : even).push_back(words[k]);
  odd.insert(odd.end(), even.begin(), even.end());
  return odd;
}

inline std::string place_after(const Words& words) {
  int place = 0;
  for (const std::string& word : words) place += std::stoi(word);
  return std::to_string((place % 5 + 5) % 5);
}

inline Words twice(Words words) {
  const Words once = words;
  words.insert(words.end(), once.begin(), once.end());
  return words;
}

inline const std::map<std::string_view, std::function<Words(Words)>> solvers{
    {"even-pairs", [](const Words& words) { return Words{words.front() == words.back() ? "yes" : "no"}; }},
    {"parity-check", [](const Words& words) { return Words{std::ranges::count(words, "b") % 2 == 0 ? "yes" : "no"}; }},
    {"cycle-navigation", [](const Words& words) { return Words{place_after(words)}; }},
    {"modular-arithmetic-simple", [](const Words& words) { return Words{std::to_string(Parser(words).value())}; }},
    {"modular-arithmetic-brackets", [](const Words& words) { return Words{std::to_string(Parser(words).value())}; }},
    {"stack-manipulation", stack_after},
    {"reverse-string", [](const Words& words) { return Words(words.rbegin(), words.rend()); }},
    {"solve-equation", solution_of},
    {"duplicate-string", twice},
    {"missing-duplicate", missing_of},
    {"odds-first", odds_before_evens},
    {"binary-addition", [](const Words& words) { return on_both_sides(words, "+", std::plus<>()); }},
    {"binary-multiplication", [](const Words& words) { return on_both_sides(words, "*", std::multiplies<>()); }},
    {"compute-sqrt", root_of},
    {"bucket-sort", [](Words words) {
       std::ranges::sort(words);
       return words;
     }}};

// ---- numbers of any length

/// Bits of a product, lowest first, by columns.
inline Words product_by_columns(const Words& a, const Words& b) {
  std::vector<int> columns(a.size() + b.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k) columns[i + k] += a[i] == "1" && b[k] == "1" ? 1 : 0;
  for (std::size_t k = 0; k + 1 < columns.size(); ++k) columns[k + 1] += columns[k] / 2, columns[k] %= 2;
  Words bits;
  for (const int column : columns) bits.push_back(std::to_string(column));
  while (!bits.empty() && bits.back() == "0") bits.pop_back();
  return bits;
}

/// -1, 0 or 1: numbers without leading zeros, lowest bit first.
inline int compare(const Words& a, const Words& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t k = a.size(); k-- > 0;)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

inline Words without_zeros(Words bits) {
  while (!bits.empty() && bits.back() == "0") bits.pop_back();
  return bits;
}

}  // namespace retrace
