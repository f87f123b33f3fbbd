// Factors of the fast GEMM, copied so that tiles read them one element after the other; compiled once for each
// instruction set (see isa.h and gemm_isa.cpp).
#pragma once

#include <new>

#include <retrace/ops/kernels/gemm_tile.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

constexpr Index smaller(Index a, Index b) { return a < b ? a : b; }
constexpr Index ceil_divide(Index a, Index b) { return (a + b - 1) / b; }
template <class T> constexpr Index whole_vectors(Index columns) { return ceil_divide(columns, lanes<T>) * lanes<T>; }

/// Memory for packed panels that only grows, so that the steady state allocates nothing.
class PackingBuffer {
 public:
  PackingBuffer() = default;
  PackingBuffer(const PackingBuffer&) = delete;
  PackingBuffer& operator=(const PackingBuffer&) = delete;
  ~PackingBuffer() { ::operator delete(memory_, alignment); }

  template <class T> T* reserve(Index count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (bytes > bytes_) {
      void* larger = ::operator new(bytes, alignment);
      ::operator delete(memory_, alignment);
      memory_ = larger;
      bytes_ = bytes;
    }
    return static_cast<T*>(memory_);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// packed[row * packed_step + column] = x(row, column).
template <bool Padded, class T> void pack(View<T> x, Index rows, Index columns, T* packed, Index packed_step) {
  if (x.column_step == 1) {
    copy_block<T, Padded>(x.data, x.row_step, rows, columns, packed, packed_step);
  } else {
    copy_transposed<T, Padded>(x.data, x.column_step, columns, rows, packed, packed_step);
  }
}

/// A panel of B, `width` wide (whole vectors), with zeros beyond its columns.
template <class T> void pack_panel_of_b(View<T> b, Index depth, Index columns, Index width, T* panel) {
  pack<true>(b, depth, columns, panel, width);
}

/// Room for pack_a: whole tiles, and what the last vector has beyond them.
template <class T> constexpr Index packed_size_of_a(Index rows, Index depth) {
  return (rows + tile_rows) * depth + lanes<T>;
}

/// How many rows of a transposed A are stored at once: as many as a tile has, and a surplus.
constexpr Index stored_rows = 8;

/// Tiles of A, `height` rows each, one below the other, each by columns. A column that fits in a vector is stored as a
/// whole one, and the next column overwrites the surplus: stores through masks are slow on many machines.
template <class T> void pack_rows_of_a(View<T> a, Index rows, Index depth, Index height, T* packed) {
  constexpr bool whole = tile_rows <= lanes<T>;
  for (Index row = 0; row < rows; row += height) {
    const View<T> columns = {a.from(row, 0).data, a.column_step, a.row_step};
    pack<whole>(columns, depth, smaller(height, rows - row), packed + row * depth, height);
  }
}

/// Columns [first, end) of a tile of an A that is transposed in memory; the surplus of a store may lie in columns up to
/// `whole`.
template <class T>
[[gnu::always_inline]] inline void pack_columns_of_tile(View<T> a, int height, Index first, Index end, Index whole,
                                                        T* packed, Index packed_height) {
  const T* from = a.from(0, first).data;
  T* to = packed + first * packed_height;
  for (Index column = first; column < end; ++column, from += a.column_step, to += packed_height) {
    if constexpr (tile_rows <= stored_rows && stored_rows <= lanes<T>) {
      const Vector<T> part = load_first(from, height);
      if (column < whole)
        __builtin_memcpy(to, &part, stored_rows * sizeof(T));
      else
        store_first(to, part, height);
    } else {
      for (int k = 0; k < height; ++k) to[k] = from[k];
    }
  }
}

/// Packs an A that is transposed in memory some columns at a time through all tiles: a line that several tiles share
/// is read once from the second-level cache, and a line of a tile is written at once.
template <class T> void pack_columns_of_a(View<T> a, Index rows, Index depth, Index height, T* packed) {
  constexpr Index columns_at_a_time = 8;
  const Index whole = depth - ceil_divide(stored_rows, height);  // columns whose surplus stays within their tile
  for (Index first = 0; first < depth; first += columns_at_a_time) {
    const Index end = smaller(first + columns_at_a_time, depth);
    for (Index row = 0; row < rows; row += height)
      pack_columns_of_tile(a.from(row, 0), static_cast<int>(smaller(height, rows - row)), first, end, whole,
                           packed + row * depth, height);
  }
}

template <class T> void pack_a(View<T> a, Index rows, Index depth, Index height, T* packed) {
  if (a.row_step == 1)
    pack_columns_of_a(a, rows, depth, height, packed);
  else
    pack_rows_of_a(a, rows, depth, height, packed);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
