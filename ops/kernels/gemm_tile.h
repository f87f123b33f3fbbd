// The register tile of the fast GEMM, compiled once for each instruction set (see isa.h and gemm_isa.cpp).
#pragma once

#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

constexpr int tile_rows = 6;
constexpr int tile_vectors = vector_registers == 32 ? 4 : 2;
/// Rows of a narrow tile: with few accumulators a step would wait for the one before.
constexpr int tall_tile_rows = 2 * tile_rows;
constexpr int tall_tile_vectors = tile_vectors / 2;
/// The first tiles of a stack fetch the next panel of B into the second-level cache.
constexpr Index tiles_that_fetch = 4;
template <class T> constexpr Index tile_columns = Index{tile_vectors} * lanes<T>;

/// Element (row, column) of a factor is data[row * row_step + column * column_step]. One of the steps is 1. A factor
/// without elements (k = 0) may be without data.
template <class T> struct View {
  const T* data;
  Index row_step, column_step;
  View from(Index row, Index column) const {
    return {data == nullptr ? nullptr : data + row * row_step + column * column_step, row_step, column_step};
  }
};

/// Whether rows are whole pages apart: they share a few sets of the first-level cache, which cannot hold a line of each
/// until the next step needs it.
template <class T> constexpr bool is_whole_pages(Index row_step) { return row_step % (4096 / Index{sizeof(T)}) == 0; }

/// The initial values of a tile: rows of C, a bias (row_step 0) or, without data, zero.
template <class T> struct Start {
  const T* data;
  Index row_step;
  Start from(Index row, Index column) const {
    return {data == nullptr ? nullptr : data + row * row_step + column, row_step};
  }
};

/// How far the operands of one register tile are from those of the next.
struct TileSteps {
  Index a, b, start, c;
};

/// A stack of register tiles, one below the other or each of a product of its own: c (columns wide) = start + a b over
/// `depth` steps.
template <class T> struct TileStack {
  Index depth;
  View<T> a;
  const T* b;  ///< rows of whole vectors
  Index b_step;
  Start<T> start;
  T* c;
  Index c_step;
  int columns;  ///< of C, in which the last vector may be cut short
  TileSteps steps;
  const T* next_b = nullptr;  ///< what the tiles fetch meanwhile, a quarter each: the panel after b; null: nothing
};

/// Tile number `tile` of a stack whose tiles have Rows rows.
template <class T, int Rows, int Vectors, bool PackedA, bool Fetches = false>
[[gnu::always_inline]] inline void multiply_tile(const TileStack<T>& stack, Index tile) {
  const Index row_step = PackedA ? 1 : stack.a.row_step;
  const Index column_step = PackedA ? tile_rows : stack.a.column_step;
  constexpr int last = (Vectors - 1) * lanes<T>;
  const int rest = stack.columns - last;
  const bool whole = rest == lanes<T>;
  Vector<T> sum[Rows][Vectors] = {};
  if (stack.start.data != nullptr) {
    const T* from = stack.start.data + tile * stack.steps.start;
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row, from += stack.start.row_step) {
#pragma GCC unroll 4
      for (int part = 0; part + 1 < Vectors; ++part) sum[row][part] = load(from + part * lanes<T>);
      sum[row][Vectors - 1] = load_first(from + last, rest);
    }
  }
  const T* a = stack.a.data + tile * stack.steps.a;
  const T* b = stack.b + tile * stack.steps.b;
  const Index fetch_step = stack.b_step / tiles_that_fetch;
  const T* fetched = stack.next_b + (Fetches ? tile * stack.depth * fetch_step : 0);
  for (Index step = 0; step < stack.depth; ++step, a += column_step, b += stack.b_step) {
    if constexpr (Fetches) {
      __builtin_prefetch(fetched, 0, 2);
      fetched += fetch_step;
    }
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 4
      for (int part = 0; part < Vectors; ++part) sum[row][part] += a[row * row_step] * load(b + part * lanes<T>);
    }
  }
  const Index c_step = stack.c_step;
  T* to = stack.c + tile * stack.steps.c;
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row, to += c_step) {
#pragma GCC unroll 4
    for (int part = 0; part + 1 < Vectors; ++part) store(to + part * lanes<T>, sum[row][part]);
    if (whole)
      store(to + last, sum[row][Vectors - 1]);
    else
      store_first(to + last, sum[row][Vectors - 1], rest);
  }
}

template <class T, int Rows, int Vectors, bool PackedA> void multiply_tiles(const TileStack<T>& stack, Index tiles) {
  Index tile = 0;
  if constexpr (Vectors == tile_vectors && Rows > tile_rows / 2) {
    if (stack.next_b != nullptr)
      for (; tile < tiles && tile < tiles_that_fetch; ++tile)
        multiply_tile<T, Rows, Vectors, PackedA, true>(stack, tile);
  }
  for (; tile < tiles; ++tile) multiply_tile<T, Rows, Vectors, PackedA>(stack, tile);
}

template <class T> using TilesFunction = void(const TileStack<T>&, Index tiles);

/// multiply_tiles for tiles of up to tile_rows rows and of some vectors, with A in place.
template <class T, int Rows = tile_rows, int Vectors = tile_vectors>
TilesFunction<T>* tiles_function(Index rows, Index vectors) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return tiles_function<T, Rows - 1, Vectors>(rows, vectors);
  }
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) return tiles_function<T, Rows, Vectors - 1>(rows, vectors);
  }
  return multiply_tiles<T, Rows, Vectors, false>;
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
