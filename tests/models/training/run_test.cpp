// Names and options of tasks that are trained on; options that are not given come from the recipe.
#include <gtest/gtest.h>
#include <retrace/models/training/run.h>
#include <retrace/tests/errors.h>

#include <algorithm>
#include <string>

namespace retrace {
namespace {

std::string refusal(const RunOptions& options) {
  return message_of([&] { prepare(options); });
}

TEST(AllTasks, AreThoseByNameAndDataAndText) {
  const std::vector<std::string_view> names = all_task_names();
  ASSERT_EQ(names.size(), task_names().size() + 2);
  EXPECT_TRUE(std::ranges::equal(std::span(names).first(task_names().size()), task_names()));
  EXPECT_EQ(names[task_names().size()], "data");
  EXPECT_EQ(names.back(), "text");
  EXPECT_EQ(refusal({.task = "txt", .model = {.name = "lstm"}}).substr(0, 62),
            "make_task: there is no task named 'txt'; did you mean text (kn");
}

TEST(AllTasks, RefuseWhatTheyDoNotHave) {
  const ModelSpec lstm{.name = "lstm"};
  EXPECT_EQ(refusal({.task = "adding", .model = lstm, .task_options = {.tokens = TokenKind::characters}}),
            "make_task: the task 'adding' has no option 'tokens' (it has: length); leave it out");
  EXPECT_EQ(refusal({.task = "text", .model = lstm}), "text: there is no text to learn from; give --text FILE");
}

TEST(Recipes, GiveTheNumbersThatAreNotGiven) {
  const Recipe recipe{.batch = 5, .learning_rate = 0.5, .steps = 7, .schedule = "linear", .b2 = 0.75};
  const FitOptions filled = with_recipe({.batch = 3, .schedule = "steps"}, recipe);
  EXPECT_EQ(filled.steps, 7);
  EXPECT_EQ(filled.batch, 3);
  EXPECT_EQ(filled.learning_rate, 0.5);
  EXPECT_EQ(filled.schedule, "steps");
  EXPECT_EQ(filled.b2, 0.75);
  EXPECT_EQ(with_recipe({.b2 = 0}, recipe).b2, 0);
  EXPECT_EQ(with_recipe({.minutes = 1}, recipe).steps, no_limit);
  EXPECT_EQ(with_recipe({.steps = 9, .minutes = 1}, recipe).steps, 9);
}

TEST(Recipes, DoNotReplaceAZero) {
  const auto train = [](const FitOptions& fit) {
    prepare({.task = "babi", .model = {.name = "lstm"}, .fit = fit}).train();
  };
  EXPECT_EQ(message_of([&] { train({.steps = 0}); }), "fit: steps is 0; it has to be above 0");
  EXPECT_EQ(message_of([&] { train({.batch = 0}); }), "fit: batch is 0; it has to be above 0");
  EXPECT_EQ(message_of([] { make_task("parity", {.length = 0}); }).substr(0, 8), "parity: ");
}

}  // namespace
}  // namespace retrace
