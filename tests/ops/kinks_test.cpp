// At kinks: jvp has the slopes that ops.h states, as vjp does, and a second derivative that does not exist is NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// Small whole numbers and halves with many ties and zeros; every third input is all zeros. Integers stay.
Tensor with_ties(const Tensor& like, std::size_t which, int pattern) {
  if (like.dtype() == i64) return like;
  const double steps[] = {0, 0.5, 0, -0.5, 1, 1, -1, 0.2, 0, 2};
  Tensor result = empty_like(like);
  std::size_t k = which + static_cast<std::size_t>(pattern);
  for (double& element : result.mutable_values<double>())
    element = pattern == 2 ? 0 : pattern == 1 ? std::abs(steps[k++ % 10]) : steps[k++ % 10];
  return result;
}

/// <u, J v> and <J^T u, v> of a case.
struct Products {
  double forward, backward;
};
Products products_of(const CheckCase& one, const Tensors& inputs) {
  Random random(5);
  Tensors duals, leaves, directions;
  for (const Tensor& input : inputs) {
    if (input.dtype() == i64) {
      duals.push_back(input), leaves.push_back(input), directions.push_back({});
      continue;
    }
    const Tensor direction = random.normal(input.shape(), f64), seeded = empty(input.shape(), dual);
    for (std::size_t k = 0; k < static_cast<std::size_t>(input.numel()); ++k)
      seeded.mutable_values<Dual>()[k] = Dual(input.values<double>()[k], direction.values<double>()[k]);
    duals.push_back(seeded), leaves.push_back(parameter(input)), directions.push_back(direction);
  }
  Products result{0, 0};
  const Tensors tangents = one.function(duals);
  Tape tape;
  const Tensors y = one.function(leaves);
  Tensors cotangents;
  for (std::size_t k = 0; k < y.size(); ++k) {
    cotangents.push_back(random.normal(y[k].shape(), f64));
    for (std::size_t e = 0; e < static_cast<std::size_t>(y[k].numel()); ++e)
      if (tangents[k].dtype() == dual)
        result.forward += cotangents[k].values<double>()[e] * tangents[k].values<Dual>()[e].tangent;
  }
  tape.backward(y, cotangents);
  for (std::size_t k = 0; k < leaves.size(); ++k)
    if (directions[k].defined() && leaves[k].has_grad())
      result.backward += sum(leaves[k].grad() * directions[k]).item();
  return result;
}

/// Every case of every op, moved to points full of ties and zeros. Where a slope is infinite or NaN both may be so.
TEST(Kinks, JvpEqualsVjpForEveryOp) {
  int compared = 0;
  for (const CheckedName& op : op_cases()) {
    if (op.name == "custom_op" || op.name == "dropout" || op.name == "on_gradient") continue;  // of the caller
    if (op.name == "nonzero") continue;       // its case needs elements that are not 0
    if (op.name == "gaussian_nll") continue;  // its variances are not negative
    for (const CheckCase& one : op.cases)
      for (int pattern = 0; pattern < 3; ++pattern) {
        Tensors inputs;
        for (std::size_t k = 0; k < one.inputs.size(); ++k) inputs.push_back(with_ties(one.inputs[k], k, pattern));
        const auto [forward, backward] = products_of(one, inputs);
        if (!std::isfinite(forward) && !std::isfinite(backward)) continue;
        ++compared;
        EXPECT_NEAR(forward, backward, 1e-10 * (1 + std::abs(backward))) << op.name << ", pattern " << pattern;
      }
  }
  EXPECT_GT(compared, 900);
}

TEST(Kinks, OfAJacobianAreThoseOfItsSums) {
  const Tensor x = tensor({0, -1, 0, 2}, f64);
  expect_near(jacobian([](const Tensor& at) { return abs(at); }, x), diag(tensor({0, -1, 0, 1}, f64)), 0);
  expect_near(jacobian([](const Tensor& at) { return sum(abs(at)); }, x), tensor({{0, -1, 0, 1}}, f64), 0);
  expect_near(jacobian([](const Tensor& at) { return max(at, 0); }, tensor({2, 1, 2, 2}, f64)),
              tensor({{1.0 / 3, 0, 1.0 / 3, 1.0 / 3}}, f64), 1e-16);
}

TEST(Kinks, HaveNoSecondDerivative) {
  const Tensor zero = zeros({2}, f64);
  const auto is_nan = [](const Tensor& h) { return std::isnan(h.at({0, 0})); };
  EXPECT_TRUE(is_nan(hessian([](const Tensor& x) { return exp(-square(norm(x))); }, zero)));
  EXPECT_TRUE(is_nan(hessian([](const Tensor& x) { return sum(square(abs(x))); }, zero)));
  EXPECT_TRUE(is_nan(hessian([](const Tensor& x) { return square(retrace::std(x)); }, full({2}, 3, f64))));
  EXPECT_TRUE(is_nan(hessian([](const Tensor& x) { return sum(square(sqrt(x))); }, zero)));
  EXPECT_TRUE(is_nan(hessian([](const Tensor& x) { return square(max(x) - min(x)); }, zero)));
  EXPECT_TRUE(is_nan(
      hessian([](const Tensor& x) { return sum(square(maximum(x, flip(x, 0)) - minimum(x, flip(x, 0)))); }, zero)));
  EXPECT_TRUE(is_nan(
      hessian([](const Tensor& x) { return sum(square(smooth_l1(x, zeros({2}, f64), 0, Reduction::none))); }, zero)));
}

TEST(Kinks, ThatAreNoneHaveTheirSecondDerivative) {
  const Tensor zero = zeros({2}, f64);
  expect_near(hessian([](const Tensor& x) { return exp(-sum(square(x))); }, zero), -2 * eye(2, 2, f64), 1e-15);
  expect_near(hessian([](const Tensor& x) { return sum(pow(x, 2.0)); }, zero), 2 * eye(2, 2, f64), 1e-15);
  expect_near(hessian([](const Tensor& x) { return sum(pow(x, 1.0)); }, zero), zeros({2, 2}, f64), 0);
  expect_near(hessian([](const Tensor& x) { return sum(square(norm(x))); }, tensor({3, 4}, f64)), 2 * eye(2, 2, f64),
              1e-14);
  expect_near(hessian([](const Tensor& x) { return square(max(x)); }, tensor({1, 2}, f64)),
              tensor({{0, 0}, {0, 2}}, f64), 0);
  expect_near(hessian([](const Tensor& x) { return sum(sigmoid(x)) + sum(softplus(x)) + sum(mish(x)); }, zero),
              eye(2, 2, f64) * (0.25 + 2 * 0.32), 1e-12);
}

}  // namespace
}  // namespace retrace
