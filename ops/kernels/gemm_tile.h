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
/// A row of B that is several lines long is fetched into the first-level cache some rows ahead.
constexpr bool rows_are_long = tile_vectors * vector_bytes > 64;
constexpr Index rows_fetched_ahead = 4;
constexpr Index steps_that_pay_fetching = 64;
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
  bool fetches_c = false;     ///< each tile fetches the C of the next one
};

/// Fetches the lines of a row of a tile into the first-level cache: it does not matter if they are not there.
template <class T, int Vectors, int ForWriting = 0> [[gnu::always_inline]] inline void fetch_row(const T* row) {
  constexpr int line = 64 / int{sizeof(T)};
#pragma GCC unroll 4
  for (int column = 0; column < Vectors * lanes<T>; column += line) __builtin_prefetch(row + column, ForWriting, 3);
}

/// Fetches a part of C that is to be written. A call, as the loops of tiles with these lines within were slower.
template <class T, int Rows, int Vectors> [[gnu::noinline]] void fetch_tile(const T* c, Index c_step) {
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row, c += c_step) fetch_row<T, Vectors, 1>(c);
}

/// Memory that the steps of a tile prefetch.
struct Fetches {
  bool rows_of_b = false;   ///< a later row of B, into the first-level cache
  bool next_panel = false;  ///< a part of the next panel of B, into the second-level cache
};

/// Whether a tile is large enough to fetch what the next ones read.
template <int Rows, int Vectors> constexpr bool is_large_tile = Vectors == tile_vectors&& Rows > tile_rows / 2;

/// Tile number `tile` of a stack whose tiles have Rows rows.
template <class T, int Rows, int Vectors, bool PackedA, Fetches fetches = Fetches{}>
[[gnu::always_inline]] inline void multiply_tile(const TileStack<T>& stack, Index tile) {
  if constexpr (is_large_tile<Rows, Vectors>) {
    if (stack.fetches_c) fetch_tile<T, Rows, Vectors>(stack.c + (tile + 1) * stack.steps.c, stack.c_step);
  }
  const Index row_step = PackedA ? 1 : stack.a.row_step;
  const Index column_step = PackedA ? Rows : stack.a.column_step;
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
  const T* fetched = stack.next_b + (fetches.next_panel ? tile * stack.depth * fetch_step : 0);
  for (Index step = 0; step < stack.depth; ++step, a += column_step, b += stack.b_step) {
    if constexpr (fetches.next_panel) {
      __builtin_prefetch(fetched, 0, 2);
      fetched += fetch_step;
    }
    if constexpr (fetches.rows_of_b) fetch_row<T, Vectors>(b + rows_fetched_ahead * stack.b_step);
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
  if constexpr (is_large_tile<Rows, Vectors>) {
    const Index fetching = stack.next_b == nullptr ? 0 : tiles < tiles_that_fetch ? tiles : tiles_that_fetch;
    for (; tile < fetching; ++tile) multiply_tile<T, Rows, Vectors, PackedA, Fetches{rows_are_long, true}>(stack, tile);
    if constexpr (rows_are_long) {
      if (stack.depth >= steps_that_pay_fetching)
        for (; tile < tiles; ++tile) multiply_tile<T, Rows, Vectors, PackedA, Fetches{true, false}>(stack, tile);
    }
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

/// The same for tiles of all vectors whose A is packed; null for low ones, which gain nothing.
template <class T, int Rows = tile_rows> TilesFunction<T>* packed_tiles_function(Index rows) {
  if constexpr (!is_large_tile<Rows, tile_vectors>)
    return nullptr;
  else
    return rows < Rows ? packed_tiles_function<T, Rows - 1>(rows) : multiply_tiles<T, Rows, tile_vectors, true>;
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
