// Elements of gradients by three ways.
#include <retrace/core/checks/element_checks.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

#include <gtest/gtest.h>

#include <cmath>

namespace retrace {
namespace {

/// sin(a b) of elements, which wants the gradients of a and of b.
struct Product {
  Tensor a, b;
  std::function<Tensors()> f = [this] { return Tensors{sin(a * b)}; };

  explicit Product(Dtype dtype)
      : a(tensor(std::vector<double>{0.3, -1.2, 2.5}, {3}, dtype).named("a").watch()),
        b(tensor(std::vector<double>{1.1, 0.4, -0.7}, {3}, dtype).named("b").watch()) {}
  Trace trace(const Tensor& cotangent) const {
    Tape tape({.keep = true});
    return trace_backward(tape, f(), {cotangent});
  }
};

TEST(ElementChecks, AreThreeTimesTheDerivative) {
  const Product product(f64);
  const Tensor u = tensor(std::vector<double>{2, -3, 0.5}, {3}, f64);
  Trace trace = product.trace(u);
  check_elements(trace, product.f, {{"a", product.a}}, {u}, {.per_leaf = 3});
  ASSERT_EQ(trace.checks.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    const ElementCheck& check = trace.checks[k];
    EXPECT_EQ(trace.nodes[static_cast<std::size_t>(check.node)].name, "a");
    EXPECT_EQ(check.position, static_cast<std::int64_t>(k));
    const double a = product.a.values<double>()[k], b = product.b.values<double>()[k],
                 derivative = u.values<double>()[k] * b * std::cos(a * b);
    EXPECT_NEAR(check.tape, derivative, 1e-15);
    EXPECT_NEAR(check.dual, derivative, 1e-15);
    EXPECT_NEAR(check.difference, derivative, 1e-10);
  }
}

TEST(ElementChecks, TellAWrongGradientFromARightOne) {
  const Product product(f64);
  const Tensor u = ones({3}, f64);
  Trace trace = product.trace(u);
  for (TraceNode& node : trace.nodes)
    if (node.name == "b")
      for (double& gradient : node.gradient.values.mutable_values<double>()) gradient *= 2;
  check_elements(trace, product.f, {{"a", product.a}, {"b", product.b}}, {u}, {.per_leaf = 1});
  ASSERT_EQ(trace.checks.size(), 2u);
  EXPECT_NEAR(trace.checks[0].tape, trace.checks[0].dual, 1e-15);
  EXPECT_NEAR(trace.checks[1].tape, 2 * trace.checks[1].dual, 1e-15);
  EXPECT_NEAR(trace.checks[1].dual, trace.checks[1].difference, 1e-10);
}

TEST(ElementChecks, RestoreTheLeavesAndTheirGradients) {
  const Product product(f32);
  const Tensor u = ones({3}, f32);
  Trace trace = product.trace(u);
  const std::vector<float> values(product.a.values<float>().begin(), product.a.values<float>().end()),
      gradients(product.a.grad().values<float>().begin(), product.a.grad().values<float>().end());
  check_elements(trace, product.f, {{"a", product.a}, {"b", product.b}}, {u}, {.per_leaf = 1});
  ASSERT_EQ(trace.checks.size(), 2u);
  EXPECT_NEAR(trace.checks[0].tape, trace.checks[0].dual, 1e-6);
  EXPECT_NEAR(trace.checks[0].dual, trace.checks[0].difference, 1e-10) << "both in f64";
  EXPECT_TRUE(std::ranges::equal(product.a.values<float>(), values));
  EXPECT_TRUE(std::ranges::equal(product.a.grad().values<float>(), gradients));
}

TEST(ElementChecks, OfALossNeedNoCotangent) {
  const DtypeScope scope(f64);
  Random random(1);
  const Linear layer(3, 2, random);
  const Tensor x = random.normal({4, 3}), unused = random.normal({2}).watch();
  const std::function<Tensors()> f = [&] { return Tensors{mean(square(layer(x)))}; };
  Tape tape({.keep = true});
  Trace trace = trace_backward(tape, f()[0], {.names = names_of(layer)});
  check_elements(trace, f, {{"weight", layer.weight}, {"unused", unused}});
  ASSERT_EQ(trace.checks.size(), 2u) << "a leaf that the trace does not have is left out";
  for (const ElementCheck& check : trace.checks) {
    EXPECT_NEAR(check.tape, check.dual, 1e-15);
    EXPECT_NEAR(check.tape, check.difference, 1e-10);
  }
}

/// For a large tensor, the trace has only the gradients of the first elements.
TEST(ElementChecks, AreAmongTheElementsThatTheTraceHas) {
  const Tensor x = ones({100}, f64).named("x").watch();
  const std::function<Tensors()> f = [&] { return Tensors{sum(square(x))}; };
  Tape tape({.keep = true});
  Trace trace = trace_backward(tape, f()[0], {.max_elements = 50, .slice = 4});
  check_elements(trace, f, {{"x", x}}, {}, {.per_leaf = 9});
  ASSERT_EQ(trace.checks.size(), 4u);
  EXPECT_EQ(trace.checks[3].position, 3);
  EXPECT_EQ(trace.checks[3].tape, 2);
}

TEST(ElementChecks, HaveNoDifferenceAtAKink) {
  const Tensor x = tensor(std::vector<double>{0, 1, -1}, {3}, f64).named("x").watch();
  const std::function<Tensors()> f = [&] { return Tensors{sum(relu(x))}; };
  Tape tape({.keep = true});
  Trace trace = trace_backward(tape, f()[0]);
  check_elements(trace, f, {{"x", x}}, {}, {.per_leaf = 3});
  EXPECT_TRUE(std::isnan(trace.checks[0].difference)) << trace.checks[0].difference;
  EXPECT_NEAR(trace.checks[1].difference, 1, 1e-10);
  EXPECT_EQ(trace.checks[2].difference, 0);
}

TEST(ElementChecks, SayWhichLeavesAreMissing) {
  const Product product(f32);
  Trace trace = product.trace(ones({3}, f32));
  EXPECT_NE(message_of<DtypeError>([&] {
              check_elements(trace, product.f, {{"a", product.a}}, {ones({3}, f32)});
            }).find("give all its leaves"),
            std::string::npos);
}

TEST(ElementChecks, SayThatCotangentsAreMissing) {
  const Product product(f64);
  Trace trace = product.trace(ones({3}, f64));
  EXPECT_EQ(
      message_of<ShapeError>([&] {
        check_elements(trace, product.f, {{"a", product.a}});
      }),
      "check_elements: f gives 3 real numbers, and the cotangents have 1; give one cotangent of the shape of each "
      "result");
}

}  // namespace
}  // namespace retrace
