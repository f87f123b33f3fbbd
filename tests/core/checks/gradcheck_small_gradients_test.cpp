// Gradients that are 0 or small compared with the values of the function, where finite differences are pure rounding:
// correct gradients must still pass and wrong ones fail.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <retrace/nn/nn.h>
#include <retrace/tests/core/checks/planted_op.h>

namespace retrace {
namespace {

using OfOne = Tensor (*)(const Tensor& x);

void expect_passed_by_all_seeds(const char* name, OfOne f, int seeds = 20) {
  for (int seed = 0; seed < seeds; ++seed) {
    const GradcheckResult result = gradcheck(f, Random(static_cast<std::uint64_t>(seed)).normal({3, 7}, f64));
    EXPECT_TRUE(result.passed()) << name << ", seed " << seed << ": " << result;
    EXPECT_EQ(result.elements, 21) << name;
  }
}

TEST(GradcheckOfSmallGradients, PassesWhatCancels) {
  expect_passed_by_all_seeds("sum(softmax(x))", [](const Tensor& x) { return sum(softmax(x)); });
  expect_passed_by_all_seeds("sum(layer_norm(x))", [](const Tensor& x) { return sum(layer_norm(x)); });
  expect_passed_by_all_seeds("a sum for each row", [](const Tensor& x) { return sum(layer_norm(x), -1); });
  expect_passed_by_all_seeds("1e6 of them", [](const Tensor& x) { return 1e6 * sum(softmax(x), -1); });
  expect_passed_by_all_seeds("sin^2 + cos^2", [](const Tensor& x) { return square(sin(x)) + square(cos(x)); });
  expect_passed_by_all_seeds("x - x", [](const Tensor& x) { return 1e8 * x - 1e8 * x; });
}

TEST(GradcheckOfSmallGradients, PassesWhatIsBesideALargeValue) {
  expect_passed_by_all_seeds("x + 1e8", [](const Tensor& x) { return x + 1e8; });
  expect_passed_by_all_seeds("(x + 1e8) - 1e8", [](const Tensor& x) { return (x + 1e8) - 1e8; });
  expect_passed_by_all_seeds("1e-9 x + 1e8", [](const Tensor& x) { return 1e-9 * x + 1e8; });
  expect_passed_by_all_seeds("softmax(x + 1e6)", [](const Tensor& x) { return softmax(x + 1e6); });
}

/// softmax is invariant to the key bias, so its gradient is 0.
TEST(GradcheckOfSmallGradients, PassesTheKeyBiasOfAttention) {
  for (int seed = 0; seed < 20; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const MultiHeadAttention attention(8, random, {.heads = 2, .bias = true});
    const Tensor x = random.normal({2, 3, 8}, f64);
    const GradcheckResult result = gradcheck(attention, [&](const MultiHeadAttention& m) { return m(x).y; });
    EXPECT_TRUE(result.passed()) << result;
    EXPECT_GE(result.undecided, 8) << "the elements of the bias";
  }
}

// ---- planted bugs where differences are blind

struct SmallGradient {
  const char* bug;
  Forward forward;
  BackwardFunction backward;
  std::size_t inputs = 1;
};

// clang-format off
const SmallGradient small_gradients[] = {
    {"x + 1e8: wrong by 1e-5", [](auto& a, auto&) { return a + 1e8; },
     by([](auto& s) { return s.dy * (s.bug ? 1 + 1e-5 : 1); })},
    {"x + 1e8: wrong by 1e-9", [](auto& a, auto&) { return a + 1e8; },
     by([](auto& s) { return s.dy * (s.bug ? 1 + 1e-9 : 1); })},
    {"1e-9 x + 1e8: a factor of 2", [](auto& a, auto&) { return 1e-9 * a + 1e8; },
     by([](auto& s) { return s.dy * (s.bug ? 2e-9 : 1e-9); })},
    {"1e-13 x + 1e8: none at all", [](auto& a, auto&) { return 1e-13 * a + 1e8; },
     by([](auto& s) { return s.dy * (s.bug ? 0 : 1e-13); })},
    {"1e8 a + b: b gets none", [](auto& a, auto& b) { return 1e8 * a + b; },
     by([](auto& s) { return Tensors{1e8 * s.dy, (s.bug ? 0 : 1) * s.dy}; }), 2},
    {"1e8 a + 1e-8 b: b gets none", [](auto& a, auto& b) { return 1e8 * a + 1e-8 * b; },
     by([](auto& s) { return Tensors{1e8 * s.dy, (s.bug ? 0 : 1e-8) * s.dy}; }), 2},
    {"sum of a softmax: its sum is short by 1e-13",
     [](auto& a, auto&) { return sum(softmax(a), -1, {.keepdims = true}); },
     by([](auto& s) {
       const Tensor y = softmax(s.a);
       return y * s.dy - (s.bug ? 1 - 1e-13 : 1) * y * sum(y * s.dy, -1, {.keepdims = true});
     })},
    {"sum of a layer norm: 1e-13 too much", [](auto& a, auto&) { return sum(layer_norm(a), -1, {.keepdims = true}); },
     by([](auto& s) { return zeros_like(s.a) + (s.bug ? 1e-13 : 0); })},
    {"sum of a layer norm: 1e-13 that changes from number to number",
     [](auto& a, auto&) { return sum(layer_norm(a), -1, {.keepdims = true}); },
     by([](auto& s) { return (s.bug ? 1e-13 : 0) * sin(1e6 * s.a); })},
    {"x^2 of 1e-7: a factor of 2", [](auto& a, auto&) { return square(1e-7 * a); },
     by([](auto& s) { return (s.bug ? 2 : 1) * 2e-14 * s.dy * s.a; })},
};
// clang-format on

GradcheckResult check(const SmallGradient& planted, std::uint64_t seed, bool bug) {
  Random random(seed);
  Tensors at;
  for (std::size_t k = 0; k < planted.inputs; ++k) at.push_back(random.normal({3, 4}, f64));
  return gradcheck([&](const Tensors& in) { return Tensors{recorded(planted.forward, planted.backward, in, bug)}; },
                   at);
}

TEST(GradcheckOfSmallGradients, FindsEveryPlantedBugByAllSeeds) {
  for (const SmallGradient& planted : small_gradients)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const GradcheckResult right = check(planted, seed, false), wrong = check(planted, seed, true);
      EXPECT_TRUE(right.passed()) << planted.bug << ", seed " << seed << ": " << right;
      EXPECT_FALSE(wrong.passed()) << planted.bug << ", seed " << seed << ": " << wrong;
    }
}

TEST(GradcheckOfSmallGradients, DualNumbersFindAnElementThatDifferencesCannotSee) {
  const GradcheckResult wrong = check(small_gradients[0], 1, true);
  ASSERT_EQ(wrong.failed, 12) << wrong;
  for (const GradcheckElement& e : wrong.worst) {
    EXPECT_LE(std::abs(e.analytic - e.numeric), e.noise) << "differences agree within their noise";
    EXPECT_NEAR(e.analytic / e.exact, 1 + 1e-5, 1e-12);
    EXPECT_NEAR(e.error, 1e-5, 1e-5) << "beside the rms of the gradient, where that is larger";
  }
}

/// A backward that gives different bits at each call is not rounding noise.
TEST(GradcheckOfSmallGradients, NoAllowanceIsMadeForABackwardThatDoesNotRepeatItself) {
  const auto restless = [](const Tensor& x) {
    return custom_op(
        "restless", {x}, [](const Tensors& in) { return sum(softmax(in[0])); },
        [](const Tensor&, const Tensors& in, const Tensor&) {
          static int calls = 0;
          return Tensors{full_like(in[0], 1e-14 * std::sin(static_cast<double>(++calls)))};
        });
  };
  const GradcheckResult result = gradcheck(restless, Random(5).normal({6}, f64));
  EXPECT_FALSE(result.passed()) << result;
  EXPECT_EQ(result.exact_noise, 0);
}

TEST(GradcheckOfSmallGradients, DualNumbersThatAreNaNDecideNothing) {
  const auto nan_for_duals = [](const Tensor& x) {
    return custom_op(
        "nan_for_duals", {x}, [](const Tensors& in) { return (in[0].dtype() == dual ? NAN : 1) * in[0] + 1e8; },
        [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy}; });
  };
  const GradcheckResult result = gradcheck(nan_for_duals, ones({3}));
  EXPECT_FALSE(result.passed()) << result;
  EXPECT_TRUE(std::isnan(result.exact_error)) << result;
  EXPECT_TRUE(std::isnan(result.worst_error)) << result;
  EXPECT_EQ(result.failed, 3);
}

