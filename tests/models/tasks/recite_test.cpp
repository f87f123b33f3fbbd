#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <array>
#include <vector>

namespace retrace {
namespace {

using Word = std::vector<std::int64_t>;

/// Compares the answers of a task with `answer_to` of each word.
template <class AnswerTo> void expect_answers(std::string_view name, AnswerTo&& answer_to) {
  const SequenceTask task(sequence_rules(name), {.length = 7, .vocabulary = 5});
  Random random(3);
  const std::int64_t samples = 4000;
  const Batch batch = task.sample(random, samples);
  const std::int64_t length = task.answer_length();
  ASSERT_EQ(batch.x.shape(), (Shape{samples, 8 + length, 6}));
  ASSERT_EQ(batch.y.shape(), (Shape{samples, length}));
  const float* row = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  std::array<double, 5> counts{};
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    Word word;
    for (int k = 0; k < 7; ++k, row += 6) {
      word.push_back(hot(row, 6));
      ASSERT_TRUE(word.back() >= 0 && word.back() < 5);
      ++counts[static_cast<std::size_t>(word.back())];
    }
    ASSERT_EQ(hot(row, 6), 5);
    row += 6;
    ASSERT_TRUE(is_blank(row, 6 * length));
    row += 6 * length;
    ASSERT_EQ(Word(answer, answer + length), answer_to(word));
    answer += length;
  }
  for (const double count : counts) EXPECT_NEAR(count / static_cast<double>(7 * samples), 0.2, 0.01);
}

TEST(Recite, CopySaysTheWordAgain) {
  expect_answers("copy", [](const Word& word) { return word; });
}

TEST(Recite, ReverseSaysItBackwards) {
  expect_answers("reverse", [](Word word) {
    std::ranges::reverse(word);
    return word;
  });
}

TEST(Recite, DoubleSaysItTwice) {
  expect_answers("double", [](const Word& word) {
    Word twice = word;
    twice.insert(twice.end(), word.begin(), word.end());
    return twice;
  });
}

TEST(Recite, WordsHaveTenCharactersUnlessTold) {
  EXPECT_EQ(make_task("copy")->sequence_length(), 21);
  EXPECT_EQ(make_task("double")->sequence_length(), 31);
  EXPECT_EQ(make_task("double")->name(), "double");
  EXPECT_EQ(make_task("reverse")->baselines().chance, 0.1);
}

TEST(Recite, WordsOfNothingAreRefused) {
  EXPECT_EQ(message_of([] { make_task("double", {.length = 0}); }),
            "double: a word of 0 characters out of 10 is not a task; take 1 character or more out of 2 or more");
  EXPECT_EQ(message_of([] { SequenceTask(sequence_rules("copy"), {.vocabulary = 1}); }),
            "copy: a word of 10 characters out of 1 is not a task; take 1 character or more out of 2 or more");
}

}  // namespace
}  // namespace retrace
