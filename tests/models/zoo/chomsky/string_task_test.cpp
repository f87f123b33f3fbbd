// The tasks on strings: an independent solver recomputes every answer from the rows.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/zoo/chomsky/chomsky.h>
#include <retrace/tests/models/tasks/rows.h>
#include <retrace/tests/models/zoo/chomsky/solvers.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::vector<StringRules> every_rules() {
  std::vector<StringRules> all;
  for (const auto& rules : {regular_tasks(), context_free_tasks(), context_sensitive_tasks()})
    all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

/// What a sample asks and what its labels say, in words.
struct Read {
  Words input, answers;
};

/// Checks the rows: one symbol each, then a row of the answers' sign per answer, which has the answers.
Read read(const Task& task, const Example& example) {
  Read result;
  std::int64_t t = 0;
  const std::int64_t sign = task.input_size() - 1;
  for (; hot(example.row(t)) != sign; ++t) result.input.push_back(task.describe_row(example, t));
  for (std::int64_t row = 0; row < example.length(); ++row) {
    EXPECT_EQ(std::ranges::count(example.row(row), 1.0), 1);
    EXPECT_EQ(std::ranges::count(example.row(row), 0.0), sign);
    EXPECT_EQ(hot(example.row(row)) == sign, row >= t);
  }
  if (task.answer_length() == 1) {
    EXPECT_EQ(example.length(), t + 1);
    result.answers.push_back(task.describe_label(example.label()));
    return result;
  }
  for (std::int64_t row = 0; row < example.length(); ++row) {
    if (row < t) {
      EXPECT_EQ(example.label(row), no_answer);
    } else if (example.label(row) != no_answer) {
      result.answers.push_back(task.describe_label(example.label(row)));
    }
  }
  return result;
}

TEST(StringTask, AnswersAreThoseOfAnIndependentSolver) {
  ASSERT_EQ(every_rules().size(), 15U);
  for (const StringRules& rules : every_rules()) {
    const auto task = make_task(rules.name);
    Random random(3);
    std::set<std::size_t> lengths;
    std::set<std::string> answers;
    for (int part = 0; part < 20; ++part) {
      const Batch batch = task->sample(random, 128);
      for (std::int64_t sample = 0; sample < batch.size(); ++sample) {
        const auto [input, given] = read(*task, Example(batch, sample));
        lengths.insert(input.size());
        answers.insert(joined(given));
        ASSERT_EQ(given, solvers.at(rules.name)(input)) << rules.name << ": " << joined(input);
      }
    }
    EXPECT_GE(lengths.size(), rules.odd_lengths ? 12U : 18U) << rules.name;
    EXPECT_GE(*lengths.begin(), static_cast<std::size_t>(rules.shortest)) << rules.name;
    EXPECT_LE(*lengths.rbegin(), 40U) << rules.name;
    EXPECT_GE(*lengths.rbegin(), 33U) << rules.name;
    EXPECT_GE(answers.size(), static_cast<std::size_t>(task->output_size())) << rules.name;
  }
}

TEST(StringTask, LengthsAreEvenlyDrawnOncePer64Samples) {
  const auto task = make_task("parity-check", {.length = 4});
  Random random(8);
  std::map<std::int64_t, int> counts;
  int different = 0;
  for (int part = 0; part < 2000; ++part) {
    const Batch batch = task->sample(random, 128);
    const auto rows = batch.lengths.values<std::int64_t>();
    ++counts[rows[0]], ++counts[rows[64]];
    different += rows[0] != rows[64] ? 1 : 0;
    for (std::size_t k = 0; k < 128; ++k) ASSERT_EQ(rows[k], rows[k / 64 * 64]);
  }
  EXPECT_NEAR(different / 2000.0, 0.75, 0.04) << "the second 64 samples have a length of their own";
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [rows, count] : counts) EXPECT_NEAR(count / 4000.0, 0.25, 0.035) << rows;
}

TEST(StringTask, SymbolsAndOperatorsAreEvenlyDrawn) {
  Random random(4);
  const auto task = make_task("modular-arithmetic-simple")->of_length(9);
  std::map<std::string, double> counts;
  const Batch batch = task->sample(random, 4000);
  for (std::int64_t sample = 0; sample < batch.size(); ++sample)
    for (const std::string& word : read(*task, Example(batch, sample)).input) counts[word] += 1.0 / 4000;
  ASSERT_EQ(counts.size(), 8U);
  for (const auto& [word, count] : counts) EXPECT_NEAR(count, std::isdigit(word[0]) ? 1.0 : 4.0 / 3, 0.08) << word;
}

