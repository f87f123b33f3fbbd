// All rows of the result by one panel of the right factor: how the rows are cut into tiles, and the functions that
// multiply these; compiled once for each instruction set (see isa.h and gemm_isa.cpp).
#pragma once

#include <retrace/ops/kernels/gemm_packing.h>
#include <retrace/ops/kernels/gemm_tile.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

/// The size of the parts when `whole` is cut into as few and as equal ones as can be.
constexpr Index equal_part(Index whole, Index max_part) {
  return whole <= max_part ? whole : ceil_divide(whole, ceil_divide(whole, max_part));
}

/// Splits the rows of C into as few tiles as possible. All have one height, except a lower last one; if that one would
/// waste its multiply-adds, several tiles are one row lower instead.
struct TileHeights {
  Index height, tiles, lower_height, lower_tiles;

  TileHeights(Index rows, Index max_height) {
    height = equal_part(rows, max_height);
    const Index rest = rows % height;
    if (rest == 0 || 2 * rest > max_height) {
      tiles = rows / height, lower_height = rest, lower_tiles = rest > 0;
    } else {
      const Index all = ceil_divide(rows, height);
      lower_height = height - 1, lower_tiles = all * height - rows, tiles = all - lower_tiles;
    }
  }
  Index rows_of_tiles() const { return tiles * height; }
};

/// The tiles of a panel, and the functions that multiply them.
template <class T> struct TilesOfPanel {
  TileHeights heights;
  TilesFunction<T>*multiply, *multiply_lower;
};

template <class T> TilesOfPanel<T> tiles_of_panel(Index rows, Index columns, bool packed_a) {
  const Index vectors = ceil_divide(columns, lanes<T>);
  const bool tall = !packed_a && vectors <= tall_tile_vectors;
  const TileHeights heights(rows, tall ? tall_tile_rows : tile_rows);
  const auto function_of = [&](Index height) -> TilesFunction<T>* {
    if (tall) return tiles_function<T, tall_tile_rows, tall_tile_vectors>(height, vectors);
    TilesFunction<T>* const packed = packed_a && vectors == tile_vectors ? packed_tiles_function<T>(height) : nullptr;
    if (packed != nullptr) return packed;
    return tiles_function<T>(height, vectors);
  };
  return {heights, function_of(heights.height), heights.lower_tiles > 0 ? function_of(heights.lower_height) : nullptr};
}

/// All rows of C by one panel of B. The tiles of a packed A lie one after the other, each by columns.
template <class T>
[[gnu::always_inline]] inline void multiply_panel(const TilesOfPanel<T>& tiles, bool packed_a, TileStack<T>& stack) {
  const auto multiply = [&](TilesFunction<T>* function, Index height, Index count) {
    if (packed_a) stack.a.column_step = height;
    stack.steps = {height * (packed_a ? stack.depth : stack.a.row_step), 0, height * stack.start.row_step,
                   height * stack.c_step};
    function(stack, count);
  };
  const TileHeights& heights = tiles.heights;
  multiply(tiles.multiply, heights.height, heights.tiles);
  if (heights.lower_tiles == 0) return;
  stack.a.data += heights.tiles * stack.steps.a;
  stack.start = stack.start.from(heights.rows_of_tiles(), 0);
  stack.c += heights.tiles * stack.steps.c;
  multiply(tiles.multiply_lower, heights.lower_height, heights.lower_tiles);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
