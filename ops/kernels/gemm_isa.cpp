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

#include <retrace/core/parallel.h>
#include <retrace/ops/kernels/gemm_packing.h>
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/row_products.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

constexpr Index depth_block = 384;
constexpr Index row_block = 16 * tile_rows;
constexpr Index column_block = 1024;
// A panel of few and short vectors has too little of each row to be read in place often.
constexpr bool panels_are_wide = vector_registers == 32;
constexpr Index rows_that_pay_packing = (panels_are_wide ? 24 : 4) * tile_rows;
constexpr Index rows_that_pay_packing_pages = (panels_are_wide ? 24 : 4) * tile_rows;
constexpr Index columns_that_pay_packing = panels_are_wide ? 1024 : 256;
constexpr Index columns_that_pay_packing_crowded = 128;
constexpr Index large_factor = Index{1} << 20;        // bytes; second-level caches have half a MiB to two
constexpr Index products_that_pay_a_thread = 100000;  // two microseconds of a core with AVX-512

thread_local PackingBuffer buffer_for_a, buffer_for_b;

/// A block of B as panels: panel j starts at `panels` + j * panel_step, its rows are row_step apart.
template <class T> struct PanelsOfB {
  const T* panels;
  Index panel_step, row_step;
  const T* last;  ///< the last panel, when it is narrower than a tile
  Index last_row_step;
  Index columns;
  Index depth;
  bool is_large =
      false;  ///< the whole of it is too large for the second-level cache, and the next panel worth fetching
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
  return {b.packed + panel * width * b.rows + row * width,
          width * b.rows,
          width,
          last,
          whole_vectors<T>(b.columns - whole * width),
          columns,
          depth,
          b.rows * b.columns * Index{sizeof(T)} >= large_factor};
}

/// How many rows of C pay packing a B whose rows are so far apart.
template <class T> constexpr Index rows_that_pay(Index row_step) {
  return is_whole_pages<T>(row_step) ? rows_that_pay_packing_pages : rows_that_pay_packing;
}

/// Whether a B that is not transposed is read where it is: if it is a panel, or C has few rows.
template <class T> constexpr bool pays_in_place(Index row_step, Index rows_of_c) {
  return row_step <= tile_columns<T> || rows_of_c < rows_that_pay<T>(row_step);
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
  return {buffer, width * depth, width, last, padded, columns, depth};
}

/// How rows of C are cut into tiles, from the top: as few and as equally high as can be, with a lower one for the rest.
template <class T> struct TilesOfPanel {
  Index height, tiles, rest;
  TilesFunction<T>*multiply, *multiply_rest;
};

/// The height of as few tiles as can be, all but the last one as high.
constexpr Index equal_height(Index rows, Index max_rows) { return ceil_divide(rows, ceil_divide(rows, max_rows)); }

template <class T> TilesOfPanel<T> tiles_of_panel(Index rows, Index columns, bool packed_a) {
  const Index vectors = ceil_divide(columns, lanes<T>);
  const bool tall = !packed_a && vectors <= tall_tile_vectors;
  const Index height = equal_height(rows, tall ? tall_tile_rows : tile_rows);
  const auto function_of = [&](Index of_height) -> TilesFunction<T>* {
    if (tall) return tiles_function<T, tall_tile_rows, tall_tile_vectors>(of_height, vectors);
    if (packed_a && vectors == tile_vectors && of_height == tile_rows)
      return multiply_tiles<T, tile_rows, tile_vectors, true>;
    return tiles_function<T>(of_height, vectors);
  };
  const Index rest = rows % height;
  return {height, rows / height, rest, function_of(height), rest > 0 ? function_of(rest) : nullptr};
}

/// Whether the columns of an A that is transposed in memory lie in so few sets of the first-level cache that the lines
/// of a tile are gone before the next tile reads its part of them.
template <class T> bool is_crowded(View<T> a, Index steps) {
  constexpr Index sets = 64, ways_for_a = 8;
  const Index lines_apart = a.column_step * Index{sizeof(T)} / 64;
  return a.row_step == 1 && steps > ways_for_a * sets / std::gcd(lines_apart, sets);
}

/// All rows of C by one panel of B.
template <class T>
[[gnu::always_inline]] inline void multiply_panel(const TilesOfPanel<T>& rows, bool packed_a, TileStack<T>& stack) {
  stack.steps = {rows.height * (packed_a ? stack.depth : stack.a.row_step), 0, rows.height * stack.start.row_step,
                 rows.height * stack.c_step};
  rows.multiply(stack, rows.tiles);
  if (rows.rest == 0) return;
  stack.a.data += rows.tiles * stack.steps.a;
  stack.start = stack.start.from(rows.tiles * rows.height, 0);
  stack.c += rows.tiles * stack.steps.c;
  rows.multiply_rest(stack, 1);
}

/// A block of rows of C: every panel of B by every tile of A.
template <class T>
void multiply_panels(Index rows, View<T> a, bool packed_a, PanelsOfB<T> b, Start<T> start, T* c, Index c_step) {
  constexpr Index width = tile_columns<T>;
  if (packed_a) a = {a.data, 1, equal_height(rows, tile_rows)};
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
        b.is_large && column + 2 * width <= b.columns ? b.panels + (column / width + 1) * b.panel_step : nullptr};
    multiply_panel<T>(tiles, packed_a, stack);
  }
}

/// Applies the activation of a product, if it has one, to a part of it.
template <class T> void activate_part(const GemmResult<T>& c, T* part, Index rows, Index columns) {
  if (c.activation == nullptr) return;
  const bool adjacent = columns == c.row_stride;
  const Index runs = adjacent ? 1 : rows, length = adjacent ? rows * columns : columns;
  for (Index run = 0; run < runs; ++run, part += c.row_stride)
    c.activation(part, c.slopes == nullptr ? nullptr : c.slopes + (part - c.data), length);
}

