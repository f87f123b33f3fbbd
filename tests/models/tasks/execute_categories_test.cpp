#include <gtest/gtest.h>
#include <retrace/models/tasks/execute.h>

#include <map>
#include <regex>
#include <set>
#include <string>

namespace retrace {
namespace {

std::map<std::string, std::string> words_of_categories(const Execute& task, const Example& example) {
  std::map<std::string, std::string> words;
  for (const Category& category : task.categories(example, 0)) words[std::string(category.name)] = category.words;
  return words;
}

/// The operation of a program whose first operand may be another one, in parentheses.
std::string outermost_sign(const std::string& program) {
  const std::string outside = std::regex_replace(program, std::regex(R"(\(.*\))"), "");
  for (const char* sign : {"for", "if", "+", "-", "*"})  // a loop has a "+", too
    if (outside.find(sign) != std::string::npos) return sign;
  return "none";
}

TEST(ExecuteCategories, NameTheOperationsFromTheOutside) {
  const Execute task({.program = ProgramKind::full, .length = 2, .nesting = 3});
  Random random(3);
  std::set<std::string> pairs;
  for (int sample = 0; sample < 500; ++sample) {
    const Example example(task.sample(random, 1), 0);
    const std::string program = task.describe(example);
    const std::size_t open = program.find('('), close = program.rfind(')');
    const std::string outer = outermost_sign(program),
                      inner = outermost_sign(program.substr(open + 1, close - open - 1));
    const auto words = words_of_categories(task, example);
    EXPECT_EQ(words.at("outermost operation"), outer) << program;
    EXPECT_EQ(words.at("outermost two operations"), outer + " around " + inner) << program;
    pairs.insert(words.at("outermost two operations"));
  }
  EXPECT_EQ(pairs.size(), 25U);
}

TEST(ExecuteCategories, ASingleOperationIsAroundNone) {
  const Execute task({.program = ProgramKind::control, .nesting = 1});
  Random random(3);
  const auto words = words_of_categories(task, Example(task.sample(random, 1), 0));
  EXPECT_TRUE(words.contains("outermost operation"));
  EXPECT_FALSE(words.contains("outermost two operations"));
}

TEST(ExecuteCategories, RowsWithoutAProgramHaveNoOperation) {
  const Execute task({.program = ProgramKind::control, .nesting = 1});
  Random random(3);
  Batch batch = task.sample(random, 1);
  batch.x = zeros(batch.x.shape(), batch.x.dtype());
  EXPECT_EQ(words_of_categories(task, Example(batch, 0)).at("outermost operation"), "none");
}

}  // namespace
}  // namespace retrace
