// Invalid arguments of ops that move or select elements: the type and text of each error.
#include <retrace/tests/ops/error_table.h>

namespace retrace {
namespace {

TEST(ShapeErrors, ReshapeTransposeAndSlice) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { reshape(with.matrix, {4}); },
       "reshape: x[2, 3] has 6 elements and [4] has 4; the counts must be equal"},
      {Mistake::shape,
       [](auto& with) {
         reshape(with.weight, {3, 3});
       },
       "reshape: w[4, 2] has 8 elements and [3, 3] has 9; the counts must be equal"},
      {Mistake::shape,
       [](auto& with) {
         reshape(with.matrix, {-1, 4});
       },
       "reshape: x[2, 3] has 6 elements, and [-1, 4] holds a multiple of 4; give one -1 at most, and extents that "
       "divide the count"},
      {Mistake::shape,
       [](auto& with) {
         reshape(with.matrix, {-1, -1});
       },
       "reshape: x[2, 3] has 6 elements, and [-1, -1] leaves more than one extent open; give one -1 at most, and "
       "extents that divide the count"},
      {Mistake::shape,
       [](auto& with) {
         reshape(with.matrix, {-2, -3});
       },
       "Shape: an extent of -2 is negative; extents are 0 or more"},
      {Mistake::shape, [](auto& with) { transpose(with.vector); },
       "transpose: x[3] has no two axes to exchange; unsqueeze it first"},
      {Mistake::shape, [](auto& with) { transpose(with.matrix, {1}); },
       "transpose: a permutation of 1 axes for x[2, 3]; name each axis once"},
      {Mistake::shape,
       [](auto& with) {
         transpose(with.matrix, {1, -1});
       },
       "transpose: axis 1 of x[2, 3] is named twice in the permutation; name each axis once"},
      {Mistake::shape,
       [](auto& with) {
         transpose(with.matrix, {0, 2});
       },
       "transpose: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape,
       [](auto& with) {
         slice(with.matrix, {0, 0, 0});
       },
       "slice: 3 entries for x[2, 3], which has fewer axes; give at most one per axis"},
      {Mistake::shape, [](auto& with) { slice(with.deep, {new_axis}); },
       "slice: x[1, 1, 1, 1, 1, 1, 1, 1] would get 9 axes, more than the 8 that a tensor can have; reshape some of "
       "them together"},
      {Mistake::index,
       [](auto& with) {
         slice(with.matrix, {all, 3});
       },
       "slice: index 3 is outside axis 1 of x[2, 3]; it runs from -3 to 2"},
      {Mistake::index, [](auto& with) { slice(with.weight, {-5}); },
       "slice: index -5 is outside axis 0 of w[4, 2]; it runs from -4 to 3"},
      {Mistake::index, [](auto& with) { with.vector[3]; },
       "slice: index 3 is outside axis 0 of x[3]; it runs from -3 to 2"},
      {Mistake::value, [](auto& with) { slice(with.matrix, {range(0, 1, 0)}); },
       "slice: a step of 0 along axis 0 of x[2, 3] goes nowhere; use a positive or a negative one"},
  });
}

TEST(ShapeErrors, ConcatStackAndSplit) {
  expect_refusals({
      {Mistake::shape, [](auto&) { concat({}); }, "concat: there are no parts; give at least one"},
      {Mistake::shape,
       [](auto& with) {
         concat({with.matrix, with.four});
       },
       "concat: x0[2, 3] and x1[4] along axis 0: all other extents must be equal; reshape or slice one of them"},
      {Mistake::shape,
       [](auto& with) {
         concat({with.matrix, with.square}, 1);
       },
       "concat: x0[2, 3] and x1[3, 3] along axis 1: all other extents must be equal; reshape or slice one of them"},
      {Mistake::shape,
       [](auto& with) {
         concat({with.matrix, with.matrix}, 2);
       },
       "concat: x0[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape,
       [](auto& with) {
         concat({with.number, with.number});
       },
       "concat: x0[] is 0-d and has no axis 0; reshape it first"},
      {Mistake::dtype,
       [](auto& with) {
         concat({with.matrix, with.single});
       },
       dtypes_differ("concat", "x0[2, 3] is f64", "x1[2, 3] is f32")},
      {Mistake::shape, [](auto&) { stack({}); }, "stack: there are no parts; give at least one"},
      {Mistake::shape,
       [](auto& with) {
         stack({with.matrix, with.vector});
       },
       "stack: x0[2, 3] and x1[3]: shapes must be equal; reshape one of them"},
      {Mistake::shape,
       [](auto& with) {
         stack({with.vector, with.vector}, 2);
       },
       "stack: x0[3] cannot get a new axis at 2; its place is -2 to 1"},
      {Mistake::shape, [](auto& with) { stack({with.deep}); },
       "stack: x0[1, 1, 1, 1, 1, 1, 1, 1] would get 9 axes, more than the 8 that a tensor can have; reshape some of "
       "them together"},
      {Mistake::dtype,
       [](auto& with) {
         stack({with.matrix, with.single});
       },
       dtypes_differ("stack", "x0[2, 3] is f64", "x1[2, 3] is f32")},
      {Mistake::shape,
       [](auto& with) {
         split(with.matrix, {1, 1}, 1);
       },
       "split: the sizes sum to 2, but axis 1 of x[2, 3] has 3; they must be equal"},
      {Mistake::shape,
       [](auto& with) {
         split(with.matrix, {-1, 4}, 1);
       },
       "split: a size of -1 does not fit axis 1 of x[2, 3]; sizes are 0 or more and sum to its length"},
      {Mistake::shape, [](auto& with) { split(with.matrix, {2}, 2); },
       "split: x[2, 3] has no axis 2; axes run from -2 to 1"},
  });
}

