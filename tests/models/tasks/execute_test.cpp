#include <gtest/gtest.h>
#include <retrace/models/tasks/execute.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {
namespace {

/// Runs a program as Python would, from its text alone, and counts its constructs.
class Interpreter {
 public:
  explicit Interpreter(std::string_view code) : code_(code) {}

  __int128 run() {
    const __int128 value = expression();
    EXPECT_EQ(at_, code_.size()) << code_;
    return value;
  }
  int ops = 0;
  std::map<std::size_t, int> numbers;  // by number of digits

 private:
  __int128 expression() {
    ++ops;
    if (accept("x=")) {
      __int128 x = operand();
      expect("for[");
      const char times = code_[at_++];
      EXPECT_TRUE(times >= '1' && times <= '9') << code_;
      expect("]x+=");
      const __int128 each = operand();
      for (char k = '0'; k < times; ++k) x += each;
      return x;
    }
    const __int128 a = operand();
    if (accept("+")) return a + operand();
    if (accept("-")) return a - operand();
    if (accept("*")) return a * operand();
    expect("if");
    const __int128 b = operand();
    const bool less = accept("<");
    if (!less) expect(">");
    const __int128 c = operand();
    expect("else");
    const __int128 d = operand();
    return (less ? b < c : b > c) ? a : d;
  }
  __int128 operand() {
    if (accept("(")) {
      const __int128 value = expression();
      expect(")");
      return value;
    }
    const std::size_t begin = at_;
    __int128 number = 0;
    for (; at_ < code_.size() && std::isdigit(code_[at_]) != 0; ++at_) number = 10 * number + (code_[at_] - '0');
    EXPECT_TRUE(at_ > begin && code_[begin] != '0') << code_;
    ++numbers[at_ - begin];
    return number;
  }
  bool accept(std::string_view word) {
    if (code_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) { EXPECT_TRUE(accept(word)) << code_ << " at " << at_ << ": " << word; }

  std::string_view code_;
  std::size_t at_ = 0;
};

/// Python's remainder, in digits.
std::string modulo(__int128 value, std::int64_t modulus) {
  while (value < 0) value += (-value / modulus + 1) * modulus;
  return std::to_string(static_cast<std::int64_t>(value % modulus));
}

struct Text {
  std::string code;
  std::string output;
};

/// The samples of a task as text; checks the frame around it.
std::vector<Text> texts(const Execute& task, std::int64_t samples, std::uint64_t seed = 5) {
  Random random(seed);
  const Batch batch = task.sample(random, samples);
  const std::int64_t width = task.input_size(), answers = task.answer_length();
  EXPECT_EQ(batch.x.shape(), (Shape{samples, task.sequence_length(), width}));
  EXPECT_EQ(batch.y.shape(), (Shape{samples, answers}));
  const float* row = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  std::vector<Text> result(static_cast<std::size_t>(samples));
  for (Text& text : result) {
    for (std::int64_t k = 0; k < task.sequence_length() - answers; ++k, row += width) {
      const std::int64_t character = hot(row, width);
      EXPECT_TRUE(character >= 0 || (character == -1 && text.code.empty()));
      if (character >= 0) text.code += Execute::characters[static_cast<std::size_t>(character)];
    }
    EXPECT_TRUE(text.code.ends_with('!')) << text.code;
    text.code.pop_back();
    EXPECT_TRUE(is_blank(row, answers * width));
    row += answers * width;
    const std::int64_t* end = std::find(answer, answer + answers, no_answer);
    EXPECT_EQ(std::count(end, answer + answers, no_answer), answer + answers - end);
    std::transform(answer, end, std::back_inserter(text.output),
                   [](std::int64_t k) { return Execute::answers[static_cast<std::size_t>(k)]; });
    answer += answers;
  }
  return result;
}

TEST(Execute, ProgramsPrintWhatAnInterpreterSays) {
  for (const ProgramKind kind : {ProgramKind::addition, ProgramKind::control, ProgramKind::loops,
                                 ProgramKind::algebra_control, ProgramKind::full})
    for (const auto& [length, nesting] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 3}, {5, 2}, {6, 4}}) {
      const Execute task({.program = kind, .length = length, .nesting = nesting});
      std::int64_t modulus = 10;
      for (std::int64_t k = 0; k < length; ++k) modulus *= 10;
      for (const Text& text : texts(task, 3000)) {
        Interpreter interpreter(text.code);
        ASSERT_EQ(text.output, modulo(interpreter.run(), modulus)) << text.code;
        ASSERT_EQ(interpreter.ops, nesting) << text.code;
        ASSERT_EQ(interpreter.numbers.size(), 1U) << text.code;
        ASSERT_EQ(interpreter.numbers.begin()->first, static_cast<std::size_t>(length)) << text.code;
      }
    }
}

