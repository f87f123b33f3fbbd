// Products too small to be shared by threads; and the parts of a product that these and larger ones have in common.
#pragma once

#include <retrace/core/base/parallel.h>
#include <retrace/ops/kernels/gemm_panels.h>
#include <retrace/ops/kernels/gemm_tiles_of_panel.h>
#include <retrace/ops/kernels/row_products.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

constexpr Index depth_block = 512;
constexpr Index panels_of_small_products = panels_are_wide ? 1 : 4;
constexpr Index products_that_pay_a_thread = 100000;  // two microseconds of a core with AVX-512

/// Applies the activation of a product, if it has one, to a part of it.
template <class T> void activate_part(const GemmResult<T>& c, T* part, Index rows, Index columns) {
  if (c.activation == nullptr) return;
  const bool adjacent = columns == c.row_stride;
  const Index runs = adjacent ? 1 : rows, length = adjacent ? rows * columns : columns;
  for (Index run = 0; run < runs; ++run, part += c.row_stride)
    c.activation(part, c.slopes == nullptr ? nullptr : c.slopes + (part - c.data), length);
}

template <class T> View<T> view_of(const GemmOperand<T>& x, Index item) {
  const T* data = x.data + item * x.batch_stride;
  return x.transposed ? View<T>{data, 1, x.row_stride} : View<T>{data, x.row_stride, 1};
}

/// Where the sums of an item's part of C start.
template <class T> Start<T> start_of(const GemmResult<T>& c, T* to, Index row, Index column) {
  return c.accumulate ? Start<T>{to, c.row_stride} : Start<T>{c.bias, 0}.from(row, column);
}

/// Whether a product is too small to be shared by threads, and its right factor a panel, or a few for few rows.
template <class T> bool is_small(const GemmShape& shape, const GemmOperand<T>& b) {
  const Index panels = shape.m < rows_that_pay_packing ? panels_of_small_products : 1;
  return shape.n <= panels * tile_columns<T> && shape.k <= depth_block && !b.packed &&
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

/// A panel of small products, its `columns` from `column` on: those of one tile each make a stack.
template <class T>
void multiply_small_panel(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b,
                          const GemmResult<T>& c, Index column, Index columns, Index begin, Index end) {
  const TilesOfPanel<T> tiles = tiles_of_panel<T>(shape.m, columns, false);
  const auto stack_of = [&](Index item, const T* panel, Index panel_step) -> TileStack<T> {
    T* to = c.data + item * c.batch_stride + column;
    return {shape.k,      view_of(a, item),           panel,
            panel_step,   start_of(c, to, 0, column), to,
            c.row_stride, static_cast<int>(columns),  steps_of_items(a, b, c)};
  };
  const bool in_place = !b.transposed && columns % lanes<T> == 0 && pays_in_place<T>(b.row_stride, shape.m);
  if (in_place && tiles.heights.height == shape.m)
    return tiles.multiply(stack_of(begin, view_of(b, begin).from(0, column).data, b.row_stride), end - begin);
  const Index width = whole_vectors<T>(columns);
  T* packed = in_place ? nullptr : buffer_for_b.reserve<T>(width * shape.k);
  for (Index item = begin; item < end; ++item) {
    const View<T> right = view_of(b, item).from(0, column);
    if (!in_place) pack_panel_of_b(right, shape.k, columns, width, packed);
    TileStack<T> stack = in_place ? stack_of(item, right.data, b.row_stride) : stack_of(item, packed, width);
    multiply_panel<T>(tiles, false, stack);
  }
}

template <class T>
void multiply_by_panels(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b,
                        const GemmResult<T>& c, Index begin, Index end) {
  for (Index column = 0; column < shape.n; column += tile_columns<T>)
    multiply_small_panel(shape, a, b, c, column, smaller(tile_columns<T>, shape.n - column), begin, end);
}

/// Products of which a thread gets whole ones: what all of a batch have in common is found once.
template <class T> void multiply_small(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  const auto multiply_some = is_by_rows(shape, a, b) ? multiply_by_rows<T> : multiply_by_panels<T>;
  const Index products_of_an_item = shape.m * shape.n * (shape.k + 1);
  parallel_for(shape.batch, ceil_divide(products_that_pay_a_thread, products_of_an_item), [&](Index begin, Index end) {
    multiply_some(shape, a, b, c, begin, end);
    for (Index item = begin; item < end; ++item) activate_part(c, c.data + item * c.batch_stride, shape.m, shape.n);
  });
}

}  // namespace
}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
