// The right factor of the fast GEMM as panels, one tile wide each, in place or packed; compiled once for each
// instruction set (see isa.h and gemm_isa.cpp).
#pragma once

#include <retrace/ops/kernels/gemm_packing.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

// A panel of few and short vectors has too little of each row to be read in place often.
constexpr bool panels_are_wide = vector_registers == 32;
constexpr Index rows_that_pay_packing = (panels_are_wide ? 24 : 4) * tile_rows;

/// Whether the next panel of a right factor is worth fetching: second-level caches have half a MiB to two.
template <class T> constexpr bool is_large_factor(Index count) { return count * Index{sizeof(T)} >= Index{1} << 20; }

inline thread_local PackingBuffer buffer_for_b;

/// A block of B as panels: panel j starts at `panels` + j * panel_step, its rows are row_step apart.
template <class T> struct PanelsOfB {
  const T* panels;
  Index panel_step, row_step;
  const T* last;  ///< the last panel, when it is narrower than a tile
  Index last_row_step;
  Index columns;
  Index depth;
  bool is_large = false;  ///< is_large_factor
};

/// The right factor of a product, or from some column on: in place, or all of its panels.
template <class T> struct RightFactor {
  View<T> view;
  const T* packed;  ///< null: in place
  Index rows, columns, first_column;

  RightFactor from_column(Index column) const {
    return {packed == nullptr ? view.from(0, column) : view, packed, rows, columns, first_column + column};
  }
};

/// Where the panels of a packed factor are that begin at a column (a multiple of the tile's width) and a row.
template <class T>
PanelsOfB<T> packed_panels(const RightFactor<T>& b, Index row, Index column, Index depth, Index columns) {
  constexpr Index width = tile_columns<T>;
  const Index whole = b.columns / width, panel = (b.first_column + column) / width;
  const T* last = b.packed + whole * width * b.rows + row * whole_vectors<T>(b.columns - whole * width);
  return {
      b.packed + panel * width * b.rows + row * width, width * b.rows, width, last,
      whole_vectors<T>(b.columns - whole * width),     columns,        depth, is_large_factor<T>(b.rows * b.columns)};
}

/// Whether a B that is not transposed is read where it is: if it is a panel, or C has few rows.
template <class T> constexpr bool pays_in_place(Index row_step, Index rows_of_c) {
  return row_step <= tile_columns<T> || rows_of_c < rows_that_pay_packing;
}

template <class T>
PanelsOfB<T> panels_of_b(const RightFactor<T>& factor, Index row, Index column, Index depth, Index columns,
                         Index rows_of_c) {
  if (factor.packed != nullptr) return packed_panels(factor, row, column, depth, columns);
  const View<T> b = factor.view.from(row, column);
  constexpr Index width = tile_columns<T>;
  const bool in_place = b.column_step == 1 && pays_in_place<T>(b.row_step, rows_of_c);
  const Index whole = columns / width, rest = columns - whole * width;
  if (in_place && rest % lanes<T> == 0)
    return {b.data, width, b.row_step, b.from(0, whole * width).data, b.row_step, columns, depth};
  const Index packed_panels = in_place ? 0 : whole;
  T* buffer = buffer_for_b.reserve<T>((packed_panels + 1) * width * depth);
  for (Index panel = 0; panel < packed_panels; ++panel) {
    pack_panel_of_b(b.from(0, panel * width), depth, width, width, buffer + panel * width * depth);
  }
  T* last = buffer + packed_panels * width * depth;
  const Index padded = whole_vectors<T>(rest);
  if (rest > 0) pack_panel_of_b(b.from(0, whole * width), depth, rest, padded, last);
  if (in_place) return {b.data, width, b.row_step, last, padded, columns, depth};
  return {buffer, width * depth, width, last, padded, columns, depth, is_large_factor<T>(columns * depth)};
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