/// As in the code that the authors of the Relational Memory Core published.
TEST(Execute, TheOpBeforeIsTheFirstOperandOfTheNext) {
  for (const Text& text : texts(Execute({.program = ProgramKind::full, .length = 2, .nesting = 3}), 3000)) {
    std::string_view code = text.code;
    for (int depth = 0; depth < 2; ++depth) {
      if (code.starts_with("x=")) code.remove_prefix(2);
      ASSERT_TRUE(code.starts_with('(')) << text.code;
      code.remove_prefix(1);
    }
    ASSERT_EQ(std::ranges::count(text.code, '('), 2) << text.code;
  }
}

TEST(Execute, EachKindHasItsOwnOpsInEqualParts) {
  const auto shares = [](ProgramKind kind) {
    std::map<char, double> result;  // by a character that only one op has
    for (const Text& text : texts(Execute({.program = kind, .nesting = 1}), 20000)) {
      const bool loop = text.code.front() == 'x';
      for (const char op : loop ? std::string("x") : text.code)
        if (std::string_view("x+-*<>").find(op) != std::string_view::npos) result[op] += 1 / 20000.0;
    }
    return result;
  };
  const auto expect_shares = [](std::map<char, double> got, const std::map<char, double>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [op, share] : wanted) EXPECT_NEAR(got[op], share, 0.02) << op;
  };
  expect_shares(shares(ProgramKind::addition), {{'+', 1}});
  expect_shares(shares(ProgramKind::control), {{'<', 0.25}, {'>', 0.25}, {'x', 0.5}});
  expect_shares(shares(ProgramKind::loops), {{'x', 1}});
  expect_shares(shares(ProgramKind::algebra_control), {{'<', 1 / 6.0}, {'>', 1 / 6.0}, {'+', 1 / 3.0}, {'-', 1 / 3.0}});
  expect_shares(shares(ProgramKind::full), {{'<', 0.1}, {'>', 0.1}, {'x', 0.2}, {'+', 0.2}, {'-', 0.2}, {'*', 0.2}});
}

TEST(Execute, TheLongestProgramFillsTheRows) {
  const Execute task({.program = ProgramKind::full, .length = 3, .nesting = 3});
  std::size_t longest = 0;
  for (const Text& text : texts(task, 20000)) longest = std::max(longest, text.code.size());
  EXPECT_EQ(static_cast<std::int64_t>(longest), task.sequence_length() - 1 - task.answer_length());
  EXPECT_EQ(static_cast<std::int64_t>(longest), (4 * 3 + 7) + 2 * (3 * 3 + 7 + 2));
}

TEST(Execute, WhatIsMemorisedComesBack) {
  const auto expect_output = [](ProgramKind kind, const std::function<std::string(std::string)>& of) {
    for (const Text& text : texts(Execute({.program = kind, .length = 6}), 1000)) {
      ASSERT_EQ(text.code.size(), 6U);
      ASSERT_EQ(text.output, of(text.code));
    }
  };
  expect_output(ProgramKind::copy, [](std::string word) { return word; });
  expect_output(ProgramKind::reverse, [](std::string word) { return std::string(word.rbegin(), word.rend()); });
  expect_output(ProgramKind::twice, [](std::string word) { return word + word; });
}

TEST(Execute, LessonsAreEasierButHaveTheSameRows) {
  const ExecuteOptions hard{.program = ProgramKind::control, .length = 4, .nesting = 3};
  ExecuteOptions easy = hard;
  easy.current_length = 2, easy.current_nesting = 2;
  const Execute fixed(easy);
  EXPECT_EQ(fixed.sequence_length(), Execute(hard).sequence_length());
  for (const Text& text : texts(fixed, 1000)) {
    Interpreter interpreter(text.code);
    ASSERT_EQ(text.output, modulo(interpreter.run(), 100000));
    ASSERT_EQ(interpreter.ops, 2);
    ASSERT_EQ(interpreter.numbers.begin()->first, 2U);
  }
  ExecuteOptions mixed = hard;
  mixed.mix = 1;
  std::map<std::pair<int, std::size_t>, double> seen;
  for (const Text& text : texts(Execute(mixed), 12000)) {
    Interpreter interpreter(text.code);
    ASSERT_EQ(text.output, modulo(interpreter.run(), 100000));
    seen[{interpreter.ops, interpreter.numbers.begin()->first}] += 1 / 12000.0;
  }
  EXPECT_EQ(seen.size(), 12U);
  for (const auto& [lesson, share] : seen) EXPECT_NEAR(share, 1.0 / 12, 0.015);
}

