// The fast GEMM, compiled once for each instruction set (see isa.h).
//
// C is cut into register tiles of tile_rows x tile_vectors vectors. One step of a tile takes a column of A and a row of
// B: every element of A is broadcast and multiplied with the vectors of B into accumulators, which stay in registers
// for depth_block steps. A later depth block starts from what the earlier one stored in C, so each element is one chain
// over ascending k whatever the blocking.
//   - A panel of B (depth_block steps of one tile's width) and a block of A (row_block x depth_block) stay in the
//     second-level cache: every tile of the block runs over the panel, and reads its own part of A from the first
//     level.
//   - A block of B (depth_block x column_block) is packed once and used for all rows.
// Packing costs one pass over a factor and pays when the factor is used often: B is read in place if C has few rows or
// B is no wider than a panel (transposed it is packed, as tiles need its rows as vectors, but for the smallest
// products: row_products.h), A if C has few rows or columns. A last panel that ends within a vector is always packed,
// padded with zeros to whole vectors; only its own columns of C are loaded and stored. Threads share out strips of C,
// one tile high or one tile wide, over all products of the batch. Of small products a thread gets whole ones, and finds
// once what they have in common.
#include <numeric>

#include <retrace/ops/kernels/gemm_small.h>
#include <retrace/ops/kernels/isa_functions.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

constexpr Index row_block = 16 * tile_rows;
constexpr Index column_block = 2048;
constexpr Index columns_that_pay_packing = panels_are_wide ? 1024 : 256;
constexpr Index columns_that_pay_packing_crowded = 128;
/// Whether a tile should fetch what the next one writes: the result exceeds second-level caches.
template <class T> constexpr bool is_large_result(Index count) { return count * Index{sizeof(T)} >= Index{2} << 20; }

thread_local PackingBuffer buffer_for_a;

/// Whether the columns of an A that is transposed in memory lie in so few sets of the first-level cache that the lines
/// of a tile are gone before the next tile reads its part of them.
template <class T> bool is_crowded(View<T> a, Index steps) {
  constexpr Index sets = 64, ways_for_a = 8;
  const Index lines_apart = a.column_step * Index{sizeof(T)} / 64;
  return a.row_step == 1 && steps > ways_for_a * sets / std::gcd(lines_apart, sets);
}

/// A block of rows of C: every panel of B by every tile of A.
template <class T>
void multiply_panels(Index rows, View<T> a, bool packed_a, PanelsOfB<T> b, Start<T> start, T* c, Index c_step,
                     bool fetches_c) {
  constexpr Index width = tile_columns<T>;
  if (packed_a) a.row_step = 1;
  TilesOfPanel<T> tiles = tiles_of_panel<T>(rows, smaller(width, b.columns), packed_a);
  for (Index column = 0; column < b.columns; column += width) {
    const Index columns = smaller(width, b.columns - column);
    const bool whole = columns == width;
    if (!whole && column > 0) tiles = tiles_of_panel<T>(rows, columns, packed_a);
    TileStack<T> stack = {
        b.depth,
        a,
        whole ? b.panels + column / width * b.panel_step : b.last,
        whole ? b.row_step : b.last_row_step,
        start.from(0, column),
        c + column,
        c_step,
        static_cast<int>(columns),
        {},
        b.is_large && column + 2 * width <= b.columns ? b.panels + (column / width + 1) * b.panel_step : nullptr,
        fetches_c};
    multiply_panel<T>(tiles, packed_a, stack);
  }
}

template <class T> void pack_tiles_of_a(View<T> a, Index rows, Index depth, T* packed) {
  const TileHeights heights(rows, tile_rows);
  const Index high = heights.rows_of_tiles();
  pack_a(a, high, depth, heights.height, packed);
  if (heights.lower_tiles > 0) pack_a(a.from(high, 0), rows - high, depth, heights.lower_height, packed + high * depth);
}

