// Small products a b^T of matrices that lie in memory row by row, compiled once for each instruction set (see isa.h).
//
// The rows of b are the lanes of a vector. A vector of one of b's columns comes from pieces of 128 bits of its rows:
// one is loaded into each such part of a register, and instructions that move elements within these parts do the rest.
// That takes half of the instructions that transposing whole squares takes, and b is never copied. Whoever calls copies
// rows that are whole pages apart (is_whole_pages) before.
#pragma once

#include <retrace/ops/kernels/gemm_tile.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

/// How many elements 128 bits hold.
template <class T> constexpr int piece = 16 / static_cast<int>(sizeof(T));
template <class T> constexpr int pieces = lanes<T> / piece<T>;

/// The vector with its piece number Place loaded.
template <int Place, class T> [[gnu::always_inline]] inline Vector<T> with_piece(Vector<T> value, const T* from) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_insertf32x4(value, _mm_loadu_ps(from), Place);
  else
    return _mm512_insertf64x2(value, _mm_loadu_pd(from), Place);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return _mm256_insertf128_ps(value, _mm_loadu_ps(from), Place);
  else
    return _mm256_insertf128_pd(value, _mm_loadu_pd(from), Place);
#else
  __builtin_memcpy(&value, from, sizeof value);
  return value;
#endif
}

/// Interleaves the first (Half = 0) or second (Half = 1) halves of each piece of two vectors.
template <class T, int Half, int... Lane>
[[gnu::always_inline]] inline Vector<T> interleave_pieces(Vector<T> a, Vector<T> b,
                                                          std::integer_sequence<int, Lane...>) {
  constexpr int width = piece<T>, count = lanes<T>;
  return __builtin_shufflevector(a, b,
                                 (Lane / width * width + Half * width / 2 + Lane % width / 2 + Lane % 2 * count)...);
}

/// Where the rows of b are. Lanes beyond them repeat the last one.
template <class T> class RowsInLanes {
 public:
  RowsInLanes(Index step, int rows) : filled_pieces_((rows - 1) / piece<T> + 1) {
    for (int row = 0; row < lanes<T>; ++row) offsets_[row] = (row < rows ? row : rows - 1) * step;
  }

  [[gnu::always_inline]] Vector<T> column(const T* from) const {
    Vector<T> result;
    for (int row = 0; row < lanes<T>; ++row) result[row] = from[offsets_[row]];
    return result;
  }

  /// As many columns as a piece is wide.
  [[gnu::always_inline]] void load_columns(const T* from, Vector<T> (&columns)[piece<T>]) const {
    load_place<0>(from, columns);
    if constexpr (pieces<T> >= 2) {
      if (filled_pieces_ >= 2) load_place<1>(from, columns);
    }
    if constexpr (pieces<T> == 4) {
      if (filled_pieces_ >= 3) load_place<2>(from, columns);
      if (filled_pieces_ >= 4) load_place<3>(from, columns);
    }
    transpose_pieces(columns);
  }

 private:
  template <int Place> [[gnu::always_inline]] void load_place(const T* from, Vector<T> (&rows)[piece<T>]) const {
#pragma GCC unroll 4
    for (int i = 0; i < piece<T>; ++i) {
      const Vector<T> before = Place == 0 ? Vector<T>{} : rows[i];
      rows[i] = with_piece<Place>(before, from + offsets_[Place * piece<T> + i]);
    }
  }

  /// transpose (isa_vector.h) within each piece.
  [[gnu::always_inline]] static void transpose_pieces(Vector<T> (&rows)[piece<T>]) {
    constexpr std::make_integer_sequence<int, lanes<T>> all_lanes;
    constexpr int half = piece<T> / 2;
#pragma GCC unroll 2
    for (int round = 1; round < piece<T>; round *= 2) {
      Vector<T> mixed[piece<T>];
#pragma GCC unroll 2
      for (int row = 0; row < half; ++row) {
        mixed[2 * row] = interleave_pieces<T, 0>(rows[row], rows[row + half], all_lanes);
        mixed[2 * row + 1] = interleave_pieces<T, 1>(rows[row], rows[row + half], all_lanes);
      }
#pragma GCC unroll 4
      for (int row = 0; row < piece<T>; ++row) rows[row] = mixed[row];
    }
  }

  Index offsets_[lanes<T>];
  int filled_pieces_;
};

/// c = start + a b^T, and so for each of a batch. Of c, `columns` are stored: the rows of b, or a whole vector where
/// there is room for what lies after them.
template <class T> struct RowProducts {
  Index depth;
  const T* a;
  Index a_step;
  const T* b;
  RowsInLanes<T> rows_of_b;
  Start<T> start;
  T* c;
  Index c_step;
  int columns;
  TileSteps steps;
};

/// Product number `item` of a batch whose a has Rows rows.
template <class T, int Rows>
[[gnu::always_inline]] inline void row_product(const RowProducts<T>& products, Index item) {
  constexpr int width = piece<T>;
  Vector<T> sum[Rows] = {};
  if (products.start.data != nullptr) {
    const T* from = products.start.data + item * products.steps.start;
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) sum[row] = load_first(from + row * products.start.row_step, products.columns);
  }
  const T *a = products.a + item * products.steps.a, *b = products.b + item * products.steps.b;
  const Index a_step = products.a_step, c_step = products.c_step;
  const T* some_rows[(Rows + 2) / 3];  // every third: an address with a scale reaches the next two
  for (int row = 0; row < Rows; row += 3) some_rows[row / 3] = a + row * a_step;
  Index step = 0;
  for (; step + width <= products.depth; step += width) {
    Vector<T> columns[width];
    products.rows_of_b.load_columns(b + step, columns);
#pragma GCC unroll 4
    for (int column = 0; column < width; ++column) {
#pragma GCC unroll 16
      for (int row = 0; row < Rows; ++row) sum[row] += some_rows[row / 3][row % 3 * a_step + column] * columns[column];
    }
#pragma GCC unroll 4
    for (const T*& row : some_rows) row += width;
  }
  for (; step < products.depth; ++step) {
    const Vector<T> column = products.rows_of_b.column(b + step);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) sum[row] += a[row * a_step + step] * column;
  }
  T* to = products.c + item * products.steps.c;
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row, to += c_step) store_first(to, sum[row], products.columns);
}

template <class T, int Rows> void row_products(const RowProducts<T>& products, Index items) {
  for (Index item = 0; item < items; ++item) row_product<T, Rows>(products, item);
}

/// The number of rows of a whose sums stay in registers.
constexpr int max_rows_of_products = vector_registers == 32 ? tall_tile_rows : tile_rows;

template <class T> using RowProductsFunction = void(const RowProducts<T>&, Index items);

template <class T, int Rows = max_rows_of_products> RowProductsFunction<T>* row_products_function(Index rows) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return row_products_function<T, Rows - 1>(rows);
  }
  return row_products<T, Rows>;
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