TEST(StringTask, LongInputsHaveTheirAnswersToo) {
  for (const StringRules& rules : every_rules()) {
    const auto trained = make_task(rules.name), task = trained->of_length(301);
    EXPECT_EQ(task->input_size(), trained->input_size());
    EXPECT_EQ(task->output_size(), trained->output_size());
    Random random(5);
    const Batch batch = task->sample(random, 3);
    const auto [input, answers] = read(*task, Example(batch, 2));
    EXPECT_EQ(input.size(), 301U) << rules.name;
    // Numbers of 301 bits do not fit into the solver's.
    if (rules.name.starts_with("binary") || rules.name == "compute-sqrt") continue;
    EXPECT_EQ(answers, solvers.at(rules.name)(input)) << rules.name;
  }
}

TEST(StringTask, LongNumbersAreRight) {
  Random random(6);
  const auto multiplication = make_task("binary-multiplication")->of_length(150);
  for (int k = 0; k < 20; ++k) {
    auto [input, product] = read(*multiplication, Example(multiplication->sample(random, 1), 0));
    const auto op = std::ranges::find(input, "*");
    ASSERT_EQ(product.back(), "end");
    product.pop_back();
    EXPECT_EQ(product, product_by_columns(Words(input.begin(), op), Words(op + 1, input.end())));
  }
  for (const std::int64_t length : {149, 150}) {
    const auto sqrt = make_task("compute-sqrt")->of_length(length);
    for (int k = 0; k < 20; ++k) {
      auto [input, root] = read(*sqrt, Example(sqrt->sample(random, 1), 0));
      std::ranges::reverse(input), std::ranges::reverse(root);
      Words next = root;  // root + 1
      next.push_back("0");
      std::size_t place = 0;
      while (next[place] == "1") next[place++] = "0";
      next[place] = "1";
      EXPECT_LE(compare(product_by_columns(root, root), without_zeros(input)), 0);
      EXPECT_GT(compare(product_by_columns(next, next), without_zeros(input)), 0);
    }
  }
}

TEST(StringTask, IsDescribed) {
  Random random(2);
  const auto stack = make_task("stack-manipulation")->of_length(3);
  const Batch batch = stack->sample(random, 1);
  const Example example(batch, 0);
  const Words words = read(*stack, example).input;
  EXPECT_EQ(stack->describe(example), "stack-manipulation " + words[0] + " " + words[1] + " " + words[2]);
  EXPECT_EQ(stack->describe_row(example, 3), "");
  const auto categories = stack->categories(example, 4);
  ASSERT_EQ(categories.size(), 2U);
  EXPECT_EQ(categories[0].value, 3);
  EXPECT_EQ(categories[1].value, 2);
  const auto odds = make_task("odds-first")->of_length(4);
  const Batch word = odds->sample(random, 1);
  EXPECT_EQ(odds->describe(Example(word, 0)), "odds-first " + joined(read(*odds, Example(word, 0)).input));
}

TEST(StringTask, TheTrivialAnswerIsMeasured) {
  EXPECT_EQ(make_task("bucket-sort")->baselines().chance, 0.2);
  EXPECT_NEAR(make_task("parity-check")->baselines().trivial, 0.5, 0.04);
  // Of the answers one in each is "end", and the bits are as often 0 as 1, but for the highest.
  EXPECT_GT(make_task("binary-addition")->baselines().trivial, 0.4);
}

TEST(StringTask, LengthsThatThereAreNotAreRefused) {
  EXPECT_EQ(message_of([] { make_task("parity-check", {.length = 0}); }),
            "parity-check: there are no strings of 1 to 0 symbols; take lengths from 1 to 10000");
  EXPECT_EQ(message_of([] { make_task("solve-equation", {.length = 2}); }),
            "solve-equation: there are no strings of 1 to 2 symbols; take lengths from 3 to 10000");
  EXPECT_EQ(message_of([] { make_task("bucket-sort")->of_length(10001); }),
            "bucket-sort: there are no strings of 10001 to 10001 symbols; take lengths from 1 to 10000");
  EXPECT_EQ(message_of([] { make_task("binary-addition")->of_length(2); }),
            "binary-addition: there are no strings of 2 symbols; the shortest has 3");
  EXPECT_EQ(make_task("babi")->of_length(10), nullptr);
}

}  // namespace
}  // namespace retrace
