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

/// How many elements pack_a writes at most.
template <class T> constexpr Index packed_size_of_a(Index rows, Index depth) {
  return ceil_divide(rows, tile_rows) * tile_rows * depth + lanes<T>;
}

/// Tiles of A, one below the other, each by columns. A column that fits in a vector is stored as a whole one, and the
/// next column overwrites the surplus: stores through masks are slow on many machines.
template <class T> void pack_a(View<T> a, Index rows, Index depth, T* packed) {
  constexpr bool whole = tile_rows <= lanes<T>;
  for (Index row = 0; row < rows; row += tile_rows) {
    const View<T> columns = {a.from(row, 0).data, a.column_step, a.row_step};
    pack<whole>(columns, depth, smaller(tile_rows, rows - row), packed + row * depth, tile_rows);
  }
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
