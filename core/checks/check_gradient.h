// Checks gradients of code that knows no tensors: plain functions of arrays of doubles, with the gradients that their
// author wrote by hand, or got from another program.
//
//   std::vector<double> f(std::span<const double> x);
//   std::vector<double> vjp(std::span<const double> x, std::span<const double> dy);  // J^T dy
//   std::cout << check_gradient(f, vjp, std::vector{0.5, -1.0, 2.0});
//
// The check is that of gradcheck() without its exact part, since dual numbers cannot run through this code: a random
// cotangent, extrapolated central differences of every element, all errors relative to the gradient itself.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <retrace/core/checks/gradcheck_result.h>

namespace retrace {

/// Doubles one after the other: std::vector, std::array, std::span, a dense matrix of Eigen, Blaze or Armadillo.
template <class Array>
concept DoubleArray = requires(const Array& array) {
  { array.size() } -> std::convertible_to<std::size_t>;
  { array.data() } -> std::convertible_to<const double*>;
};

namespace detail {

using PlainNumbers = std::vector<double>;
using PlainValue = std::function<PlainNumbers(std::span<const double> x)>;
using PlainVjp = std::function<PlainNumbers(std::span<const double> x, std::span<const double> dy)>;
/// `results` is the size of f(x).
GradcheckResult check_plain(const PlainValue& f, const PlainVjp& vjp, const PlainNumbers& x, std::size_t results,
                            const GradcheckOptions& options);

PlainNumbers plain_numbers(const auto& numbers) {
  if constexpr (std::convertible_to<decltype(numbers), double>)
    return {static_cast<double>(numbers)};
  else
    return {numbers.data(), numbers.data() + numbers.size()};
}

/// These numbers in an array like that one, with its sizes.
template <class Array> Array array_like(const Array& array, std::span<const double> numbers) {
  if constexpr (std::convertible_to<Array, double>) {
    return static_cast<Array>(numbers[0]);
  } else {
    Array result = array;
    std::copy(numbers.begin(), numbers.end(), result.data());
    return result;
  }
}

template <class Numbers>
concept PlainResult = std::convertible_to<Numbers, double> || DoubleArray<Numbers>;

}  // namespace detail

/// Checks vjp, which computes J^T dy for J, the Jacobian of f at x. Elements are counted as they lie in memory.
///
/// f gives an array or one double. Both functions take spans (std::span<const double>) or, if they do not take these,
/// arrays of the types of x and of f(x), so that functions of Eigen's vectors and matrices need no wrapper. If f gives
/// one double, vjp may also take x only, and is then its gradient.
///
/// Throws ValueError as gradcheck() does, for a second order, and where f or vjp gives another number of elements than
/// f(x) or x has. Exceptions of f and vjp pass through.
template <class F, class Vjp, DoubleArray X>
GradcheckResult check_gradient(const F& f, const Vjp& vjp, const X& x, const GradcheckOptions& options = {}) {
  using Span = std::span<const double>;
  constexpr bool takes_spans = std::is_invocable_v<const F&, Span>;
  const auto value = [&](Span at) {
    if constexpr (takes_spans)
      return std::invoke(f, at);
    else
      return std::invoke(f, detail::array_like(x, at));
  };
  using Y = std::decay_t<decltype(value(Span()))>;
  static_assert(detail::PlainResult<Y>,
                "f gives a double or an array with data() and size(), not an expression of one");
  const detail::PlainNumbers numbers = detail::plain_numbers(x);
  const Y y = value(numbers);
  const auto pull_back = [&](Span at, Span dy) -> detail::PlainNumbers {
    if constexpr (std::is_invocable_v<const Vjp&, Span, Span>) {
      return detail::plain_numbers(std::invoke(vjp, at, dy));
    } else if constexpr (std::is_invocable_v<const Vjp&, Span, Y>) {
      return detail::plain_numbers(std::invoke(vjp, at, detail::array_like(y, dy)));
    } else if constexpr (std::is_invocable_v<const Vjp&, X, Y>) {
      return detail::plain_numbers(std::invoke(vjp, detail::array_like(x, at), detail::array_like(y, dy)));
    } else {
      static_assert(std::convertible_to<Y, double>, "vjp takes x and a cotangent of the type of f(x)");
      const auto gradient = [&] {
        if constexpr (std::is_invocable_v<const Vjp&, Span>)
          return detail::plain_numbers(std::invoke(vjp, at));
        else
          return detail::plain_numbers(std::invoke(vjp, detail::array_like(x, at)));
      };
      detail::PlainNumbers result = gradient();
      for (double& number : result) number *= dy[0];
      return result;
    }
  };
  return detail::check_plain([&](Span at) { return detail::plain_numbers(value(at)); }, pull_back, numbers,
                             detail::plain_numbers(y).size(), options);
}

}  // namespace retrace
