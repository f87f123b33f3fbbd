// The reports and errors of the checker, and what it must leave unchanged.
#include <retrace/core/checks/gradcheck.h>
#include <retrace/core/tape/identity.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include <retrace/core/tape/identity.h>
#include <retrace/tests/core/checks/planted_op.h>

namespace retrace {
namespace {

GradcheckResult check_exp(BackwardFunction backward) {
  const Forward exponential = [](auto& a, auto&) { return exp(a); };
  const Tensor x = tensor({0.1, -0.2, 0.3, -0.4, 0.5, -0.6}, f64);
  return gradcheck([=](const Tensor& w) { return recorded(exponential, backward, {w}, true); }, x, {.names = {"w"}});
}

TEST(GradcheckReport, HasTheWorstElementFirstByThePrintedRule) {
  const GradcheckResult result = check_exp(by([](auto& s) {
    return s.dy * s.y * tensor({1.0, 1.001, -1000.0, 1.0, 2.0, 1.0}, f64);
  }));
  ASSERT_EQ(result.worst.size(), 6u);
  double squares = 0;
  for (const GradcheckElement& e : result.worst) squares += e.analytic * e.analytic;
  for (const GradcheckElement& e : result.worst) {
    const double scale = std::max({std::abs(e.analytic), std::abs(e.numeric), std::sqrt(squares / 6), 1e-6});
    EXPECT_NEAR(e.error, std::abs(e.analytic - e.numeric) / scale, 1e-12) << e.index;
  }
  EXPECT_TRUE(std::ranges::is_sorted(result.worst, std::greater(), &GradcheckElement::error)) << result;
  EXPECT_EQ(result.worst[0].input, "w");
  EXPECT_EQ(result.worst[0].index, 2);
  EXPECT_NEAR(result.worst[0].analytic / result.worst[0].numeric, -1000, 1e-6);
  EXPECT_EQ(result.worst_error, result.worst[0].error);
}

void expect_report(BackwardFunction backward, double wanted_ratio) {
  std::ostringstream report;
  const GradcheckResult result = check_exp(backward);
  report << result;
  std::istringstream lines(report.str());
  std::string verdict, header, input;
  std::getline(lines, verdict);
  EXPECT_TRUE(verdict.starts_with("gradcheck FAILED: planted, 6 elements, 0 skipped, 6 failed, worst error "))
      << verdict;
  EXPECT_NE(verdict.find("(limit 1e-08), exact error "), std::string::npos) << verdict;
  std::getline(lines, header);
  std::istringstream columns(header);
  for (const char* column : {"input", "index", "analytic", "numeric", "absolute", "relative", "ratio"}) {
    std::string word;
    columns >> word;
    EXPECT_EQ(word, column);
  }
  for (const GradcheckElement& e : result.worst) {
    std::string index;
    double analytic = 0, numeric = 0, absolute = 0, relative = 0, ratio = 0;
    lines >> input >> index >> analytic >> numeric >> absolute >> relative >> ratio;
    EXPECT_EQ(input, "w");
    EXPECT_EQ(index, text("[", e.index, "]"));
    EXPECT_NEAR(analytic, e.analytic, 1e-6 * std::abs(e.analytic));
    EXPECT_NEAR(numeric, e.numeric, 1e-6 * std::abs(e.numeric));
    EXPECT_NEAR(absolute, std::abs(e.analytic - e.numeric), 1e-2 * absolute);
    EXPECT_NEAR(relative, e.error, 1e-2 * e.error);
    EXPECT_EQ(ratio, wanted_ratio);
  }
}

TEST(GradcheckReport, TheRatioTellsTheBug) {
  expect_report(by([](auto& s) { return 2 * s.dy * s.y; }), 2);
  expect_report(by([](auto& s) { return -s.dy * s.y; }), -1);
}

TEST(GradcheckReport, ASuccessIsOneLine) {
  std::ostringstream report;
  report << gradcheck([](const Tensor& x) { return exp(x); }, ones({2, 3}));
  EXPECT_TRUE(report.str().starts_with("gradcheck passed: exp, 6 elements, 0 skipped, 0 failed, worst error "))
      << report.str();
  EXPECT_EQ(std::ranges::count(report.str(), '\n'), 1);
}

TEST(GradcheckReport, NamesTheFunctionByItsLastOpUnlessToldOtherwise) {
  const auto swish = [](const Tensor& x) { return x * sigmoid(x); };
  EXPECT_EQ(gradcheck([](const Tensor& x) { return exp(x); }, ones({3})).name, "exp");
  EXPECT_EQ(gradcheck(swish, ones({3})).name, "a function that ends in mul");
  std::ostringstream report;
  report << gradcheck(swish, ones({3}), {.name = "swish"});
  EXPECT_TRUE(report.str().starts_with("gradcheck passed: swish, 3 elements, ")) << report.str();
}

TEST(GradcheckReport, AnElementHasAnIndexForEachAxis) {
  const Forward copy = [](auto& a, auto&) { return identity(a); };
  const BackwardFunction one_is_doubled = by([](auto& s) {
    const Tensor twice = ones({2, 3, 4}, f64);
    twice.mutable_values<double>()[15] = 2;  // 1 * 12 + 0 * 4 + 3
    return s.dy * twice;
  });
  const GradcheckResult result =
      gradcheck([&](const Tensor& x) { return recorded(copy, one_is_doubled, {x}, true); }, ones({2, 3, 4}));
  EXPECT_EQ(result.failed, 1) << result;
  ASSERT_FALSE(result.worst.empty());
  EXPECT_EQ(result.worst[0].index, 15);
  EXPECT_EQ(result.worst[0].position, (std::vector<std::int64_t>{1, 0, 3}));
  std::ostringstream report;
  report << result;
  EXPECT_NE(report.str().find(" [1, 0, 3] "), std::string::npos) << report.str();
  EXPECT_TRUE(gradcheck([](const Tensor& x) { return exp(x); }, ones({})).worst[0].position.empty()) << "0-d";
}

/// x^2, but 3 x^2 on dual numbers, with the gradient of that.
Tensor square_by_a_wrong_rule(const Tensor& x) {
  return custom_op(
      "wrong_rule", {x}, [](const Tensors& in) { return (in[0].dtype() == dual ? 3 : 1) * square(in[0]); },
      [](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{6 * dy * in[0]}; });
}

TEST(GradcheckReport, SaysSoWhereOnlyDifferencesDisagree) {
  const auto report_of = [](const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
    std::ostringstream report;
    report << gradcheck(f, x);
    return report.str();
  };
  const std::string hint =
      "\n  the exact check passed: backward and dual numbers agree, and differences do not; either both follow the "
      "same "
      "wrong rule, or f is not continuous near these points (set kinks to skip them)\n";
  const std::string same_mistake = report_of(square_by_a_wrong_rule, tensor({1.0, 2.0}, f64));
  EXPECT_NE(same_mistake.find(hint), std::string::npos) << same_mistake;
  const std::string wrong = report_of(
      [](const Tensor& x) {
        return recorded([](auto& a, auto&) { return identity(a); }, by([](auto& s) { return 2 * s.dy; }), {x}, true);
      },
      ones({2}, f64));
  EXPECT_EQ(wrong.find("the exact check passed"), std::string::npos) << wrong;
}

TEST(GradcheckReport, NumbersThatDoNotExistAreDashes) {
  std::ostringstream report;
  report << gradcheck([](const Tensor& x) { return sqrt(x); }, tensor({-1.0, 4.0}, f64));
  EXPECT_NE(report.str().find("            nan            nan          -          -         -\n"), std::string::npos)
      << report.str();
  EXPECT_EQ(report.str().find("-nan"), std::string::npos) << report.str();
}

TEST(GradcheckReport, ANaNIsTheWorstOfAll) {
  const GradcheckResult result = check_exp(by([](auto& s) {
    return 2 * s.dy * s.y * tensor({1.0, std::nan(""), 1.0, 1.0, 1.0, 1.0}, f64);
  }));
  EXPECT_TRUE(std::isnan(result.worst_error)) << result;
  ASSERT_EQ(result.worst.size(), 6u);
  EXPECT_EQ(result.worst[0].index, 1) << result;
}

TEST(Gradcheck, RefusesRandomNumbers) {
  Random random(3);
  try {
    gradcheck([&](const Tensor& x) { return dropout(x, 0.5, &random); }, ones({20}));
    ADD_FAILURE() << "a function that draws random numbers was not refused";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("gradcheck: f draws random numbers"), std::string::npos) << error.what();
  }
  const auto same_seed = [](const Tensor& x) {
    Random again(3);
    return dropout(x, 0.5, &again);
  };
  EXPECT_TRUE(gradcheck(same_seed, ones({20})).passed());
}

TEST(Gradcheck, SkipsKinks) {
  const auto f = [](const Tensor& x) { return relu(x); };
  const Tensor x = tensor({-1, 0, 1e-3, 0.5, 2}, f64);
  EXPECT_EQ(gradcheck(f, x).at_kinks, 1) << "the other half of this test skips it";
  const GradcheckResult result = gradcheck(f, x, {.kinks = {0}});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.elements, 3);
  EXPECT_EQ(result.skipped, 2);
}

