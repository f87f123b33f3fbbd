// Arguments of the rows that rotary positions turn.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrace {

/// Cosines and sines; those beside dual numbers are f64.
template <class T> using Turn = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// Turns the pairs (a, b) of every head of `rows` rows: y = or, with `add`, += (a cos m - b sin m, a sin m + b cos m),
/// where m, or -m if `backwards`, is the angle of the row's step. The first row is one of step `first`; the row after
/// that of the last of `time` steps is one of step 0. x and y [rows, heads, 2 pairs] are two arrays.
template <class T> struct TurnedRows {
  const T* x;
  T* y;
  std::int64_t rows, first, time, heads, pairs;
  const Turn<T>* turns;  // [2, time, 2 pairs]: cos m of each feature; -sin m of an a, sin m of a b
  bool halves;           // a pair is features i and i + pairs of a head; otherwise, 2 i and 2 i + 1
  bool backwards, add;
};

namespace plain {
template <class T> void turn_rows(const TurnedRows<T>& args);
}  // namespace plain

}  // namespace retrace
