// Every task has a kind of training, which takes its own options and refuses those of others; options that are not
// given come from the recipe.
#include <gtest/gtest.h>
#include <retrace/models/training/run_kinds.h>
#include <retrace/tests/errors.h>

#include <algorithm>
#include <string>

namespace retrace {
namespace {

std::string refusal(const RunOptions& options) {
  return message_of([&] { make_run(options); });
}

TEST(RunKinds, NameTheTasksDataAndText) {
  const std::vector<std::string_view> names = run_names();
  ASSERT_EQ(names.size(), task_names().size() + 2);
  EXPECT_TRUE(std::ranges::equal(std::span(names).first(task_names().size()), task_names()));
  EXPECT_EQ(names[task_names().size()], "data");
  EXPECT_EQ(names.back(), "text");
  EXPECT_EQ(refusal({.task = "txt", .model = {.name = "lstm"}}).substr(0, 66),
            "retrace train: there is no task named 'txt'; did you mean text (kn");
}

TEST(RunKinds, RefuseOptionsThatTheyDoNotHave) {
  const ModelSpec lstm{.name = "lstm"};
  EXPECT_EQ(refusal({.task = "babi", .model = lstm, .text = {.file = "a"}}),
            "retrace train: --text is for retrace train text; leave it out for babi");
  EXPECT_EQ(refusal({.task = "adding", .model = lstm, .text = {.tokens = TokenKind::characters}}),
            "retrace train: --tokens is for retrace train text; leave it out for adding");
  EXPECT_EQ(refusal({.task = "text", .model = lstm}), "retrace train text: no text to train on; give --text FILE");
  EXPECT_EQ(refusal({.task = "text", .model = lstm, .task_options = {.dims = 2}, .text = {.file = "a"}}),
            "retrace train text: of the tasks' own options a text has --length alone; leave the others out");
  EXPECT_EQ(refusal({.task = "text", .model = lstm, .text = {.file = "a"}, .fit = {.specialise = 1}}),
            "retrace train text: the rows of a text have no topics, so slots cannot specialise in them; leave "
            "--specialise out");
  EXPECT_EQ(refusal({.task = "text", .model = {.name = "gru", .sizes = {.heads = 2}}, .text = {.file = "a"}}),
            "retrace train text: on a text only an rmc has slots, heads and parts to choose; leave their "
            "flags out");
  EXPECT_EQ(refusal({.task = "babi", .model = lstm, .text = {.test_file = "a"}}),
            "retrace train: --test-text is for retrace train text; leave it out for babi");
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
