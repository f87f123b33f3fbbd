// Ops that select elements by i64 indices.
#include <gtest/gtest.h>

#include <span>

#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

Tensor no_ids() { return indices(std::span<const std::int64_t>(), {0}); }

TEST(Indexing, Take) {
  const Tensor x = counted({2, 3});
  expect_values(take(x, indices({1, 1, 0})), {3, 3}, {3, 4, 5, 3, 4, 5, 0, 1, 2});
  expect_values(take(x, indices({2, 0}), -1), {2, 2}, {2, 0, 5, 3});
  expect_values(take(x, indices(1), 1), {2}, {1, 4});
  expect_values(take(x, no_ids(), 1), {2, 0}, {});
  expect_values(take(counted({0, 3}), indices({2}), 1), {0, 1}, {});
}

TEST(Indexing, Gather) {
  const Tensor x = counted({2, 3});
  expect_values(gather(x, indices({{2, 2, 0, 1}, {0, 1, 1, 1}})), {2, 4}, {2, 2, 0, 1, 3, 4, 4, 4});
  expect_values(gather(x, indices({{1, 0, 1}}), 0), {1, 3}, {3, 1, 5});
}

TEST(Indexing, Embedding) {
  const Tensor table = counted({3, 2});
  expect_values(embedding(table, indices({{2, 0}, {2, 1}})), {2, 2, 2}, {4, 5, 0, 1, 4, 5, 2, 3});
  expect_values(embedding(table, indices(1)), {2}, {2, 3});
  expect_values(embedding(table, no_ids()), {0, 2}, {});
}

TEST(Indexing, ScatterAdd) {
  const Tensor x = counted({2, 2});
  expect_values(scatter_add(x, indices({1, 1, 0}), ones({3, 2}, f64)), {2, 2}, {1, 2, 4, 5});
  expect_values(scatter_add(x, no_ids(), ones({0, 2}, f64)), {2, 2}, {0, 1, 2, 3});
  EXPECT_EQ(x.at({1, 0}), 2) << "x itself stays as it was";
}

TEST(Indexing, ScatterAddAlongAnyAxis) {
  const Tensor x = counted({2, 3});
  expect_values(scatter_add(x, indices({2, 2}), full({2, 2}, 10, f64), 1), {2, 3}, {0, 1, 22, 3, 4, 25});
  const Tensor updates = tensor({{10, 20, 30, 40}, {50, 60, 70, 80}}, f64);
  expect_values(scatter_add(x, indices({{0, 1, 1, 0}, {2, 2, 2, 2}}), updates, -1), {2, 3}, {50, 51, 2, 3, 4, 265});
  expect_values(scatter_add(x, indices({{1, 0, 1}}), full({1, 3}, 10, f64)), {2, 3}, {0, 11, 2, 13, 4, 15});
}

