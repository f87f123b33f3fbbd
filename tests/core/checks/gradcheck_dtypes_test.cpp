// f must run in f64 and on dual numbers to be checked; otherwise the user is told what to change.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

// ---- f64

struct Pair {
  Parameter weight{ones({3, 2})}, bias{ones({2})};
  bool names_its_bias = true;
  Tensor operator()(const Tensor& x) const { return matmul(x, weight) + bias; }
  void visit(auto&& see) const {
    see("weight", weight);
    if (names_its_bias) see("bias", bias);
  }
};

TEST(GradcheckDtypes, CapturedWeightsInF32AreRefusedWithTheRemedy) {
  const Pair model;
  const std::string message = message_of<DtypeError>([&] {
    gradcheck([&](const Tensor& x) { return model(x); }, ones({2, 3}));
  });
  EXPECT_TRUE(message.starts_with("gradcheck: matmul: a[2, 3] is f64 and b[3, 2] is f32: dtypes differ;")) << message;
  EXPECT_NE(message.find("gradcheck runs f in f64: call gradcheck(model, f) where f captures the weights of a model"),
            std::string::npos)
      << message;
  EXPECT_TRUE(gradcheck(model, [&](const Pair& m) { return m(ones({2, 3})); }).passed()) << "the remedy";
}

TEST(GradcheckDtypes, ACapturedTensorInF32BesideAModelIsToBeConverted) {
  const Pair model;
  const Tensor x = ones({2, 3}, f32);
  const std::string message = message_of<DtypeError>([&] { gradcheck(model, [&](const Pair& m) { return m(x); }); });
  EXPECT_NE(message.find("convert any other tensor that f captures with to(f64)"), std::string::npos) << message;
  EXPECT_EQ(message.find("call gradcheck(model, f)"), std::string::npos) << message;
  EXPECT_TRUE(gradcheck(model, [&](const Pair& m) { return m(x.to(f64)); }).passed()) << "the remedy";
  EXPECT_EQ(model.weight.dtype(), f32);
}

TEST(GradcheckDtypes, AParameterThatVisitForgotIsNamedInEveryDtype) {
  Pair model;
  model.names_its_bias = false;
  model.bias.named("offset");
  const auto message = [&](const Tensor& x) {
    return message_of<ValueError>([&] { gradcheck(model, [&](const Pair& m) { return m(x); }); });
  };
  const std::string expected =
      "gradcheck: the model computes add with a weight offset[2] that its visit() does not name; name it there, or "
      "detach() or freeze() what is no weight of this model";
  EXPECT_EQ(message(ones({2, 3}, f32)), expected);
  EXPECT_EQ(message(ones({2, 3}, f64)), expected) << "the first error is one of dtypes";
  to(model, f64);
  const Tensor bias_in_f64 = model.bias.to(f64).named("offset");
  model.bias = Parameter(bias_in_f64);
  model.bias.named("offset");
  EXPECT_EQ(message(ones({2, 3}, f64)), expected) << "f64 everywhere, so that nothing else would tell";
  EXPECT_EQ(model.weight.dtype(), f64);
  model.bias.freeze();
  EXPECT_TRUE(gradcheck(model, [&](const Pair& m) { return m(ones({2, 3}, f64)); }).passed()) << "frozen";
}

// ---- dual numbers

Tensor doubled_in_a_loop(const Tensor& x, CustomOpOptions options, double slope = 2) {
  return custom_op(
      "loop", {x},
      [](const Tensors& in) {
        const Tensor y = empty_like(in[0]);
        std::ranges::transform(in[0].values<double>(), y.mutable_values<double>().begin(),
                               [](double v) { return 2 * v; });
        return y;
      },
      [slope](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{slope * dy}; }, options);
}

TEST(GradcheckDtypes, ACustomOpThatReadsDoublesIsToldToSaySo) {
  const std::string message =
      message_of<DtypeError>([] { gradcheck([](const Tensor& x) { return doubled_in_a_loop(x, {}); }, ones({3})); });
  EXPECT_TRUE(
      message.starts_with("gradcheck: loop: forward does not run on dual numbers (values: [3] is dual, not "
                          "f64"))
      << message;
  EXPECT_NE(message.find("{.differences_only = true}"), std::string::npos) << message;
  EXPECT_EQ(message.find("to(f64)"), std::string::npos) << message << ": would lose the tangents";
}

TEST(GradcheckDtypes, ACustomOpForDifferencesOnlyIsCheckedByThem) {
  const auto check = [](double slope) {
    return gradcheck([=](const Tensor& x) { return doubled_in_a_loop(tanh(x), {.differences_only = true}, slope); },
                     Random(1).normal({5}, f64));
  };
  const GradcheckResult right = check(2), wrong = check(2.001);
  EXPECT_TRUE(right.passed()) << right;
  EXPECT_EQ(right.elements, 5);
  EXPECT_EQ(right.not_exact, "loop: runs on no dual numbers, as its option differences_only says");
  EXPECT_EQ(right.exact_error, 0);
  std::ostringstream report;
  report << right;
  EXPECT_NE(report.str().find("no exact check\n  no exact check: loop: "), std::string::npos) << report.str();
  EXPECT_FALSE(wrong.passed()) << wrong;
  EXPECT_EQ(wrong.failed, 5);
}

TEST(GradcheckDtypes, AWholeCheckCanBeOfDifferencesOnly) {
  const GradcheckResult result =
      gradcheck([](const Tensor& x) { return doubled_in_a_loop(x, {}); }, ones({3}), {.differences_only = true});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.not_exact, "GradcheckOptions::differences_only is set");
}

/// Without dual numbers, the check fails unless the noise of the differences is small beside the gradients.
TEST(GradcheckDtypes, WithoutDualNumbersNoiseMustBeSmallBesideTheGradients) {
  Random random(3);
  const MultiHeadAttention attention(8, random, {.heads = 2, .bias = true});
  const Tensor x = random.normal({2, 3, 8}, f64);
  const GradcheckResult with_key_bias =
      gradcheck(attention, [&](const MultiHeadAttention& m) { return m(x).y; }, {.differences_only = true});
  EXPECT_TRUE(with_key_bias.passed()) << with_key_bias;
  EXPECT_GE(with_key_bias.undecided, 8);
  const GradcheckResult beside_a_large_value =
      gradcheck([](const Tensor& v) { return v + 1e8; }, ones({3}), {.differences_only = true});
  EXPECT_FALSE(beside_a_large_value.passed()) << "differences of 1e8 say little about a slope of 1";
}

TEST(GradcheckDtypes, OtherTakersOfDualNumbersAreToldWhichOpTakesNone) {
  const TensorFunction f = [](const Tensor& x) { return doubled_in_a_loop(x, {.differences_only = true}); };
  EXPECT_EQ(message_of<DifferencesOnlyError>([&] { jvp(f, ones({2}), ones({2})); }),
            "loop: runs on no dual numbers, as its option differences_only says");
  EXPECT_EQ(f(ones({2}, f64)).at({1}), 2);
}

}  // namespace
}  // namespace retrace
