// The operators that `mutate.py` puts in the place of the program's own. Each does what the one that it replaces did,
// unless the environment variable RETRACE_MUTANT has its number.
//
// a + sum<7> + b has the precedence and the order of a + b, so nothing needs to be parsed: `a + sum<7>` remembers a.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

namespace mutant {

constexpr int max_mutants = 32768;
inline unsigned char reached[max_mutants];

/// Writes the mutants that were reached to the file that RETRACE_REACHED names, when the program ends.
struct Report {
  ~Report() {
    const char* const path = std::getenv("RETRACE_REACHED");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    for (int number = 0; number < max_mutants; ++number)
      if (reached[number]) std::fprintf(file, "%d\n", number);
    std::fclose(file);
  }
};
inline const Report report;

inline const int chosen = std::getenv("RETRACE_MUTANT") != nullptr ? std::atoi(std::getenv("RETRACE_MUTANT")) : -1;

[[gnu::always_inline]] constexpr bool on(int number) {
  if (std::is_constant_evaluated()) return false;
  reached[number] = 1;
  return chosen == number;
}

template <class Result, class Value> [[gnu::always_inline]] constexpr Result as(Value&& value) {
  if constexpr (std::is_convertible_v<Value, Result>)
    return Result(std::forward<Value>(value));
  else
    return Result{} + value;  // a number where a vector is needed
}

template <int number, class Operation, class A> struct Left { A a; };

/// A whole number as the element type of the vector that it is combined with, to which only a literal converts by
/// itself.
template <class Other, class Value> [[gnu::always_inline]] constexpr auto combined_with(Value value) {
  if constexpr (std::is_integral_v<Value> && !std::is_class_v<Other> && !std::is_pointer_v<Other> &&
                requires(Other vector) { vector[0]; })
    return std::decay_t<decltype(std::declval<Other>()[0])>(value);
  else
    return value;
}

// RETRACE_MUTANT_SWITCH(name, op): name<7>, and the left side that `a op name<7>` remembers.
#define RETRACE_MUTANT_SWITCH(name, op)                                                                      \
  template <int number> struct name##_of {};                                                                 \
  template <int number> inline constexpr name##_of<number> name{};                                           \
  struct name##_operation {};                                                                                \
  template <int number, class A> [[gnu::always_inline]] constexpr auto operator op(A a, name##_of<number>) { \
    return Left<number, name##_operation, A>{a};                                                             \
  }

// RETRACE_MUTANT_OPERATOR(name, op, other): a op b, or a other b, or a, or b; of a pointer, instead of these two, one
// more or less.
#define RETRACE_MUTANT_OPERATOR(name, op, other)                                                       \
  RETRACE_MUTANT_SWITCH(name, op)                                                                      \
  template <int number, class A, class B>                                                              \
  [[gnu::always_inline]] constexpr auto operator op(Left<number, name##_operation, A> left, B right) { \
    const auto a = combined_with<B>(left.a);                                                           \
    const auto b = combined_with<A>(right);                                                            \
    using Result = std::decay_t<decltype(a op b)>;                                                     \
    if (on(number)) return as<Result>(a other b);                                                      \
    if constexpr (std::is_pointer_v<Result> || std::is_pointer_v<A>) {                                 \
      if (on(number + 1)) return Result(a op b + 1);                                                   \
      if (on(number + 2)) return Result(a op b - 1);                                                   \
    } else {                                                                                           \
      if (on(number + 1)) return as<Result>(a);                                                        \
      if (on(number + 2)) return as<Result>(b);                                                        \
    }                                                                                                  \
    return Result(a op b);                                                                             \
  }
RETRACE_MUTANT_OPERATOR(sum, +, -)
RETRACE_MUTANT_OPERATOR(difference, -, +)
RETRACE_MUTANT_OPERATOR(product, *, +)
RETRACE_MUTANT_OPERATOR(quotient, /, *)
#undef RETRACE_MUTANT_OPERATOR

// RETRACE_MUTANT_COMPARISON(name, op, other, contrary): a op b, or a other b (where that is another operator), or
// a contrary b.
#define RETRACE_MUTANT_COMPARISON(name, op, other, contrary)                                           \
  RETRACE_MUTANT_SWITCH(name, op)                                                                      \
  template <int number, class A, class B>                                                              \
  [[gnu::always_inline]] constexpr auto operator op(Left<number, name##_operation, A> left, B right) { \
    const auto a = combined_with<B>(left.a);                                                           \
    const auto b = combined_with<A>(right);                                                            \
    if (on(number)) return a contrary b;                                                               \
    if constexpr (std::string_view(#op) != #other)                                                     \
      if (on(number + 1)) return a other b;                                                            \
    return a op b;                                                                                     \
  }
RETRACE_MUTANT_COMPARISON(less, <, <=, >=)
RETRACE_MUTANT_COMPARISON(greater, >, >=, <=)
RETRACE_MUTANT_COMPARISON(less_equal, <=, <, >)
RETRACE_MUTANT_COMPARISON(greater_equal, >=, >, <)
RETRACE_MUTANT_COMPARISON(equal, ==, ==, !=)
RETRACE_MUTANT_COMPARISON(not_equal, !=, !=, ==)
#undef RETRACE_MUTANT_COMPARISON
#undef RETRACE_MUTANT_SWITCH

/// negation<7>->*a is -a, or a. (->* binds more tightly than a product.)
template <int number> struct negation_of {};
template <int number> inline constexpr negation_of<number> negation{};
template <int number, class A> [[gnu::always_inline]] constexpr auto operator->*(negation_of<number>, A&& a) {
  using Result = std::decay_t<decltype(-a)>;
  return on(number) ? Result(a) : Result(-a);
}

/// to<7>(a) += b is a += b, or a = b, or a -= b; the others alike.
template <int number, class A> struct Assigned {
  A& a;
  template <class B> [[gnu::always_inline]] constexpr A& operator+=(B&& b) {
    if (on(number)) return a = as<A>(b);
    if (on(number + 1)) return a -= b;
    return a += b;
  }
  template <class B> [[gnu::always_inline]] constexpr A& operator-=(B&& b) {
    if (on(number)) return a = as<A>(-b);
    if (on(number + 1)) return a += b;
    return a -= b;
  }
  template <class B> [[gnu::always_inline]] constexpr A& operator*=(B&& b) {
    if (on(number)) return a = as<A>(b);
    if (on(number + 1)) return a;
    return a *= b;
  }
  template <class B> [[gnu::always_inline]] constexpr A& operator/=(B&& b) {
    if (on(number)) return a *= b;
    if (on(number + 1)) return a;
    return a /= b;
  }
};
template <int number, class A> [[gnu::always_inline]] constexpr Assigned<number, A> to(A& a) { return {a}; }

/// A literal, or one more.
template <int number, class A> [[gnu::always_inline]] constexpr A literal(A a) { return on(number) ? A(a + A(1)) : a; }

}  // namespace mutant
