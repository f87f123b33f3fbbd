// Gradient checks at the limits: slopes of any size, points beside the edge of a domain, functions that vary faster
// than the step is long, kinks, and backwards that do not repeat themselves.
#include <gtest/gtest.h>
#include <retrace/nn/nn.h>

#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

using OfOneTensor = std::function<Tensor(const Tensor& x)>;

std::string report_of(const GradcheckResult& result) {
  std::ostringstream report;
  report << result;
  return report.str();
}

// ---- slopes of any size

/// scale * (x^3 + 2x), with a gradient that a bug may change.
Tensor scaled(const Tensor& x, double scale, const std::function<Tensor(const Tensor& right, const Tensor& x)>& bug) {
  return custom_op(
      "scaled", {x}, [=](const Tensors& in) { return scale * (in[0] * in[0] * in[0] + 2 * in[0]); },
      [=](const Tensor& dy, const Tensors& in, const Tensor&) {
        return Tensors{dy * bug(scale * (3 * square(in[0]) + 2), in[0])};
      });
}

struct Bug {
  const char* name;
  std::function<Tensor(const Tensor& right, const Tensor& x)> change;
};
const std::vector<Bug> slope_bugs = {
    {"a wrong sign", [](const Tensor& right, const Tensor&) { return -right; }},
    {"a wrong factor", [](const Tensor& right, const Tensor&) { return 1.001 * right; }},
    {"nothing at all", [](const Tensor& right, const Tensor&) { return 0 * right; }},
    {"one wrong element", [](const Tensor& right, const Tensor&) {
       return right * tensor({1, 1, 1.1}, f64);
     }}};

TEST(GradcheckLimits, FindsWrongSlopesOfAnySize) {
  const Tensor x = tensor({1, -2, 0.5}, f64);
  for (const double scale : {1e-300, 1e-200, 1e-100, 1e-20, 1e-9, 1.0, 1e9, 1e100, 1e200, 1e300})
    for (const GradcheckOptions& options :
         {GradcheckOptions{}, GradcheckOptions{.fast = true}, GradcheckOptions{.differences_only = true}}) {
      const GradcheckResult right =
          gradcheck([&](const Tensor& v) { return scaled(v, scale, [](const Tensor& g, const Tensor&) { return g; }); },
                    x, options);
      EXPECT_TRUE(right.passed()) << scale << ": " << right;
      for (const Bug& bug : slope_bugs) {
        const GradcheckResult wrong =
            gradcheck([&](const Tensor& v) { return scaled(v, scale, bug.change); }, x, options);
        EXPECT_FALSE(wrong.passed()) << bug.name << " of scale " << scale << ": " << wrong;
      }
    }
}

TEST(GradcheckLimits, FindsAWrongSmallSlopeBesideALargeValue) {
  const auto beside = [](double sign) {
    return [sign](const Tensor& x) {
      return custom_op(
          "beside", {x}, [](const Tensors& in) { return 1 + 1e-20 * square(in[0]); },
          [sign](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{sign * 2e-20 * dy * in[0]}; });
    };
  };
  for (const bool fast : {false, true}) {
    const GradcheckResult right = gradcheck(beside(1), tensor({1, 2, 3}, f64), {.fast = fast});
    EXPECT_TRUE(right.passed()) << right;
    const GradcheckResult wrong = gradcheck(beside(-1), tensor({1, 2, 3}, f64), {.fast = fast});
    EXPECT_FALSE(wrong.passed()) << wrong;
  }
}

/// A leaf with a gradient of 1e-20 beside one of 1.
TEST(GradcheckLimits, FindsAWrongSmallGradientBesideALargeOneInAFastCheck) {
  const auto f = [](double slope) {
    return [slope](const Tensors& in) {
      const Tensor small = custom_op(
          "small", {in[1]}, [](const Tensors& x) { return 1e-20 * sin(x[0]); },
          [slope](const Tensor& dy, const Tensors& x, const Tensor&) { return Tensors{slope * dy * cos(x[0])}; });
      return Tensors{square(in[0]), small};
    };
  };
  const Tensors x = {tensor({1, 2, 3}, f64), tensor({1, 2, 3}, f64)};
  EXPECT_TRUE(gradcheck(Function(f(1e-20)), x, {.fast = true}).passed());
  for (const double wrong : {-1e-20, 2e-20, 0.0, 1e-10}) {
    const GradcheckResult result = gradcheck(Function(f(wrong)), x, {.fast = true});
    EXPECT_FALSE(result.passed()) << wrong << ": " << result;
  }
}

// ---- right gradients at difficult points

struct Point {
  const char* name;
  OfOneTensor f;
  std::vector<double> x;
};