TEST(Indexing, TheLastOneIsScattered) {
  const Tensor x = counted({2, 3}), updates = tensor({{10, 20, 30, 40}, {50, 60, 70, 80}}, f64);
  const Tensor ids = indices({{0, 1, 1, 0}, {2, 2, 2, 1}});
  expect_values(scatter(x, ids, updates, 1), {2, 3}, {40, 30, 2, 3, 80, 70});
  expect_values(scatter(x, indices({{1, 0, 1}}), full({1, 3}, 10, f64)), {2, 3}, {0, 10, 2, 10, 4, 10});
  expect_values(scatter(x, zeros({2, 0}, i64), zeros({2, 0}, f64), 1), {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(x.at({0, 0}), 0) << "x itself stays as it was";
  const Tensor at = parameter(x.clone()), of = parameter(updates.clone());
  Tape tape;
  tape.backward({scatter(at, ids, of, 1)}, {counted({2, 3}) + 1.0});
  expect_values(at.grad(), {2, 3}, {0, 0, 3, 4, 0, 0});
  expect_values(of.grad(), {2, 4}, {0, 0, 2, 1, 0, 0, 6, 5});
}

TEST(Indexing, NanOfWhatIsOverwrittenReachesNothing) {
  const Tensor x = parameter(tensor({nan, 1.0}, f64)), updates = parameter(tensor({nan, 2.0}, f64));
  Tape tape;
  const Tensor y = scatter(x, indices({0, 0}), updates);
  expect_values(y, {2}, {2, 1});
  tape.backward({y}, {tensor({nan, 3.0}, f64)});
  EXPECT_EQ(x.grad().at({0}), 0);
  EXPECT_EQ(updates.grad().at({0}), 0);
}

/// As NumPy: x[[0, -1], [2, 1]] and x[[[0], [-1]], [2, 1, 0]].
TEST(Indexing, SeveralIdsBroadcast) {
  const Tensor x = counted({2, 3, 2});
  expect_values(retrace::index(x, {indices({0, -1}), indices({2, 1})}), {2, 2}, {4, 5, 8, 9});
  expect_values(retrace::index(x, {indices({{0}, {-1}}), indices({2, 1, 0})}), {2, 3, 2},
                {4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7});
  expect_values(retrace::index(x, {indices(1), indices(-1), indices({0, 1, -2})}), {3}, {10, 11, 10});
  expect_values(retrace::index(x, {indices(-1)}), {3, 2}, {6, 7, 8, 9, 10, 11});
  expect_values(retrace::index(x, {no_ids(), indices(0)}), {0, 2}, {});
  expect_values(retrace::index(counted({2, 3}, i64), {indices({1, 1}), indices({-1, -3})}).to(f64), {2}, {5, 3});
  const Tensor at = parameter(x.clone());
  Tape tape;
  tape.backward(sum(retrace::index(at, {indices({1, -1}), indices({0, 0})})));
  expect_values(at.grad(), {2, 3, 2}, {0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0});
}

TEST(Indexing, PaddingGetsNoGradientAndNoTangent) {
  const Tensor ids = indices({{2, 0}, {2, 1}}), table = counted({3, 2});
  for (const std::int64_t padding : {2, -1}) {
    const auto padded = [&](const Tensor& at) { return embedding(at, ids, {.padding_idx = padding}); };
    expect_values(padded(table), {2, 2, 2}, {4, 5, 0, 1, 4, 5, 2, 3});
    const Tensor at = parameter(table.clone());
    Tape tape;
    tape.backward({padded(at)}, {full({2, 2, 2}, 3, f64)});
    expect_values(at.grad(), {3, 2}, {3, 3, 3, 3, 0, 0});
    expect_values(jvp(padded, table, ones({3, 2}, f64)), {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1});
  }
}

TEST(Indexing, WhatIsNotPickedGetsZero) {
  const Tensor table = parameter(ones({3, 2}, f64));
  Tape tape;
  tape.backward(sum(embedding(table, indices({0, 0}))));
  expect_values(table.grad(), {3, 2}, {2, 2, 0, 0, 0, 0});
}

TEST(Indexing, EveryDtypeIsPicked) {
  for (const Dtype dtype : {f32, f64, i64, dual}) {
    const Tensor x = counted({2, 3}, dtype);
    EXPECT_EQ(take(x, indices({1})).at({0, 2}), 5);
    EXPECT_EQ(gather(x, indices({{0}, {2}})).at({1, 0}), 5);
    EXPECT_EQ(embedding(x, indices({1, 1})).at({1, 2}), 5);
    EXPECT_EQ(scatter_add(x, indices({0}), counted({1, 3}, dtype)).at({0, 2}), 4);
  }
}

TEST(Indexing, Errors) {
  const Tensor x = counted({2, 3}), bad = indices({0, 2}).named("ids");
  expect_error<IndexError>([&] { take(x, bad); },
                           "take: id 2 at position 1 of ids[2] is outside 0 to 1; check the ids");
  expect_error<IndexError>([&] { embedding(x, indices({-1})); },
                           "embedding: id -1 at position 0 of ids[1] is outside 0 to 1; check the ids");
  expect_error<IndexError>(
      [&] {
        gather(x, indices({{0}, {3}}));
      },
      "gather: id 3 at position 1 of ids[2, 1] is outside 0 to 2; check the ids");
  expect_error<IndexError>([&] { scatter_add(x, bad, x); },
                           "scatter_add: id 2 at position 1 of ids[2] is outside 0 to 1; check the ids");
  expect_error<DtypeError>([&] { take(x, ones({2}, f64)); },
                           "take: ids[2] is f64, but indices are i64; make them with indices() or to(i64)");
  expect_error<ShapeError>(
      [&] { take(x, indices({{0}})); },
      "take: ids[1, 1] must be a vector, or a 0-d tensor to drop the axis; use gather or embedding for more");
  expect_error<ShapeError>(
      [&] { gather(x, indices({0})); },
      "gather: x[2, 3] and ids[1] along axis 1: all other extents must be equal; broadcast or slice one of them");
  expect_error<ShapeError>([&] { embedding(counted({3}), bad); },
                           "embedding: table[3] must be a matrix [ids, features]; reshape it");
  expect_error<ShapeError>(
      [&] {
        scatter_add(x, bad, counted({2, 2}));
      },
      "scatter_add: x[2, 3], ids[2] and updates[2, 2] along axis 0: ids must be a vector or of the shape of updates, "
      "which have the extents of x along all other axes; reshape or slice them");
  EXPECT_THROW(scatter_add(x, indices({0, 1}), counted({2, 3}, f32)), DtypeError);
  EXPECT_THROW(take(x, bad, 2), ShapeError);
}

}  // namespace
}  // namespace retrace