/// One product (or the strips of one that belong to a thread), block by block.
template <class T>
void multiply_blocks(GemmShape shape, View<T> a, const RightFactor<T>& b, Start<T> start, const GemmResult<T>& result,
                     T* c) {
  const Index c_step = result.row_stride;
  const bool pack = shape.m >= tile_rows &&
                    shape.n >= (is_crowded(a, smaller(depth_block, shape.k)) ? columns_that_pay_packing_crowded
                                                                             : columns_that_pay_packing);
  const bool large = is_large_result<T>(shape.m * shape.n);
  const Index depth_step = equal_part(shape.k, depth_block);
  for (Index column = 0; column < shape.n; column += column_block) {
    const Index columns = smaller(column_block, shape.n - column);
    Index depth = 0;
    do {  // once even if k is 0: the result is then what the sums start from
      const Index steps = smaller(depth_step, shape.k - depth);
      const PanelsOfB<T> panels = panels_of_b(b, depth, column, steps, columns, shape.m);
      const Start<T> sums = depth == 0 ? start : Start<T>{c, c_step};
      for (Index row = 0; row < shape.m; row += row_block) {
        const Index rows = smaller(row_block, shape.m - row);
        View<T> block = a.from(row, depth);
        if (pack) {
          T* packed = buffer_for_a.reserve<T>(packed_size_of_a<T>(row_block, depth_block));
          pack_tiles_of_a(block, rows, steps, packed);
          block.data = packed;
        }
        T* to = c + row * c_step + column;
        multiply_panels(rows, block, pack, panels, sums.from(row, column), to, c_step, large);
        if (depth + steps == shape.k) activate_part(result, to, rows, columns);
      }
      depth += steps;
    } while (depth < shape.k);
  }
}

template <class T> void multiply(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  if (shape.m <= 0 || shape.n <= 0) return;
  if (is_small(shape, b)) return multiply_small(shape, a, b, c);
  // One strip of columns cannot be shared, but rows can be, if they pay that each thread packs B.
  const bool by_rows = shape.m >= shape.n || (shape.n <= tile_columns<T> && shape.m >= 4 * tile_rows);
  const Index extent = by_rows ? shape.m : shape.n;
  const Index height = by_rows ? Index{tile_rows} : tile_columns<T>;
  const Index strips = ceil_divide(extent, height);
  const Index products_of_a_strip = shape.m * shape.n * (shape.k + 1) / strips + 1;
  parallel_for(shape.batch * strips, ceil_divide(products_that_pay_a_thread, products_of_a_strip),
               [&](Index begin, Index end) {
                 for (Index item = begin / strips, first = begin % strips * height; begin < end; ++item, first = 0) {
                   const Index next = smaller(end, (item + 1) * strips);
                   const Index size = smaller((next - item * strips) * height, extent) - first;
                   const Index row = by_rows ? first : 0, column = by_rows ? 0 : first;
                   const GemmShape part = {by_rows ? size : shape.m, by_rows ? shape.n : size, shape.k};
                   T* to = c.data + item * c.batch_stride + row * c.row_stride + column;
                   const RightFactor<T> right = {view_of(b, item), b.packed ? b.data : nullptr, shape.k, shape.n, 0};
                   multiply_blocks(part, view_of(a, item).from(row, 0), right.from_column(column),
                                   start_of(c, to, row, column), c, to);
                   begin = next;
                 }
               });
}

template <class T> void pack_panels(Index k, Index n, GemmOperand<T> b, T* panels) {
  constexpr Index width = tile_columns<T>;
  const View<T> view = view_of(b, 0);
  for (Index column = 0; column < n; column += width) {
    const Index columns = smaller(width, n - column);
    pack_panel_of_b(view.from(0, column), k, columns, columns == width ? width : whole_vectors<T>(columns),
                    panels + column * k);
  }
}

}  // namespace

void pack_float(Index k, Index n, GemmOperand<float> b, float* panels) { pack_panels(k, n, b, panels); }
void pack_double(Index k, Index n, GemmOperand<double> b, double* panels) { pack_panels(k, n, b, panels); }
void gemm_float(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c) {
  multiply(shape, a, b, c);
}
void gemm_double(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c) {
  multiply(shape, a, b, c);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