TEST(GradcheckOfSmallGradients, TheReportPrintsTheNoiseThatDecides) {
  std::ostringstream passed, failed;
  passed << gradcheck([](const Tensor& x) { return x + 1e8; }, ones({5}));
  EXPECT_NE(passed.str().find("\n  5 elements lie within the rounding noise of their differences (up to "),
            std::string::npos)
      << passed.str();
  EXPECT_NE(passed.str().find("dual numbers decided them"), std::string::npos) << passed.str();
  failed << check(small_gradients[0], 1, true);
  EXPECT_NE(failed.str().find("  noise "), std::string::npos) << failed.str();
  EXPECT_NE(failed.str().find(", dual numbers "), std::string::npos) << failed.str();
  std::ostringstream of_cancelled;
  of_cancelled << gradcheck([](const Tensor& x) { return sum(softmax(x)); }, Random(1).normal({7}, f64));
  EXPECT_NE(of_cancelled.str().find(" beyond a noise of "), std::string::npos) << of_cancelled.str();
}

TEST(GradcheckOfSmallGradients, WhereDifferencesCanDecideTheyDo) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return tanh(x); }, Random(2).normal({30}, f64));
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.undecided, 0);
  EXPECT_EQ(result.exact_noise, 0);
  for (const GradcheckElement& e : result.worst) EXPECT_TRUE(std::isnan(e.exact)) << "nothing else was needed";
}

/// If the dual numbers are wrong in the same way as the backward, differences detect it, unless they are all noise.
TEST(GradcheckOfSmallGradients, DualNumbersThatAgreeDoNotExcuseADifference) {
  const auto wrong_twice = [](const Tensor& x) {
    return custom_op(
        "wrong_twice", {x}, [](const Tensors& in) { return (in[0].dtype() == dual ? 2 : 1) * exp(in[0]); },
        [](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{2 * dy * exp(in[0])}; });
  };
  const GradcheckResult result = gradcheck(wrong_twice, zeros({3}));
  EXPECT_EQ(result.failed, 3) << result;
  EXPECT_EQ(result.undecided, 0);
  EXPECT_LE(result.exact_error, result.exact_limit);
}

}  // namespace
}  // namespace retrace
