// Properties of all broadcasting ops of two tensors, their ties and mixed dtypes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/ops/ops_of_type.h>

namespace retrace {
namespace {

struct NamedBinary {
  std::string name;
  Binary f;
};

/// Every op of ops.def that broadcasts two tensors, and where().
const std::vector<NamedBinary>& binary_ops() {
  static const std::vector<NamedBinary> ops = [] {
    const std::set<std::string> not_elementwise{"outer", "embedding", "masked_select"};
    std::vector<NamedBinary> found{{"where", [](const Tensor& a, const Tensor& b) {
                                      return where(indices({1, 0, 1, 1}), a, b);
                                    }}};
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, const Tensor&)>())
      if (!not_elementwise.contains(name) && !gives_integers(name)) found.push_back({name, f});
    return found;
  }();
  return ops;
}

TEST(Binary, BroadcastsValuesAsNumpyDoes) {
  const Tensor y = tensor({{10}, {20}}, f64) - tensor({1, 2, 3}, f64);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  const std::vector<double> want{9, 8, 7, 19, 18, 17};
  EXPECT_TRUE(std::equal(want.begin(), want.end(), y.values<double>().begin()));
}

TEST(Binary, EmptyTensors) {
  for (const auto& [name, f] : binary_ops()) {
    if (std::string(name) == "where") continue;  // the condition of the table has four elements
    EXPECT_EQ(f(ones({0, 3}, f64), ones({3}, f64)).shape(), (Shape{0, 3})) << name;
    const Tensor row = parameter(ones({1, 3}, f64));
    Tape tape;
    tape.backward({f(ones({0, 3}, f64), row)}, {ones({0, 3}, f64)});
    const Tensor gradient = row.grad();
    for (const double value : gradient.values<double>()) EXPECT_EQ(value, 0) << name;
  }
}

TEST(Binary, TheSameTensorTwice) {
  EXPECT_EQ(slope([](const Tensor& x) { return x * x; }, 3), 6);
  EXPECT_EQ(slope([](const Tensor& x) { return x + x; }, 3), 2);
  EXPECT_EQ(slope([](const Tensor& x) { return x - x; }, 3), 0);
  EXPECT_EQ(slope([](const Tensor& x) { return x / x; }, 3), 0);
}

TEST(Binary, GradientHandedOnIsNotChangedByLaterContributions) {
  const Tensor a = parameter(number(1)), b = parameter(number(1));
  Tape tape;
  const Tensor y = a + b;
  tape.backward(y + a);
  EXPECT_EQ(y.grad().item(), 1);
  EXPECT_EQ(a.grad().item(), 2);
  EXPECT_EQ(b.grad().item(), 1);
}

TEST(Binary, SavesOnlyWhatTheWantedGradientsNeed) {
  const Tensor a = parameter(ones({3}));
  const Tensor b = ones({3});
  Tape tape;
  const Tensor y = a * b;
  const Record& record = *tape.records()[0];
  EXPECT_FALSE(record.saved(0));
  EXPECT_TRUE(record.saved(1));
  EXPECT_EQ(record.saved_values(), 2) << "y is not needed";
}

TEST(Binary, LargeSumsOfFloatsKeepTheirPrecision) {
  const Tensor a = parameter(zeros({}));
  Tape tape;
  const Tensor y = a + full({1 << 20}, 0.1);
  tape.backward({y}, {full({1 << 20}, 0.1)});
  EXPECT_NEAR(a.grad().item(), 0.1f * (1 << 20), 0.01);
}

TEST(Binary, LongTensorsAreTheSameOnAnyNumberOfThreads) {
  const Tensor a = parameter(distinct({3, 211, 101}, 0.1)), b = parameter(distinct({3, 1, 101}, 0.2));
  for (const auto& [name, f] : binary_ops()) {
    if (std::string(name) == "where") continue;
    std::vector<double> gradients[2];
    for (const int count : {1, 4}) {
      const ThreadsScope scope(count);
      a.zero_grad();
      b.zero_grad();
      Tape tape;
      const Tensor y = f(a, b);
      tape.backward({y}, {y.detach()});
      for (const Tensor& gradient : {a.grad(), b.grad()})
        for (const double value : gradient.values<double>()) gradients[count == 1 ? 0 : 1].push_back(value);
    }
    EXPECT_EQ(gradients[0], gradients[1]) << name;
  }
}

TEST(Dtypes, MixturesAreRefusedByName) {
  expect_error<DtypeError>([] { add(ones({2}, f32), ones({2}, f64)); },
                           dtypes_differ("add", "a[2] is f32", "b[2] is f64"));
  expect_error<DtypeError>(
      [] {
        mul(ones({2}, f32).named("w"), indices({1, 2}));
      },
      dtypes_differ("mul", "w[2] is f32", "b[2] is i64"));
}

TEST(Dtypes, ShapesThatDoNotBroadcastAreRefusedByName) {
  expect_error<ShapeError>(
      [] {
        add(ones({2, 3}).named("w"), ones({2}));
      },
      "add: w[2, 3] and b[2] do not broadcast: axis -1 is 3 and 2, but must be equal or 1; reshape or "
      "transpose one of them");
}

TEST(Dtypes, DoubleMeetingDualGetsAZeroTangent) {
  const Dual seeded(3, 1);
  const Tensor a = tensor(std::span(&seeded, 1), {});
  const Tensor b = parameter(number(2));
  Tape tape;
  const Tensor y = a * b;
  EXPECT_EQ(y.values<Dual>()[0].value, 6);
  EXPECT_EQ(y.values<Dual>()[0].tangent, 2);
  tape.backward(y);
  EXPECT_EQ(b.grad().dtype(), f64);
  EXPECT_EQ(b.grad().item(), 3);
}

TEST(Dtypes, IntegersAddSubtractAndMultiply) {
  const Tensor y = indices({7, 8}) * indices({2, 3}) - indices({1, 1}) + indices({5, 5});
  EXPECT_EQ(y.dtype(), i64);
  EXPECT_EQ(y.at({0}), 18);
  EXPECT_EQ(y.at({1}), 28);
  expect_error<DtypeError>([] { div(indices({1}), indices({2})); }, needs_real("div", "a[1]"));
}

TEST(Ties, ShareTheGradientInHalves) {
  for (const Binary f : {maximum, minimum}) {
    const Tensor a = parameter(number(2)), b = parameter(number(2));
    Tape tape;
    tape.backward(f(a, b));
    EXPECT_EQ(a.grad().item(), 0.5);
    EXPECT_EQ(b.grad().item(), 0.5);
    const Dual seeded(2, 1);
    EXPECT_EQ(f(tensor(std::span(&seeded, 1), {}), number(2)).values<Dual>()[0].tangent, 0.5);
  }
}

TEST(MaximumAndMinimum, GiveNanIfEitherIs) {
  for (const Binary f : {maximum, minimum}) {
    EXPECT_TRUE(std::isnan(f(number(nan), number(1)).item()));
    EXPECT_TRUE(std::isnan(f(number(1), number(nan)).item()));
  }
  EXPECT_EQ(maximum(number(-infinity), number(3)).item(), 3);
  EXPECT_EQ(minimum(number(infinity), number(3)).item(), 3);
}

}  // namespace
}  // namespace retrace