/// One product (or the strips of one that belong to a thread), block by block.
template <class T>
void multiply_blocks(GemmShape shape, View<T> a, const RightFactor<T>& b, Start<T> start, const GemmResult<T>& result,
                     T* c) {
  const Index c_step = result.row_stride;
  const bool pack = shape.m >= tile_rows &&
                    shape.n >= (is_crowded(a, smaller(depth_block, shape.k)) ? columns_that_pay_packing_crowded
                                                                             : columns_that_pay_packing);
  for (Index column = 0; column < shape.n; column += column_block) {
    const Index columns = smaller(column_block, shape.n - column);
    Index depth = 0;
    do {  // once even if k is 0: the result is then what the sums start from
      const Index steps = smaller(depth_block, shape.k - depth);
      const PanelsOfB<T> panels = panels_of_b(b, depth, column, steps, columns, shape.m);
      const Start<T> sums = depth == 0 ? start : Start<T>{c, c_step};
      for (Index row = 0; row < shape.m; row += row_block) {
        const Index rows = smaller(row_block, shape.m - row);
        View<T> block = a.from(row, depth);
        if (pack) {
          T* packed = buffer_for_a.reserve<T>(packed_size_of_a<T>(row_block, depth_block));
          pack_a(block, rows, steps, equal_height(rows, tile_rows), packed);
          block.data = packed;
        }
        T* to = c + row * c_step + column;
        multiply_panels(rows, block, pack, panels, sums.from(row, column), to, c_step);
        if (depth + steps == shape.k) activate_part(result, to, rows, columns);
      }
      depth += depth_block;
    } while (depth < shape.k);
  }
}

template <class T> View<T> view_of(const GemmOperand<T>& x, Index item) {
  const T* data = x.data + item * x.batch_stride;
  return x.transposed ? View<T>{data, 1, x.row_stride} : View<T>{data, x.row_stride, 1};
}

/// Where the sums of an item's part of C start.
template <class T> Start<T> start_of(const GemmResult<T>& c, T* to, Index row, Index column) {
  return c.accumulate ? Start<T>{to, c.row_stride} : Start<T>{c.bias, 0}.from(row, column);
}

/// Whether the whole right factor is one panel, and a product too small to be shared by threads.
template <class T> bool is_small(const GemmShape& shape, const GemmOperand<T>& b) {
  return shape.n <= tile_columns<T> && shape.k <= depth_block && !b.packed &&
         shape.m * shape.n * shape.k < 2 * products_that_pay_a_thread;
}

template <class T> TileSteps steps_of_items(const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c) {
  return {a.batch_stride, b.batch_stride, c.accumulate ? c.batch_stride : 0, c.batch_stride};
}

/// Whether a small product is one of the rows of A by the rows of B, as memory holds them.
template <class T> bool is_by_rows(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b) {
  return b.transposed && !a.transposed && shape.n <= lanes<T> && shape.m <= max_rows_of_products &&
         !is_whole_pages<T>(b.row_stride);
}

template <class T>
void multiply_by_rows(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c,
                      Index begin, Index end) {
  const int columns = static_cast<int>(shape.n);
  T* to = c.data + begin * c.batch_stride;
  row_products_function<T>(shape.m)(
      {shape.k, view_of(a, begin).data, a.row_stride, view_of(b, begin).data, RowsInLanes<T>(b.row_stride, columns),
       start_of(c, to, 0, 0), to, c.row_stride, columns, steps_of_items(a, b, c)},
      end - begin);
}

/// Products whose right factor is one panel: those of one tile each make a stack.
template <class T>
void multiply_narrow(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c,
                     Index begin, Index end) {
  const TilesOfPanel<T> tiles = tiles_of_panel<T>(shape.m, shape.n, false);
  const auto stack_of = [&](Index item, const T* panel, Index panel_step) -> TileStack<T> {
    T* to = c.data + item * c.batch_stride;
    return {shape.k,      view_of(a, item),          panel,
            panel_step,   start_of(c, to, 0, 0),     to,
            c.row_stride, static_cast<int>(shape.n), steps_of_items(a, b, c)};
  };
  const bool in_place = !b.transposed && shape.n % lanes<T> == 0 && pays_in_place<T>(b.row_stride, shape.m);
  if (in_place && tiles.height == shape.m)
    return tiles.multiply(stack_of(begin, view_of(b, begin).data, b.row_stride), end - begin);
  const Index width = whole_vectors<T>(shape.n);
  T* packed = in_place ? nullptr : buffer_for_b.reserve<T>(width * shape.k);
  for (Index item = begin; item < end; ++item) {
    const View<T> right = view_of(b, item);
    if (!in_place) pack_panel_of_b(right, shape.k, shape.n, width, packed);
    TileStack<T> stack = in_place ? stack_of(item, right.data, b.row_stride) : stack_of(item, packed, width);
    multiply_panel<T>(tiles, false, stack);
  }
}

/// Products of which a thread gets whole ones: what all of a batch have in common is found once.
template <class T> void multiply_small(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  const auto multiply_some = is_by_rows(shape, a, b) ? multiply_by_rows<T> : multiply_narrow<T>;
  const Index products_of_an_item = shape.m * shape.n * (shape.k + 1);
  parallel_for(shape.batch, ceil_divide(products_that_pay_a_thread, products_of_an_item), [&](Index begin, Index end) {
    multiply_some(shape, a, b, c, begin, end);
    for (Index item = begin; item < end; ++item) activate_part(c, c.data + item * c.batch_stride, shape.m, shape.n);
  });
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