TEST(Gradcheck, DrawsSomeOfManyElements) {
  const auto f = [](const Tensor& x) { return exp(x); };
  const GradcheckResult result = gradcheck(f, Random(4).normal({200}, f64), {.max_elements = 20});
  EXPECT_GT(result.elements, 5);
  EXPECT_LT(result.elements, 60);
}

TEST(Gradcheck, OfAParameterWhoseGradientWasUsedUp) {
  const Tensor w = parameter(tensor({0.1, 0.2, 0.3}), "w");
  const auto square_of_w = [&] { return Tensors{mul(w, w)}; };
  const auto step = [&] {
    Tape tape;
    tape.backward(sum(square_of_w()[0]));
  };
  step();
  w.use_up_grad();  // as an optimiser does
  EXPECT_TRUE(gradcheck_parameters(square_of_w, {{"w", w}}).passed());
  step();
  EXPECT_EQ(w.grad().at({0}), 0.2f) << "what was used up came back";
}

TEST(Gradcheck, LeavesInputsAndTheirGradientsAsTheyWere) {
  const Tensor w = parameter(tensor({0.1, 0.2, 0.3}), "w");
  {
    Tape tape;
    tape.backward(sum(w * 5.0));
  }
  const float* const values = w.values<float>().data();
  const auto expect_untouched = [&] {
    EXPECT_EQ(w.dtype(), f32);
    EXPECT_EQ(w.values<float>().data(), values);
    EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{0.1f, 0.2f, 0.3f}));
    EXPECT_TRUE(w.wants_gradient());
    const Tensor gradient = w.grad();
    for (const float element : gradient.values<float>()) EXPECT_EQ(element, 5);
  };
  EXPECT_TRUE(gradcheck([](const Tensor& x) { return tanh(x); }, w).passed());
  expect_untouched();
  EXPECT_TRUE(gradcheck_parameters([&] { return Tensors{tanh(w)}; }, {{"w", w}}).passed());
  expect_untouched();
  int calls = 0;
  const auto throws_in_the_middle = [&] {
    if (++calls == 7) throw ValueError("the seventh call");
    return Tensors{tanh(w)};
  };
  EXPECT_THROW(gradcheck_parameters(throws_in_the_middle, {{"w", w}}), ValueError);
  expect_untouched();
  EXPECT_EQ(default_dtype(), f32);
}

}  // namespace
}  // namespace retrace
