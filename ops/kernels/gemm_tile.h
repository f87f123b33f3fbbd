// The register tile of the fast GEMM, compiled once for each instruction set (see isa.h and gemm_isa.cpp).
#pragma once

#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

using Index = std::int64_t;

constexpr int tile_rows = 6;
constexpr int tile_vectors = vector_registers == 32 ? 4 : 2;
template <class T>
constexpr Index tile_columns = Index{tile_vectors} * lanes<T>;

/// Element (row, column) of a factor is data[row * row_step + column * column_step]. One of the steps is 1. A factor
/// without elements (k = 0) may be without data.
template <class T>
struct View {
  const T* data;
  Index row_step, column_step;
  View from(Index row, Index column) const {
    return {data == nullptr ? nullptr : data + row * row_step + column * column_step, row_step, column_step};
  }
};

/// What a tile starts from: rows of C, a bias (row_step 0) or, without data, zero.
template <class T>
struct Start {
  const T* data;
  Index row_step;
  Start from(Index row, Index column) const {
    return {data == nullptr ? nullptr : data + row * row_step + column, row_step};
  }
};

/// One register tile: c (Rows x columns) = start + a b over `depth` steps. Each row of b holds Vectors whole vectors;
/// of the rows of c the last vector may be cut short.
template <class T, int Rows, int Vectors, bool PackedA>
void multiply_tile(Index depth, View<T> a, const T* b, Index b_step, Start<T> start, T* c, Index c_step, int columns) {
  const Index row_step = PackedA ? 1 : a.row_step;
  const Index column_step = PackedA ? tile_rows : a.column_step;
  constexpr int last = (Vectors - 1) * lanes<T>;
  const int rest = columns - last;
  Vector<T> sum[Rows][Vectors] = {};
  if (start.data != nullptr) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const T* from = start.data + row * start.row_step;
#pragma GCC unroll 4
      for (int part = 0; part + 1 < Vectors; ++part) sum[row][part] = load(from + part * lanes<T>);
      sum[row][Vectors - 1] = load_first(from + last, rest);
    }
  }
  for (Index step = 0; step < depth; ++step, b += b_step) {
    const T* column = a.data + step * column_step;
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 4
      for (int part = 0; part < Vectors; ++part) sum[row][part] += column[row * row_step] * load(b + part * lanes<T>);
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
    T* to = c + row * c_step;
#pragma GCC unroll 4
    for (int part = 0; part + 1 < Vectors; ++part) store(to + part * lanes<T>, sum[row][part]);
    store_first(to + last, sum[row][Vectors - 1], rest);
  }
}

template <class T>
using TileFunction = void(Index, View<T>, const T*, Index, Start<T>, T*, Index, int);

/// multiply_tile for a number of rows and vectors, with A in place.
template <class T, int Rows = tile_rows, int Vectors = tile_vectors>
TileFunction<T>* tile_function(Index rows, Index vectors) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return tile_function<T, Rows - 1, Vectors>(rows, vectors);
  }
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) return tile_function<T, Rows, Vectors - 1>(rows, vectors);
  }
  return multiply_tile<T, Rows, Vectors, false>;
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
