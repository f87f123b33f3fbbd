// Tensors: reading elements, and sharing between handles.
#include <retrace/core/tensor/tensor.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Elements, ByIndexFromEitherEnd) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}).named("x");
  EXPECT_EQ(x.at({1, 0}), 4);
  EXPECT_EQ(x.at({-1, -1}), 6);
  EXPECT_EQ(x.at({-2, 2}), 3);
  EXPECT_EQ(tensor({{7}}).item(), 7);
  EXPECT_EQ(full({}, 8, i64).at({}), 8);
  expect_error<ShapeError>([&] { x.item(); }, "item: x[2, 3] has 6 elements, not one; use at({i, ...}) or values<T>()");
  expect_error<ShapeError>([&] { x.at({1}); }, "at: 1 indices for x[2, 3]; give one per axis");
  expect_error<IndexError>([&] { x.at({0, 3}); }, "at: index 3 is outside axis 1 of x[2, 3]; it runs from -3 to 2");
  expect_error<IndexError>([&] { x.at({-3, 0}); }, "at: index -3 is outside axis 0 of x[2, 3]; it runs from -2 to 1");
}

TEST(Elements, ARowSharesTheStorage) {
  const Tensor x = tensor({{1, 2}, {3, 4}, {5, 6}}), row = x[1], last = x[-1];
  EXPECT_EQ(row.shape(), Shape{2});
  EXPECT_EQ(list(row), (std::vector<double>{3, 4}));
  EXPECT_EQ(list(last), (std::vector<double>{5, 6}));
  EXPECT_EQ(x[2][0].item(), 5);
  x.mutable_values<float>()[2] = 9;
  EXPECT_EQ(row.at({0}), 9);
  EXPECT_THROW(x[3], IndexError);
  EXPECT_THROW(x[-4], IndexError);
  EXPECT_THROW(tensor(1)[0], ShapeError);
}

TEST(Elements, AreReadAsTheirOwnTypeOnly) {
  const Tensor x = tensor({1, 2}).named("x");
  expect_error<DtypeError>([&] { x.values<double>(); },
                           "values: x[2] is f32, not f64; ask for its own type or convert with to(f64)");
  EXPECT_THROW(x.mutable_values<std::int64_t>(), DtypeError);
}

TEST(Sharing, HandlesAreOneTensor) {
  const Tensor x = zeros({2}), same = x, cut = x.detach(), copy = x.clone();
  same.mutable_values<float>()[0] = 3;
  EXPECT_EQ(list(x), (std::vector<double>{3, 0}));
  EXPECT_EQ(list(cut), (std::vector<double>{3, 0}));
  EXPECT_EQ(list(copy), (std::vector<double>{0, 0}));
}

TEST(Sharing, DetachAndCloneLeaveTheTape) {
  const Tensor w = parameter(ones({2}), "w");
  EXPECT_EQ(w.name(), "w");
  Tape tape;
  for (const Tensor& x : {w.detach(), w.clone()}) {
    EXPECT_FALSE(x.wants_gradient());
    EXPECT_FALSE((x * 2.0).wants_gradient());
  }
  EXPECT_EQ(tape.size(), 0);
  EXPECT_TRUE(w.wants_gradient());
}

TEST(Sharing, CopyValuesNeedsOneShapeAndOneDtype) {
  const Tensor from = tensor({1, 2}), to = zeros({2});
  copy_values(from, to);
  EXPECT_EQ(list(to), list(from));
  expect_error<ShapeError>(
      [&] {
        copy_values(from, zeros({2, 1}));
      },
      "copy_values: from [2] to [2, 1]: the shapes differ; reshape one");
  expect_error<DtypeError>([&] { copy_values(from, zeros({2}, f64)); },
                           "copy_values: from f32 to f64: the dtypes differ; use to(f64) first");
}

TEST(DtypeScope, HoldsUntilTheEndOfTheBlockOnItsThread) {
  {
    const DtypeScope doubles(f64);
    EXPECT_EQ(zeros({1}).dtype(), f64);
    EXPECT_EQ(tensor({1}).dtype(), f64);
    EXPECT_EQ(zeros({1}, f32).dtype(), f32);
    {
      const DtypeScope duals(dual);
      EXPECT_EQ(ones({1}).dtype(), dual);
    }
    expect_error<DtypeError>([] { const DtypeScope integers(i64); },
                             "DtypeScope: i64 cannot be the default; use f32, f64 or dual");
    EXPECT_EQ(default_dtype(), f64);
    std::thread([] { EXPECT_EQ(default_dtype(), f32); }).join();
  }
  EXPECT_EQ(default_dtype(), f32);
}

TEST(UndefinedTensor, IsAnErrorWhateverIsAskedOfIt) {
  Tensor from = ones({2});
  const Tensor target = std::move(from), never;
  EXPECT_TRUE(target.defined());
  for (const Tensor& x : {never, from}) {
    EXPECT_FALSE(x.defined());
    EXPECT_EQ(to_text(x), "an undefined tensor");
    const std::vector<std::pair<const char*, std::function<void()>>> uses{
        {"shape", [&] { x.shape(); }},
        {"dtype", [&] { x.dtype(); }},
        {"rank", [&] { x.rank(); }},
        {"dim", [&] { x.dim(0); }},
        {"numel", [&] { x.numel(); }},
        {"name", [&] { x.name(); }},
        {"item", [&] { x.item(); }},
        {"at", [&] { x.at({0}); }},
        {"values", [&] { x.values<float>(); }},
        {"values", [&] { x.mutable_values<float>(); }},
        {"has_values", [&] { x.has_values(); }},
        {"has_grad", [&] { x.has_grad(); }},
        {"grad", [&] { x.grad(); }},
        {"zero_grad", [&] { x.zero_grad(); }},
        {"wants_gradient", [&] { x.wants_gradient(); }},
        {"watch", [&] { x.watch(); }},
        {"clone", [&] { x.clone(); }},
        {"detach", [&] { x.detach(); }},
        {"named", [&] { x.named("x"); }}};
    for (const auto& [function, use] : uses)
      expect_error<ValueError>(use, text(function,
                                         ": this is an undefined tensor (default-constructed or moved from); "
                                         "assign a tensor to it first"));
  }
}

}  // namespace
}  // namespace retrace
