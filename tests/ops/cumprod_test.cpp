// cumprod: values, and gradients where elements are 0.
#include <gtest/gtest.h>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Cumprod, TakesZerosAsTheyCome) {
  expect_values(cumprod(tensor({{2, 3, 0, 4}}, f64)), {1, 4}, {2, 6, 0, 0});
  expect_values(cumprod(counted({2, 2}) + 1, 0), {2, 2}, {1, 2, 3, 8});
  expect_values(cumprod(zeros({2, 0}, f64)), {2, 0}, {});
  const Tensor x = parameter(tensor({2, 0, 3, 0, 5}, f64));
  Tape tape;
  tape.backward({cumprod(x)}, {tensor({1, 10, 100, 1000, 10000}, f64)});
  expect_values(x.grad(), {5}, {1, 2 * (10 + 3 * 100), 0, 0, 0});
}

TEST(Cumprod, NeedsAnAxis) {
  expect_error<ShapeError>([] { cumprod(number(2)); }, "cumprod: x[] is 0-d and has no axis -1; reshape it first");
}

}  // namespace
}  // namespace retrace
