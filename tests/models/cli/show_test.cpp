// The command `show`.
#include <gtest/gtest.h>
#include <retrace/models/tasks/task.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <string>

namespace retrace {
namespace {

Json shown(std::vector<std::string> words) {
  words.insert(words.begin(), "show");
  words.emplace_back("--json");
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  return Json::parse(outcome.results);
}

TEST(Show, EveryTaskHasExamplesInWords) {
  for (const std::string_view name : task_names()) {
    const Outcome outcome = run_command({"show", std::string(name), "--count", "2"});
    const std::string heading = on_one_line(outcome.results.substr(0, outcome.results.find("\n\n")));
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    for (const char* part : {"\nexample 1:\n", "\nexample 2:\n", "\n  answer: "})
      EXPECT_NE(outcome.results.find(part), std::string::npos) << name << "\n" << outcome.results;
    EXPECT_EQ(outcome.results.find("\nexample 3:\n"), std::string::npos);
    for (const char* part : {"chance ", "best possible "})
      EXPECT_NE(heading.find(part), std::string::npos) << name << "\n" << heading;
  }
}

TEST(Show, TellsAStory) {
  const std::string story = on_one_line(run_command({"show", "recall", "--length", "2", "--count", "1"}).results);
  EXPECT_TRUE(
      story.starts_with("recall: 3 rows of 20 features, 10 classes accuracy: chance 0.1, any value shown 0.5, "
                        "best possible 1 example 1: 1: key "))
      << story;
  EXPECT_NE(story.find("position of the pair: "), std::string::npos) << story;
  EXPECT_NE(story.find("row to remember: "), std::string::npos) << story;
}

TEST(Show, GivesTheNumbersAsJson) {
  const auto copy = shown({"copy", "--length", "4", "--seed", "5"});
  EXPECT_EQ(copy["task"], "copy");
  EXPECT_EQ(copy["task_options"]["length"], 4);
  EXPECT_EQ(copy["ceiling"], 1);
  ASSERT_EQ(copy["examples"].size(), 3U);
  const auto& first = copy["examples"][0];
  ASSERT_EQ(first["x"].size(), 9U);
  ASSERT_EQ(first["y"].size(), 4U);
  std::string word;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t label = first["y"][k].get<std::size_t>();
    EXPECT_EQ(first["x"][k][label], 1);
    word += std::to_string(label);
  }
  EXPECT_EQ(first["answer"], word);
  EXPECT_EQ(first["input"], "copy " + word);
  EXPECT_EQ(first["categories"]["position in the answer"].size(), 4U);
  EXPECT_EQ(shown({"copy", "--length", "4", "--seed", "5"}), copy);
  EXPECT_NE(shown({"copy", "--length", "4", "--seed", "6"}), copy);
  EXPECT_EQ(shown({"object-tracking", "--count", "1"})["examples"][0]["y"][0].size(), 2U);
}

TEST(Show, RefusesWhatTheTaskDoesNotHave) {
  const Outcome option = run_command({"show", "babi", "--dims", "2"});
  EXPECT_EQ(option.status, 2);
  EXPECT_NE(option.messages.find("the task 'babi' has no option 'dims'"), std::string::npos) << option.messages;
  const Outcome name = run_command({"show", "bab"});
  EXPECT_EQ(name.status, 2);
  EXPECT_NE(name.messages.find("did you mean babi"), std::string::npos) << name.messages;
  EXPECT_EQ(run_command({"show", "babi", "--count", "0"}).status, 2);
}

}  // namespace
}  // namespace retrace
