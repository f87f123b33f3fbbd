// Properties of all ops of one tensor.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/ops/ops_of_type.h>

namespace retrace {
namespace {

struct NamedUnary {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
};

/// Every op of ops.def that maps each element of one tensor, with numbers for those that take some, and of smaller
/// elements for those that are defined for these only.
const std::vector<NamedUnary>& unary_ops() {
  static const std::vector<NamedUnary> ops = [] {
    const std::set<std::string> rearranging{"transpose", "combine_heads", "swiglu"};
    const std::map<std::string, double> numbers{{"scale", -2.5}, {"div", -2.5},       {"shift", 0.7},
                                                {"pow", 2.5},    {"leaky_relu", 0.1}, {"elu", 0.3}};
    std::vector<NamedUnary> found;
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&)>())
      if (is_inside_one(name))
        found.push_back({name, [f = f](const Tensor& x) { return f(0.3 * x); }});
      else if (!rearranging.contains(name) && !gives_integers(name))
        found.push_back({name, f});
    found.push_back({"logit", [](const Tensor& x) { return logit(0.3 * x); }});
    found.push_back({"logit with eps", [](const Tensor& x) { return logit(0.3 * x, 0.2); }});
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, double)>())
      if (!gives_integers(name))
        found.push_back({name, [f = f, c = numbers.at(name)](const Tensor& x) { return f(x, c); }});
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, double, double)>())
      found.push_back({name, [f = f](const Tensor& x) { return f(x, 0.2, 1.0); }});
    return found;
  }();
  return ops;
}

const std::vector<double> positive_points{0.25, 0.5, 0.9, 1.5, 3.0};

TEST(Unary, DualTangentsAreTheSlopes) {
  for (const auto& [name, f] : unary_ops())
    for (const double at : positive_points) {
      const Dual seeded(at, 1);
      const Tensor y = f(tensor(std::span(&seeded, 1), {}));
      EXPECT_NEAR(y.values<Dual>()[0].tangent, slope(f, at), 1e-13) << name << " at " << at;
      EXPECT_EQ(y.values<Dual>()[0].value, f(number(at)).item()) << name << " at " << at;
    }
}

TEST(Unary, NanInIsNanOut) {
  for (const auto& [name, f] : unary_ops())
    for (const Dtype dtype : {f32, f64, dual}) EXPECT_TRUE(std::isnan(f(number(nan, dtype)).item())) << name;
}

TEST(Unary, EmptyAndScalarTensors) {
  for (const auto& [name, f] : unary_ops()) {
    EXPECT_EQ(f(zeros({0, 3}, f64)).shape(), (Shape{0, 3})) << name;
    EXPECT_EQ(f(ones({}, f64)).shape(), Shape{}) << name;
    const Tensor x = parameter(zeros({2, 0}, f64));
    Tape tape;
    tape.backward({f(x)}, {zeros({2, 0}, f64)});
    EXPECT_EQ(x.grad().shape(), (Shape{2, 0})) << name;
  }
}

TEST(Unary, LongTensorsAreTheSameOnAnyNumberOfThreads) {
  const Tensor x = parameter(distinct({41, 1001}, 0.1));
  for (const auto& [name, f] : unary_ops()) {
    std::vector<double> values[2], gradients[2];
    for (const int count : {1, 4}) {
      const ThreadsScope scope(count);
      x.zero_grad();
      Tape tape;
      const Tensor y = f(x);
      tape.backward({y}, {ones_like(y)});
      const std::size_t run = count == 1 ? 0 : 1;
      values[run].assign(y.values<double>().begin(), y.values<double>().end());
      const Tensor gradient = x.grad();
      gradients[run].assign(gradient.values<double>().begin(), gradient.values<double>().end());
    }
    EXPECT_EQ(values[0], values[1]) << name;
    EXPECT_EQ(gradients[0], gradients[1]) << name;
  }
}

TEST(Unary, GradientsOfSeveralUsesAddUp) {
  EXPECT_DOUBLE_EQ(slope([](const Tensor& x) { return exp(x) + exp(x) + x + x; }, 0.5), 2 * std::exp(0.5) + 2);
}

TEST(Unary, IntegersAreRefusedByName) {
  expect_error<DtypeError>([] { sqrt(indices({1})); }, needs_real("sqrt", "x[1]"));
  EXPECT_EQ(neg(indices({3})).at({0}), -3);
}

TEST(Unary, FiniteInIsFiniteOut) {
  const std::set<std::string> overflowing{"scale", "selu", "pow", "exp", "expm1", "square", "lgamma"},
      partial{"log", "log1p", "sqrt", "reciprocal", "asin", "acos", "logit"};
  for (const Dtype dtype : {f32, f64}) {
    const double largest =
        dtype == f32 ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
    for (const auto& [name, f] : unary_ops()) {
      if (overflowing.contains(name) || partial.contains(name)) continue;
      for (const double x : {largest, 1e25, 1e4, 89.0, 0.0, -89.0, -1e4, -1e25, -largest}) {
        EXPECT_TRUE(std::isfinite(f(number(x, dtype)).item())) << name << " at " << x;
        EXPECT_TRUE(std::isfinite(slope(f, x, dtype))) << "slope of " << name << " at " << x;
      }
    }
  }
}

}  // namespace
}  // namespace retrace
