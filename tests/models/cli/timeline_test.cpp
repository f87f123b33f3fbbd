// retrace train --timeline: the first steps of a training as trace events.
#include <gtest/gtest.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <retrace/tests/timeline_schema.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

std::vector<std::string> tiny_training(const std::string& file, const std::string& model) {
  return {"train", "pair-matching",  "--model", model,     "--steps",    "7", "--batch", "2", "--hidden",
          "4",     "--test-samples", "4",       "--quiet", "--timeline", file};
}

TEST(TrainTimeline, HasFiveStepsWithTheirForwardBackwardAndUpdate) {
  const TemporaryFolder folder;
  const Outcome outcome = run_command(tiny_training(folder / "steps.json", "lstm"));
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const std::string json = file_bytes(folder / "steps.json");
  expect_timeline_schema(json);
  const std::vector<TimelineEvent> events = events_of(json);
  expect_nested(events);
  const auto count = [&](std::string_view category, std::string_view name) {
    return std::ranges::count_if(
        events, [&](const TimelineEvent& event) { return event.category == category && event.name.ends_with(name); });
  };
  for (const char* part : {"step", "forward", "backward", "update"}) EXPECT_EQ(count("span", part), 5) << part;
  EXPECT_EQ(count("forward", "recurrent/lstm_sequence"), 5);
  EXPECT_EQ(count("backward", "recurrent/lstm_sequence"), 5);
  EXPECT_GE(count("forward", ""), count("backward", ""));
}

TEST(TrainTimeline, ChangesNoNumberOfTheTraining) {
  const TemporaryFolder folder;
  std::vector<std::string> words = tiny_training(folder / "steps.json", "lstm");
  words.insert(words.end(), {"--out", folder / "with"});
  ASSERT_EQ(run_command(words).status, 0);
  words.resize(words.size() - 4);
  words.insert(words.end(), {"--out", folder / "without"});
  ASSERT_EQ(run_command(words).status, 0);
  EXPECT_EQ(file_bytes(folder / "with/weights.safetensors"), file_bytes(folder / "without/weights.safetensors"));
}

TEST(TrainTimeline, RefusesAPlaceBeforeTheTraining) {
  const Outcome outcome = run_command(tiny_training("/no/such/folder/steps.json", "lstm"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.messages.find("/no/such/folder"), std::string::npos) << outcome.messages;
}

}  // namespace
}  // namespace retrace