std::vector<Point> difficult_points() {
  return {
      {"log beside 0", [](const Tensor& x) { return log(x); }, {1e-3, 1e-8, 1e-12, 1e-100, 1e-300, 0.5}},
      {"sqrt beside 0", [](const Tensor& x) { return sqrt(x); }, {1e-3, 1e-8, 1e-20, 2}},
      {"pow(x, 1.5) at and beside 0", [](const Tensor& x) { return pow(x, 1.5); }, {0, 1e-9, 1e-3, 2}},
      {"1/x beside 0", [](const Tensor& x) { return 1 / x; }, {1e-3, -1e-8, 1e-50, 3}},
      {"1/x where all are beside 0", [](const Tensor& x) { return 1 / x; }, {1e-25, 2e-25}},
      {"log1p beside -1", [](const Tensor& x) { return log1p(x); }, {-1 + 1e-10, -0.999, 3}},
      {"sin far out", [](const Tensor& x) { return sin(x); }, {1e6, -1e8, 1e12, 1}},
      {"sin of large multiples", [](const Tensor& x) { return sin(x * 1e7); }, {0.3, 1, -2}},
      {"cos beyond the resolution", [](const Tensor& x) { return cos(x); }, {1e15, 1e16}},
      {"steep sigmoids", [](const Tensor& x) { return sigmoid(x * 1e8); }, {0, 1e-9, -3e-9, 1e-8, 0.1}},
      {"steep tanh", [](const Tensor& x) { return tanh(x * 1e12); }, {0, 1e-13, -1e-12, 1}},
      {"saturated sigmoids", [](const Tensor& x) { return sigmoid(x); }, {-40, -300, -700, 30, 40, 700, -740}},
      {"saturated gates", [](const Tensor& x) { return sigmoid(x) * tanh(x * x); }, {-40, 20, 300, -600}},
      {"softplus far out", [](const Tensor& x) { return softplus(x); }, {-700, -40, 40, 1e10}},
      {"exp far out", [](const Tensor& x) { return exp(x); }, {-700, 700, 1e-300}},
      {"near-constant layer norm", [](const Tensor& x) { return layer_norm(x); }, {1, 1 + 1e-9, 1 - 1e-9, 1}},
      {"near-constant normalisation",
       [](const Tensor& x) { return layer_norm(x, Tensor(), Tensor(), {.eps = 1e-30}); },
       {1, 1 + 1e-6, 1 - 2e-6, 1 + 3e-7}},
      {"softmax of large distances", [](const Tensor& x) { return softmax(x); }, {0, 100, 800, -50}},
      {"logsumexp of large numbers", [](const Tensor& x) { return logsumexp(x); }, {1e8, 1e8 + 1, 3}},
      {"erf far out", [](const Tensor& x) { return erf(x); }, {-6, 5, 26, 0}},
      {"gelu far out", [](const Tensor& x) { return gelu(x); }, {-40, -8, 8, 1e5}},
      {"abs at 0", [](const Tensor& x) { return abs(x); }, {0, 1e-12, -1e-5, 1}},
      {"relu at and beside 0", [](const Tensor& x) { return relu(x); }, {0, 1e-9, -1e-9, 1e-3, -2}},
      {"steps", [](const Tensor& x) { return floor(x) + sign(x) + x; }, {0, 1, 2, 0.3}},
      {"a product of many", [](const Tensor& x) { return prod(x * 1e-30); }, {1, 2, 3, 4, 5}},
  };
}

TEST(GradcheckLimits, PassesRightGradientsAtDifficultPoints) {
  for (const Point& point : difficult_points())
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Tensor x = tensor(std::span<const double>(point.x), {static_cast<std::int64_t>(point.x.size())}, f64);
      const GradcheckResult result = gradcheck(point.f, x, {.seed = seed});
      EXPECT_TRUE(result.passed()) << point.name << ": " << result;
    }
}

/// The same function with a backward that is 1.01 times as large.
TEST(GradcheckLimits, FindsWrongGradientsAtTheSamePoints) {
  for (const Point& point : difficult_points()) {
    for (const double number : point.x) {
      const Tensor x = tensor({number}, f64);
      Tensor right;
      {
        const Tensor leaf = parameter(x);
        Tape tape;
        tape.backward(sum(point.f(leaf)));
        right = leaf.grad();
      }
      if (std::abs(right.item()) < 1e-300) continue;  // 0, or too few digits
      const GradcheckResult wrong = gradcheck(
          [&](const Tensor& v) {
            return custom_op(
                "wrong", {v}, [&](const Tensors& in) { return point.f(in[0]); },
                [&](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{1.01 * sum(dy) * right}; });
          },
          x);
      EXPECT_FALSE(wrong.passed()) << point.name << " at " << number << ": " << wrong;
    }
  }
}

// ---- kinks

TEST(GradcheckLimits, TellsTheElementsAtKinks) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return relu(x); }, tensor({{1, 0}, {0, -1}}, f64));
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.at_kinks, 2);
  const std::string report = report_of(result);
  EXPECT_NE(report.find("input 0 [0, 1] is at a kink, with slopes of "), std::string::npos) << report;
  EXPECT_NE(report.find("its gradient 0 is that of dual numbers"), std::string::npos) << report;
}

