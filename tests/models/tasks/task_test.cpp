#include <gtest/gtest.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <string>

namespace retrace {
namespace {

TEST(Task, SamplesDependOnTheGeneratorAlone) {
  for (const std::string_view name : task_names()) {
    const auto task = make_task(name);
    Random first(1), again(1), other(2);
    const Batch a = task->sample(first, 20), b = task->sample(again, 20), c = task->sample(other, 20);
    EXPECT_EQ(a.x.dim(1), task->sequence_length());
    EXPECT_EQ(a.x.dim(2), task->input_size());
    EXPECT_TRUE(std::ranges::equal(a.x.values<float>(), b.x.values<float>())) << name;
    EXPECT_FALSE(std::ranges::equal(a.x.values<float>(), c.x.values<float>())) << name;
  }
}

TEST(Task, SamplesHaveTheDefaultDtypeAndTheSameValuesInIt) {
  for (const std::string_view name : task_names()) {
    Random random(1), again(1);
    const Batch narrow = make_task(name)->sample(random, 5);
    const DtypeScope scope(f64);
    const Batch wide = make_task(name)->sample(again, 5);
    ASSERT_EQ(wide.x.dtype(), f64);
    for (std::size_t k = 0; k < wide.x.values<double>().size(); ++k)
      EXPECT_EQ(narrow.x.values<float>()[k], static_cast<float>(wide.x.values<double>()[k]));
  }
}

TEST(Task, EveryNameMakesATaskOfThatName) {
  for (const std::string_view name : task_names()) EXPECT_EQ(make_task(name)->name(), name);
}

TEST(Task, BaselinesAreInOrder) {
  for (const std::string_view name : task_names()) {
    const auto task = make_task(name);
    const Baselines baselines = task->baselines();
    const double sign = task->kind() == TaskKind::regression ? -1 : 1;
    EXPECT_LE(sign * baselines.chance, sign * baselines.trivial) << name;
    EXPECT_LT(sign * baselines.trivial, sign * baselines.ceiling.value()) << name;
    EXPECT_FALSE(baselines.trivial_answer.empty()) << name;
    for (const auto& [answer, value] : baselines.shortcuts) {
      EXPECT_LT(sign * baselines.chance, sign * value) << name << ": " << answer;
      EXPECT_LT(sign * value, sign * baselines.ceiling.value()) << name << ": " << answer;
    }
  }
}

TEST(Task, ATaskTakesOnlyItsOwnOptions) {
  EXPECT_EQ(make_task("pair-matching", {.length = 12})->sequence_length(), 12);
  EXPECT_EQ(make_task("copy", {.length = 4})->sequence_length(), 9);
  EXPECT_EQ(make_task("parity", {.length = 4})->sequence_length(), 4);
  EXPECT_EQ(make_task("adding", {.length = 20})->sequence_length(), 20);
  EXPECT_EQ(make_task("nth-farthest", {.vectors = 4, .dims = 2})->input_size(), 2 + 3 * 4);
  EXPECT_EQ(make_task("execute", {.length = 3, .program = "double"})->answer_length(), 6);
  EXPECT_EQ(make_task("babi", {.held_only = true})->baselines().ceiling, 1);
  EXPECT_EQ(make_task("babi", {.facts = 9})->sequence_length(), 10);
  EXPECT_EQ(make_task("object-tracking", {.objects = 5})->input_size(), 7);
  EXPECT_EQ(make_task("object-tracking", {.moves = 20})->sequence_length(), 21);
  EXPECT_EQ(make_task("graph-reachability", {.nodes = 9})->input_size(), 19);
  EXPECT_EQ(make_task("graph-reachability", {.edges = 5})->sequence_length(), 6);
  EXPECT_EQ(make_task("pair-matching", {.vocabulary = 30})->output_size(), 30);
  EXPECT_EQ(make_task("recall", {.keys = 12, .values = 7})->input_size(), 19);
  EXPECT_EQ(make_task("recall", {.keys = 12, .values = 7})->output_size(), 7);
  EXPECT_EQ(message_of([] { make_task("adding", {.length = -1}); }),
            "adding: -1 rows do not hold two marked numbers; ask for 2 or more");
}

TEST(Task, ErrorsNameTheRemedy) {
  const std::string unknown = message_of([] { make_task("pair-matchin"); });
  EXPECT_TRUE(unknown.starts_with(
      "make_task: there is no task named 'pair-matchin'; did you mean pair-matching (known: object-tracking, "))
      << unknown;
  Random random;
  EXPECT_EQ(message_of([&] { Babi().sample(random, 0); }),
            "babi: a batch of 0 samples was asked for; ask for 1 or more");
}

}  // namespace
}  // namespace retrace
