// Functions over arrays of floats or doubles, a vector at a time; the plain twins are the functions `value` and `slope`
// of the ops. relu is exact, add_rows rounds each sum; the others are within four units in the last place over the
// whole range (gelu and silu: see their tests), and right at its ends. An element's bits do not depend on its place in
// the array.
//
// To add a function: give it a line in MapKernels and one in elementwise_isa.cpp, which says what it does to a vector.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrace::kernels {

/// y[k] = f(x[k]) for k in [0, count). y may be x.
template <class T> using MapFunction = void(const T* x, T* y, std::int64_t count);

/// As MapFunction, and slope[k] = f'(x[k]) unless slope is null.
template <class T> using MapWithSlopeFunction = void(const T* x, T* y, T* slope, std::int64_t count);

/// dx[k] = (or += with `add`) dy[k] f'(x[k]), the slope being, or found from, what was saved. dx may be dy.
template <class T> using MapGradientFunction = void(const T* saved, const T* dy, T* dx, std::int64_t count, bool add);

/// y[k] = f(x[k]), and a bit for each element of y that is positive, in an order of the instruction set's own. There is
/// room for 8 words for every 512 elements, or part of them.
template <class T> using MapWithBitsFunction = void(const T* x, T* y, std::uint64_t* bits, std::int64_t count);

/// dx[k] = (or += with `add`) dy[k], or 0 where the bit of k is not set. dx may be dy.
template <class T>
using BitsGradientFunction = void(const std::uint64_t* bits, const T* dy, T* dx, std::int64_t count, bool add);

/// y[c] = y[c] + x[0, c] + x[1, c] + ..., in this order.
template <class T>
using AddRowsFunction = void(const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* y);

/// The kernels for one type, of one instruction set.
template <class T> struct MapKernels {
  MapFunction<T>* relu;
  MapFunction<T>* exp;
  MapFunction<T>* tanh;
  MapFunction<T>* log;
  MapFunction<T>* silu;
  MapWithSlopeFunction<T>* sigmoid;  // its slope, too, is full in both tails
  MapWithSlopeFunction<T>* softplus;
  MapWithSlopeFunction<T>* log_sigmoid;
  MapWithSlopeFunction<T>* gelu;          // null for double, as the next
  MapWithSlopeFunction<T>* gelu_tanh;     // see ops/gelu.cpp
  MapGradientFunction<T>* by_slope;       // the slope itself was saved
  MapGradientFunction<T>* relu_gradient;  // y was
  MapGradientFunction<T>* tanh_gradient;  // y was
  MapGradientFunction<T>* silu_gradient;  // x was
  AddRowsFunction<T>* add_rows;
  MapWithBitsFunction<T>* relu_with_bits;
  BitsGradientFunction<T>* relu_gradient_by_bits;
};
/// The kernels of this machine.
template <class T>
requires std::is_floating_point_v<T>
const MapKernels<T>& map_kernels();

template <class T> void add_rows(const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* y) {
  if constexpr (std::is_floating_point_v<T>)
    map_kernels<T>().add_rows(x, row_stride, rows, columns, y);
  else
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) y[column] += x[row * row_stride + column];
}

}  // namespace retrace::kernels