TEST(ShapeErrors, AxesAndPadding) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { squeeze(with.matrix, 1); },
       "squeeze: axis 1 of x[2, 3] has length 3; only an axis of length 1 can go: use slice or a reduction"},
      {Mistake::shape, [](auto& with) { squeeze(with.deep, 8); },
       "squeeze: x[1, 1, 1, 1, 1, 1, 1, 1] has no axis 8; axes run from -8 to 7"},
      {Mistake::shape, [](auto& with) { unsqueeze(with.matrix, 3); },
       "unsqueeze: x[2, 3] cannot get a new axis at 3; its place is -3 to 2"},
      {Mistake::shape, [](auto& with) { unsqueeze(with.deep, 0); },
       "unsqueeze: x[1, 1, 1, 1, 1, 1, 1, 1] would get 9 axes, more than the 8 that a tensor can have; reshape some of "
       "them together"},
      {Mistake::shape, [](auto& with) { broadcast_to(with.matrix, {3}); },
       "broadcast_to: x[2, 3] does not fit into [3]; only axes of length 1 are repeated"},
      {Mistake::shape,
       [](auto& with) {
         broadcast_to(with.vector, {3, 2});
       },
       "broadcast_to: x[3] does not fit into [3, 2]; only axes of length 1 are repeated"},
      {Mistake::shape, [](auto& with) { flip(with.matrix, 2); }, "flip: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { flip(with.number, 0); },
       "flip: x[] is 0-d and has no axis 0; reshape it first"},
      {Mistake::shape,
       [](auto& with) {
         pad(with.matrix, {{1, 1}});
       },
       "pad: 1 paddings for x[2, 3]; give one per axis"},
      {Mistake::shape,
       [](auto& with) {
         pad(with.four, {{-3, -2}});
       },
       "pad: -3 and -2 cut more than axis 0 of x[4] has; cut less"},
  });
}

TEST(ShapeErrors, TakeGatherAndEmbedding) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { take(with.matrix, with.ids, 2); },
       "take: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { take(with.matrix, with.whole); },
       "take: ids[2, 3] must be a vector, or a 0-d tensor to drop the axis; use gather or embedding for more"},
      {Mistake::shape, [](auto& with) { take(with.number, with.ids); },
       "take: x[] is 0-d and has no axis 0; reshape it first"},
      {Mistake::dtype, [](auto& with) { take(with.matrix, with.vector); },
       "take: ids[3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::index, [](auto& with) { take(with.weight, with.far); },
       "take: id 7 at position 1 of ids[2] is outside 0 to 3; check the ids"},
      {Mistake::index, [](auto& with) { take(with.matrix, with.negative, 1); },
       "take: id -1 at position 1 of ids[2] is outside 0 to 2; check the ids"},
      {Mistake::shape, [](auto& with) { gather(with.matrix, with.ids); },
       "gather: x[2, 3] and ids[2] along axis 1: all other extents must be equal; broadcast or slice one of them"},
      {Mistake::shape, [](auto& with) { gather(with.square, with.whole, 1); },
       "gather: x[3, 3] and ids[2, 3] along axis 1: all other extents must be equal; broadcast or slice one of them"},
      {Mistake::shape, [](auto& with) { gather(with.matrix, with.whole, -3); },
       "gather: x[2, 3] has no axis -3; axes run from -2 to 1"},
      {Mistake::dtype, [](auto& with) { gather(with.matrix, with.matrix); },
       "gather: ids[2, 3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::index, [](auto& with) { gather(with.matrix, with.whole, 0); },
       "gather: id 2 at position 2 of ids[2, 3] is outside 0 to 1; check the ids"},
      {Mistake::shape, [](auto& with) { embedding(with.vector, with.ids); },
       "embedding: table[3] must be a matrix [ids, features]; reshape it"},
      {Mistake::dtype, [](auto& with) { embedding(with.weight, with.vector); },
       "embedding: ids[3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::shape, [](auto& with) { embedding(with.weight, zeros(with.deep.shape(), i64)); },
       "embedding: ids[1, 1, 1, 1, 1, 1, 1, 1] would get 9 axes, more than the 8 that a tensor can have; reshape some "
       "of "
       "them together"},
      {Mistake::index, [](auto& with) { embedding(with.weight, with.far); },
       "embedding: id 7 at position 1 of ids[2] is outside 0 to 3; check the ids"},
      {Mistake::index, [](auto& with) { embedding(with.weight, with.negative); },
       "embedding: id -1 at position 1 of ids[2] is outside 0 to 3; check the ids"},
  });
}

