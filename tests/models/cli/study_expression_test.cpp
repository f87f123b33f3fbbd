// retrace study --expr: shows a function that the command line gives as text.
#include <gtest/gtest.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST(StudyExpression, IsTracedWithTheNamesOfItsInputs) {
  const Outcome outcome = run_command({"study", "--expr", "s = matmul(q, transpose(k)) / 2; softmax(s)", "--input",
                                       "q=4x8", "--input", "k=3x8", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const Json trace = Json::parse(outcome.results)["trace"];
  EXPECT_EQ(trace["title"], "s = matmul(q, transpose(k)) / 2; softmax(s)");
  std::set<std::string> with_gradient;
  for (const Json& node : trace["nodes"])
    if (!node["gradient"].is_null()) with_gradient.insert(node["name"].get<std::string>());
  EXPECT_TRUE(with_gradient.contains("q"));
  EXPECT_TRUE(with_gradient.contains("k"));
  EXPECT_TRUE(with_gradient.contains("s"));
  EXPECT_EQ(trace["records"].back()["op"], "softmax");
  EXPECT_EQ(trace["records"].back()["reached"], true);
}

TEST(StudyExpression, DrawsInputsAndCotangentFromTheSeed) {
  const auto shown = [](const std::string& seed) {
    return run_command({"study", "--expr", "tanh(x)", "--input", "x=5", "--seed", seed}).results;
  };
  EXPECT_EQ(shown("1"), shown("1"));
  EXPECT_NE(shown("1"), shown("2"));
}

TEST(StudyExpression, SaysWhatIsNotFiniteAndWhereThatBegins) {
  const auto messages = [](const std::string& expression, const std::string& x) {
    const Outcome outcome = run_command({"study", "--expr", expression, "--input", "x=" + x, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return outcome.messages;
  };
  // x * ... comes after the sqrt on the way back, but its own part of dx is finite.
  EXPECT_NE(
      messages("sum(x * sqrt(x - x))", "[1,2]")
          .find("retrace study: the gradient of x is not finite; record 1, sqrt, is the first with a number that is "
                "not finite: the gradient of its input x %0 [2] is "),
      std::string::npos);
  EXPECT_NE(
      messages("exp(log(x))", "[1,-2]")
          .find("retrace study: the result and the gradient of x are not finite; record 0, log, is the first with a "
                "number that is not finite: its output %0 [2] is nan at [1], "),
      std::string::npos);
  EXPECT_EQ(messages("sqrt(x)", "[1,2]"), "");
}

TEST(StudyExpression, AResultOfOneElementIsTheLoss) {
  for (const char* expression : {"mean(square(x))", "mean(square(x), keepdims=true)"}) {
    const std::vector<std::string> line{"study", "--expr", expression, "--input", "x=[1,2,3]"};
    const Outcome outcome = run_command(line);
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_NE(outcome.results.find("\n      0.6667   1.333       2\n"), std::string::npos) << outcome.results;
    EXPECT_EQ(outcome.results.find("sum(R y)"), std::string::npos) << outcome.results;
  }
}

TEST(StudyExpression, SaysThatALargerResultIsWeightedByRandomNumbersAndWhy) {
  const std::vector<std::string> line{"study", "--expr", "square(x)", "--input", "x=[1,2,3]"};
  EXPECT_TRUE(run_command(line).results.starts_with(
      "square(x): 1 record\n  L = sum(R y): y is the result [3], and R, which arrives there as dy, has a\n"
      "  fixed random number for each of its elements (--seed draws others). Each\n"
      "  element counts differently, so that an error in one of them cannot hide.\n\n"))
      << run_command(line).results;
  std::vector<std::string> as_json = line;
  as_json.push_back("--json");
  EXPECT_EQ(Json::parse(run_command(as_json).results)["trace"]["notes"].size(), 1u);
}

TEST(StudyExpression, AtIsTheMatrixProductLeftToRightWithTimes) {
  const auto trace = [](const std::string& expression) {
    const Outcome outcome = run_command(
        {"study", "--expr", expression, "--input", "q=2x3", "--input", "k=3x2", "--input", "b=2x2", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return outcome.results.substr(outcome.results.find("\"nodes\""));  // the title is another one
  };
  EXPECT_EQ(trace("q @ k * b + b"), trace("mul(matmul(q, k), b) + b"));
  EXPECT_EQ(trace("-b @ b + q @ k"), trace("matmul(-b, b) + matmul(q, k)"));
  EXPECT_EQ(trace("b * b @ b / 2 - q @ k"), trace("matmul(b * b, b) / 2 - matmul(q, k)"));
}

TEST(StudyExpression, AnInputThatIsNotUsedIsCalledThat) {
  const Outcome outcome = run_command({"study", "--expr", "softmax(q)", "--input", "q=2", "--input", "k=2"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("the input k is not used; the expression has q; leave k out"), std::string::npos)
      << outcome.messages;
}

TEST(StudyExpression, HasTheDtypeThatWasAskedFor) {
  const Outcome outcome = run_command({"study", "--expr", "exp(x)", "--input", "x=2", "--dtype", "f32", "--json"});
  EXPECT_EQ(Json::parse(outcome.results)["trace"]["nodes"][0]["dtype"], "f32");
}

TEST(StudyExpression, HasThreeNumbersForSomeElements) {
  const auto checks = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"study", "--expr", "sigmoid(q * k)", "--input", "q=4", "--input", "k=4", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(run_command(words).results)["trace"]["checks"];
  };
  ASSERT_EQ(checks({}).size(), 4u);
  for (const Json& check : checks({})) {
    EXPECT_NEAR(check["tape"].get<double>(), check["dual"].get<double>(), 1e-14);
    EXPECT_NEAR(check["tape"].get<double>(), check["difference"].get<double>(), 1e-9);
  }
  EXPECT_EQ(checks({"--check-elements", "3"}).size(), 6u);
  EXPECT_EQ(checks({"--check-elements", "0"}).size(), 0u);
}

TEST(StudyExpression, EitherASubjectOrAnExpressionIsShown) {
  const Outcome both = run_command({"study", "lstm", "--expr", "tanh(x)", "--input", "x=5"});
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.messages.find("leave one of them out"), std::string::npos) << both.messages;
  const Outcome neither = run_command({"study"});
  EXPECT_EQ(neither.status, 2);
  EXPECT_NE(neither.messages.find("name a subject"), std::string::npos) << neither.messages;
  EXPECT_EQ(run_command({"study", "--input", "x=3"}).status, 2);
}

TEST(StudyExpression, SaysWhyNothingCanBeShown) {
  const Outcome unknown = run_command({"study", "--expr", "sofmax(x)", "--input", "x=3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.messages.find("did you mean softmax"), std::string::npos);
  const Outcome integers = run_command({"study", "--expr", "x + 1", "--input", "x=[1,2]i64"});
  EXPECT_EQ(integers.status, 2);
  EXPECT_NE(integers.messages.find("no real input"), std::string::npos) << integers.messages;
  const Outcome constant = run_command({"study", "--expr", "argmax(x)", "--input", "x=3"});
  EXPECT_EQ(constant.status, 2);
  EXPECT_NE(constant.messages.find("no gradient flows back"), std::string::npos) << constant.messages;
}

}  // namespace
}  // namespace retrace