TEST(Execute, DigitsToCopyAreNotNested) {
  EXPECT_EQ(message_of([] { Execute::make({.program = "double", .nesting = 2}); }),
            "execute: the digits of the program 'double' are not nested; leave nesting out, or choose another program");
  EXPECT_EQ(Execute::make({.length = 4, .program = "double"})->answer_length(), 8);
}

/// The first half of a lesson's samples are of that lesson; the others have all lengths and nestings.
TEST(Execute, LessonsGrowByDigitsAndThenByOps) {
  const Execute task({.program = ProgramKind::addition, .length = 3, .nesting = 2});
  const std::vector<Lesson> lessons = task.lessons();
  ASSERT_EQ(lessons.size(), 6U);
  constexpr std::int64_t samples = 12000;
  for (std::size_t k = 0; k < lessons.size(); ++k) {
    const auto& lesson = dynamic_cast<const Execute&>(*lessons[k].task);
    EXPECT_EQ(lesson.sequence_length(), task.sequence_length());
    EXPECT_EQ(lessons[k].own, 0.5);
    std::map<std::pair<int, std::size_t>, double> others;
    std::int64_t sample = 0;
    for (const Text& text : texts(lesson, samples)) {
      Interpreter interpreter(text.code);
      ASSERT_EQ(text.output, modulo(interpreter.run(), 10000));
      const std::pair difficulty{interpreter.ops, interpreter.numbers.begin()->first};
      if (sample++ < samples / 2)
        ASSERT_EQ(difficulty, std::pair(1 + static_cast<int>(k / 3), 1 + k % 3)) << k;
      else
        others[difficulty] += 2.0 / samples;
    }
    ASSERT_EQ(others.size(), 6U) << k;
    for (const auto& [difficulty, share] : others) EXPECT_NEAR(share, 1.0 / 6, 0.03) << k;
  }
  EXPECT_EQ(Execute({.program = ProgramKind::copy, .length = 4}).lessons().size(), 4U);
  EXPECT_EQ(Execute({.length = 1, .nesting = 1}).lessons().size(), 0U) << "nothing is easier";
}

TEST(Execute, TheCommonestCharacterOfEachPlaceIsTheTrivialAnswer) {
  const Execute task({.program = ProgramKind::addition, .length = 2, .nesting = 1});
  std::map<std::size_t, std::map<char, double>> counts;
  double right = 0, counted = 0;
  for (const Text& text : texts(task, 30000))
    for (std::size_t k = 0; k < text.output.size(); ++k, ++counted) ++counts[k][text.output[k]];
  for (const auto& [place, of_place] : counts)
    right += std::ranges::max_element(of_place, {}, [](const auto& count) { return count.second; })->second;
  EXPECT_NEAR(task.baselines().trivial, right / counted, 0.01);
}

TEST(Execute, RemaindersAreNeverNegative) {
  EXPECT_EQ(floor_mod(-1, 100), 99);
  EXPECT_EQ(floor_mod(-200, 100), 0);
  EXPECT_EQ(floor_mod(-201, 100), 99);
  EXPECT_EQ(floor_mod(199, 100), 99);
}

TEST(Execute, OptionsWithoutProgramsAreRefused) {
  EXPECT_EQ(message_of([] { Execute({.length = 0}); }),
            "execute: programs of nesting 2 with numbers of 0 digits are not for this task; take 1 or more of both, a "
            "length of at most 17, and length * (nesting + 1) of at most 37");
  EXPECT_THROW(Execute({.nesting = 0}), ValueError);
  EXPECT_THROW(Execute({.length = 10, .nesting = 3}), ValueError);
  EXPECT_THROW(Execute({.program = ProgramKind::copy, .length = 18}), ValueError);
  EXPECT_EQ(message_of([] { Execute({.current_length = 6}); }),
            "execute: a current length of 6 and nesting of 0 lie outside the task's 5 and 2; lower them, or 0 for all");
  EXPECT_EQ(message_of([] { Execute({.mix = 1.5}); }),
            "execute: a mix of 1.5 is not a share of the samples; give 0 to 1");
  EXPECT_EQ(message_of([] { program_kind("revers"); }),
            "execute: there is no program named 'revers'; did you mean reverse (known: addition, control, loops, "
            "algebra-control, full, copy, reverse, double)");
  for (const std::string_view name : program_names())
    EXPECT_EQ(program_names()[static_cast<std::size_t>(program_kind(name))], name);
}

}  // namespace
}  // namespace retrace