std::string does_not_fit(const std::string& operands) {
  return "scatter_add: " + operands +
         ": ids must be a vector or of the shape of updates, which have the extents of x along all other axes; reshape "
         "or slice them";
}

TEST(ShapeErrors, ScatterAdd) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { scatter_add(with.number, with.ids, with.matrix); },
       "scatter_add: x[] is 0-d and has no axis 0; reshape it first"},
      {Mistake::shape, [](auto& with) { scatter_add(with.square, with.whole, with.matrix, 1); },
       does_not_fit("x[3, 3], ids[2, 3] and updates[2, 3] along axis 1")},
      {Mistake::shape, [](auto& with) { scatter_add(with.weight, with.ids, with.matrix); },
       does_not_fit("w[4, 2], ids[2] and updates[2, 3] along axis 0")},
      {Mistake::shape, [](auto& with) { scatter_add(with.square, with.whole, with.square); },
       does_not_fit("x[3, 3], ids[2, 3] and updates[3, 3] along axis 0")},
      {Mistake::shape, [](auto& with) { scatter_add(with.square, indices(1), with.vector); },
       does_not_fit("x[3, 3], ids[] and updates[3] along axis 0")},
      {Mistake::dtype, [](auto& with) { scatter_add(with.square, with.vector, with.square); },
       "scatter_add: ids[3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::dtype, [](auto& with) { scatter_add(with.square, with.ids, with.single); },
       dtypes_differ("scatter_add", "x[3, 3] is f64", "updates[2, 3] is f32")},
      {Mistake::index, [](auto& with) { scatter_add(with.square, with.far, with.matrix); },
       "scatter_add: id 7 at position 1 of ids[2] is outside 0 to 2; check the ids"},
      {Mistake::index, [](auto& with) { scatter_add(with.square, with.negative, with.dual_matrix); },
       "scatter_add: id -1 at position 1 of ids[2] is outside 0 to 2; check the ids"},
  });
}

TEST(ShapeErrors, Scatter) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { scatter(with.number, with.ids, with.matrix); },
       "scatter: x[] is 0-d and has no axis 0; reshape it first"},
      {Mistake::shape, [](auto& with) { scatter(with.square, with.whole, with.matrix, 1); },
       "scatter: x[3, 3], ids[2, 3] and updates[2, 3] along axis 1: ids and updates must have one shape, with the "
       "extents of x along all other axes; broadcast or slice them"},
      {Mistake::dtype, [](auto& with) { scatter(with.square, with.matrix, with.matrix); },
       "scatter: ids[2, 3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::dtype, [](auto& with) { scatter(with.square, with.whole, with.single); },
       dtypes_differ("scatter", "x[3, 3] is f64", "updates[2, 3] is f32")},
      {Mistake::index, [](auto& with) { scatter(with.matrix, with.whole, with.matrix, 0); },
       "scatter: id 2 at position 2 of ids[2, 3] is outside 0 to 1; check the ids"},
  });
}

TEST(ShapeErrors, Index) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { retrace::index(with.matrix, {}); },
       "index: 0 tensors of ids for x[2, 3]; give one for each of its first axes"},
      {Mistake::shape,
       [](auto& with) {
         retrace::index(with.vector, {with.ids, with.ids});
       },
       "index: 2 tensors of ids for x[3]; give one for each of its first axes"},
      {Mistake::shape,
       [](auto& with) {
         retrace::index(with.matrix, {with.ids, with.flags});
       },
       "index: ids before[2] and ids[4] do not broadcast: axis -1 is 2 and 4, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::dtype, [](auto& with) { retrace::index(with.matrix, {with.vector}); },
       "index: ids[3] is f64, but indices are i64; make them with indices() or to(i64)"},
      {Mistake::index,
       [](auto& with) {
         retrace::index(with.matrix, {with.ids, with.far});
       },
       "index: id 7 is outside axis 1 of x[2, 3], which has positions -3 to 2; check the ids"},
      {Mistake::index, [](auto& with) { retrace::index(with.matrix, {indices({-3})}); },
       "index: id -3 is outside axis 0 of x[2, 3], which has positions -2 to 1; check the ids"},
  });
}

TEST(ShapeErrors, PaddingIdx) {
  expect_refusals({
      {Mistake::index, [](auto& with) { embedding(with.weight, with.ids, {.padding_idx = 4}); },
       "embedding: padding_idx 4 is no row of w[4, 2]; choose one from -4 to 3"},
      {Mistake::index, [](auto& with) { embedding(with.weight, with.ids, {.padding_idx = -5}); },
       "embedding: padding_idx -5 is no row of w[4, 2]; choose one from -4 to 3"},
  });
}

}  // namespace
}  // namespace retrace