TEST(GradcheckLimits, AGradientOutsideOfTheSlopesAtAKinkIsWrong) {
  const auto kinked = [](double slope) {
    return [slope](const Tensor& x) {
      return custom_op(
          "kinked", {x}, [](const Tensors& in) { return relu(in[0]); },
          [slope](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{full_like(in[0], slope) * dy}; },
          {.differences_only = true});
    };
  };
  for (const double slope : {-0.1, 1.1, 2.0}) EXPECT_FALSE(gradcheck(kinked(slope), zeros({2})).passed()) << slope;
}

TEST(GradcheckLimits, KinksThatAreDeclaredAreSkippedByBothChecks) {
  const auto other_convention = [](const Tensor& x) {
    return custom_op(
        "abs1", {x}, [](const Tensors& in) { return abs(in[0]); },
        [](const Tensor& dy, const Tensors& in, const Tensor&) {
          return Tensors{where(greater_equal(in[0], 0.0), dy, -dy)};  // slope 1 at 0
        });
  };
  const Tensor x = tensor({0, 1, -2}, f64);
  EXPECT_FALSE(gradcheck(other_convention, x).passed()) << "dual numbers have another slope at 0";
  const GradcheckResult result = gradcheck(other_convention, x, {.kinks = {0}});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.skipped, 1);
  const GradcheckResult fast = gradcheck(other_convention, x, {.kinks = {0}, .fast = true});
  EXPECT_TRUE(fast.passed()) << fast;
}

// ---- backwards that do not repeat themselves

TEST(GradcheckLimits, FindsABackwardThatDiffersFromCallToCall) {
  for (const bool fast : {false, true})
    for (const bool differences_only : {false, true}) {
      if (fast && differences_only) continue;
      int calls = 0;
      const GradcheckResult result = gradcheck(
          [&](const Tensor& x) {
            return custom_op(
                "restless", {x}, [](const Tensors& in) { return square(in[0]); },
                [&](const Tensor& dy, const Tensors& in, const Tensor&) {
                  return Tensors{(++calls % 2 == 1 ? 2.0 : 0.0) * dy * in[0]};
                });
          },
          tensor({1, 2, 3}, f64), {.fast = fast, .differences_only = differences_only});
      EXPECT_FALSE(result.passed()) << result;
      EXPECT_NE(report_of(result).find("\n  not repeatable: two backwards of the same inputs differ: the gradient of "
                                       "input 0 at [0] is "),
                std::string::npos)
          << result;
    }
}

TEST(GradcheckLimits, APointWhereTheFunctionIsNaNSaysNothing) {
  for (const OfOneTensor& f :
       std::vector<OfOneTensor>{[](const Tensor& x) { return log(x); }, [](const Tensor& x) { return log1p(x - 1.0); },
                                [](const Tensor& x) { return sqrt(x); }}) {
    const GradcheckResult result = gradcheck(f, tensor({-1.0, 4.0}, f64));
    EXPECT_FALSE(result.passed()) << result;
    EXPECT_EQ(result.vacuous, "f is nan at this point, which has no gradient; choose another one");
  }
}

TEST(GradcheckLimits, ABackwardThatGivesTheSameNaNTwiceRepeatsItself) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return sqrt(x); }, tensor({-1.0, 4.0}, f64));
  EXPECT_EQ(result.not_repeatable, "");
}

/// (1, 0) where a = b, and right everywhere else: the gradients of all neighbours differ by half of their size.
TEST(GradcheckLimits, ABackwardThatJumpsAtATieIsNoRounding) {
  const auto f = [](bool bug) {
    return [bug](const Tensors& inputs) {
      return custom_op(
          "log_add_exp", inputs, [](const Tensors& in) { return log(exp(in[0]) + exp(in[1])); },
          [bug](const Tensor& dy, const Tensors& in, const Tensor&) {
            const Tensor tie = equal(in[0], in[1]), da = dy * sigmoid(in[0] - in[1]), db = dy * sigmoid(in[1] - in[0]);
            return bug ? Tensors{where(tie, dy, da), where(tie, 0.0, db)} : Tensors{da, db};
          });
    };
  };
  const Tensor a = tensor({1.0, 0.3}, f64), b = tensor({1.0, 0.7}, f64);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_TRUE(gradcheck(f(false), {a, b}, {.seed = seed}).passed());
    const GradcheckResult wrong = gradcheck(f(true), {a, b}, {.seed = seed});
    EXPECT_EQ(wrong.failed, 2) << wrong;
    EXPECT_GT(wrong.exact_error, 0.01) << wrong;
    EXPECT_FALSE(gradcheck(f(true), {a, b}, {.seed = seed, .fast = true}).passed());
  }
}

}  // namespace
}  // namespace retrace
