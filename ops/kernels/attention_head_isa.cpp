// Compiled once for each instruction set; see isa.h.
//
// Keys lie in the lanes: a row of scores is a sum of columns of k, a row of its gradient one of columns of v
// (row_products.h). What weights are multiplied with keeps its features in the lanes.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>
#include <retrace/ops/kernels/row_products.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// Rows of weights or of their gradients, each in whole vectors: unlike one that was stored in part, a vector's
/// elements can be read back at once.
template <class T> struct WeightRows {
  alignas(64) T values[max_head_queries * lanes<T>];
  T* row(Index i) { return values + i * lanes<T>; }
};

/// products = a b^T, row by row, for at most a vector of rows of b.
template <class T>
void multiply_rows(HeadRows<const T> a, Index rows_of_a, HeadRows<const T> b, Index rows_of_b, Index features,
                   WeightRows<T>& products) {
  T copy[lanes<T> * max_head_features];
  if (is_whole_pages<T>(b.step)) {
    copy_block<T, false>(b.data, b.step, rows_of_b, features, copy, features);
    b = {copy, features};
  }
  RowProducts<T> args = {
      features, a.data,          a.step,   b.data,   RowsInLanes<T>(b.step, static_cast<int>(rows_of_b)),
      {},       products.values, lanes<T>, lanes<T>, {}};
  const Index groups = (rows_of_a + max_rows_of_products - 1) / max_rows_of_products;
  for (Index left = rows_of_a, group = groups; group > 0; --group) {
    const Index rows = (left + group - 1) / group;
    row_products_function<T>(rows)(args, 1);
    args.a += rows * a.step;
    args.c += rows * lanes<T>;
    left -= rows;
  }
}

/// to row i (+)= the sum of factors[i * row_step + j * column_step] times row j of from.
template <class T>
void mix_rows(const T* factors, Index row_step, Index column_step, HeadRows<const T> from, Index rows_of_from,
              Index columns, HeadRows<T> to, Index rows_of_to, bool add) {
  for_each_vector<T>(columns, [&](Index f, auto part) {
    for (Index i = 0; i < rows_of_to; ++i) {
      T* result = to.data + i * to.step + f;
      Vector<T> sum = add ? part.load_from(result) : Vector<T>{};
      for (Index j = 0; j < rows_of_from; ++j)
        sum += factors[i * row_step + j * column_step] * part.load_from(from.data + j * from.step + f);
      part.store_to(result, sum);
    }
  });
}

template <class T> [[gnu::always_inline]] inline Vector<T> softmax_of(Vector<T> scores, LastVector<T> seen) {
  const Vector<T> lowest = every_lane(static_cast<T>(-infinity));
  const T max_x = largest_lane<T>(larger<T>(seen.keep(scores, static_cast<T>(-infinity)), lowest));
  if (max_x == static_cast<T>(-infinity))  // nothing is left of this row; NaN stays
    return seen.keep(scores == max_x ? Vector<T>{} : scores, T(0));
  const Vector<T> e = vector_exp_of_negative<T>(scores - max_x);
  VectorSum<T> sum;
  sum.add(seen.keep(e, T(0)));
  return seen.keep(e * (T(1) / static_cast<T>(sum.total())), T(0));
}

/// The sum of all lanes of a b.
template <class T> [[gnu::always_inline]] inline T sum_of_products(Vector<T> a, Vector<T> b) {
  VectorSum<T> products;
  products.add(a * b);
  return static_cast<T>(products.total());
}

}  // namespace

template <class T> void run(const HeadForward<T>& args) {
  const HeadSizes n = args.n;
  WeightRows<T> weights;
  multiply_rows(args.q, n.queries, args.k, n.keys, n.features, weights);
  for (Index i = 0; i < n.queries; ++i) {
    const Index visible = args.causal ? i + 1 + n.keys - n.queries : n.keys;
    const LastVector<T> seen{visible < 0 ? 0 : lanes_left(visible, static_cast<int>(n.keys))};
    const Vector<T> row = softmax_of<T>(load(weights.row(i)) * args.scale, seen);
    store(weights.row(i), row);
    store_first(args.weights + i * n.keys, row, static_cast<int>(n.keys));
  }
  mix_rows<T>(weights.values, lanes<T>, 1, args.v, n.keys, n.values, args.y, n.queries, false);
}

template <class T> void run(const HeadBackward<T>& args) {
  const HeadSizes n = args.n;
  const LastVector<T> keys{static_cast<int>(n.keys)};
  WeightRows<T> ds;
  if (args.dy.data != nullptr)
    multiply_rows(args.dy, n.queries, args.v, n.keys, n.values, ds);
  else
    for (Index i = 0; i < n.queries; ++i) store(ds.row(i), Vector<T>{});
  for (Index i = 0; i < n.queries; ++i) {
    Vector<T> dw = load(ds.row(i));
    if (args.dweights != nullptr) dw += keys.load_from(args.dweights + i * n.keys);
    const Vector<T> w = keys.load_from(args.weights + i * n.keys);
    T sum = sum_of_products<T>(keys.keep(dw, T(0)), w);
    if (!__builtin_isfinite(sum)) [[unlikely]] {  // a hidden value may have made an infinity of dw
      dw = unless_zero<T>(w, dw);
      sum = sum_of_products<T>(keys.keep(dw, T(0)), w);
    }
    store(ds.row(i), w * (dw - sum) * args.scale);
  }
  if (args.dv.data != nullptr && args.dy.data != nullptr)
    mix_rows<T>(args.weights, 1, n.keys, args.dy, n.queries, n.values, args.dv, n.keys, args.add_v);
  if (args.dq.data != nullptr)
    mix_rows<T>(ds.values, lanes<T>, 1, args.k, n.keys, n.features, args.dq, n.queries, args.add_q);
  if (args.dk.data != nullptr)
    mix_rows<T>(ds.values, 1, lanes<T>, args.q, n.queries, n.features, args.dk, n.keys, args.add_k);
}

RETRACE_INSTANTIATE_KERNEL(HeadForward);
RETRACE_INSTANTIATE_KERNEL(HeadBackward);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
