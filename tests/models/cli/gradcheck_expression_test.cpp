// retrace gradcheck --expr: checks a function that the command line gives as text.
#include <gtest/gtest.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <string>
#include <vector>

namespace retrace {
namespace {

Outcome gradcheck_of(const std::string& expression, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"gradcheck", "--expr", expression};
  for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

TEST(GradcheckExpression, HasARowForEveryInputWithAGradient) {
  const Outcome outcome =
      gradcheck_of("s = matmul(q, transpose(k)) / 2; embedding(softmax(s), ids)", {"q=4x8", "k=4x8", "ids=[0,2]i64"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  const std::string line = on_one_line(outcome.results);
  EXPECT_EQ(line.find("input cases elements differences dual numbers q 1 32 "), 0u) << line;
  EXPECT_NE(line.find(" ok k 1 32 "), std::string::npos) << line;
  EXPECT_NE(line.find("2 checked in 64 elements, 0 failed; 0 elements skipped, 0 failed"), std::string::npos) << line;
}

TEST(GradcheckExpression, DrawsFromTheSeed) {
  const auto table = [](const std::string& seed) { return gradcheck_of("tanh(x)", {"x=5"}, {"--seed", seed}).results; };
  EXPECT_EQ(table("1"), table("1"));
  EXPECT_NE(table("1"), table("2"));
}

TEST(GradcheckExpression, PrintsOneObject) {
  const Outcome outcome = gradcheck_of("-x * x", {"x=[1,2,3]"}, {"--json"});
  EXPECT_EQ(outcome.status, 0);
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["elements"], 3);
  EXPECT_EQ(object["failed"], 0);
  EXPECT_EQ(object["worst_name"], "x");
}

TEST(GradcheckExpression, TellsWhatHoldsAtAKink) {
  const Outcome told = gradcheck_of("relu(x)", {"x=[-1,0,2]"}, {});
  EXPECT_EQ(told.status, 0) << told.results;
  EXPECT_NE(told.results.find("    x [1] is at a kink, with slopes of "), std::string::npos) << told.results;
  const Outcome json = gradcheck_of("relu(x)", {"x=[-1,0,2]"}, {"--json"});
  const auto row = Json::parse(json.results)["rows"][0];
  EXPECT_EQ(row["name"], "x");
  EXPECT_EQ(row["passed"], true);
  EXPECT_EQ(row["at_kinks"], 1);
  EXPECT_EQ(row["elements"], 3);
  EXPECT_EQ(row["explanations"].size(), 1U);
  EXPECT_LT(row["worst_error"], 1e-8);
  EXPECT_LT(row["exact_error"], 1e-12);
}

TEST(GradcheckExpression, SkipsTheKinksThatAreGiven) {
  const Outcome outcome = gradcheck_of("abs(x)", {"x=[-1,0,2]"}, {"--kinks", "0,2"});
  EXPECT_EQ(outcome.status, 0) << outcome.results;
  EXPECT_NE(outcome.results.find("1 checked in 1 elements, 0 failed; 2 elements skipped, 0 failed"), std::string::npos)
      << outcome.results;
  EXPECT_EQ(run_command({"gradcheck", "tanh", "--kinks", "0"}).status, 2) << "the table has its own";
}

/// A mask gets no gradient, although the result changes with it.
TEST(GradcheckExpression, FailsWhereTheTapeDiffers) {
  const Outcome outcome = gradcheck_of("softmax(x, mask=m)", {"x=3", "m=3"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.results.find("FAILED"), std::string::npos);
  EXPECT_NE(outcome.results.find("2 checked in 6 elements, 1 failed; 0 elements skipped, 3 failed"), std::string::npos)
      << outcome.results;
}

TEST(GradcheckExpression, RefusesAWrongCommandLine) {
  const Outcome unknown = gradcheck_of("sofmax(x)", {"x=3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.messages,
            "expression: there is no op named 'sofmax'; did you mean softmax\n  sofmax(x)\n  ^~~~~~\n");
  const Outcome shapes = gradcheck_of("matmul(x, x)", {"x=3x4"});
  EXPECT_EQ(shapes.status, 2);
  EXPECT_EQ(shapes.messages.find("matmul: "), 0u) << shapes.messages;
  EXPECT_NE(shapes.messages.find("\n  matmul(x, x)\n  ^~~~~~\n"), std::string::npos) << shapes.messages;
  const Outcome missing = gradcheck_of("x + y", {"x=3"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.messages.find("--input y=4x8\n  x + y\n      ^\n"), std::string::npos) << missing.messages;
  EXPECT_EQ(gradcheck_of("", {"x=3"}).status, 2) << "not the whole table";
  EXPECT_EQ(gradcheck_of("x", {"x=three"}).status, 2);
  EXPECT_EQ(gradcheck_of("x + 1", {"x=[1,2]i64"}).status, 2);
  EXPECT_EQ(run_command({"gradcheck", "tanh", "--expr", "x"}).status, 2);
  EXPECT_EQ(run_command({"gradcheck", "--input", "x=3"}).status, 2);
  EXPECT_EQ(run_command({"gradcheck", "--expr", "--json"}).status, 2);
  EXPECT_EQ(gradcheck_of("x", {"x=no_such_file.npy"}).status, 1);
}

}  // namespace
}  // namespace retrace
