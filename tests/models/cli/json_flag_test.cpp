// Every command takes --json and then prints one JSON object, on one line, and nothing else to the standard output.
#include <gtest/gtest.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/tasks/task.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The commands that the program lists when it refuses an unknown one.
std::set<std::string> known_commands() {
  const std::vector<std::string> words{"no-such-command"};
  const std::string message = run_command(words).messages;
  const std::string list = message.substr(message.find("known: ") + 7);
  std::set<std::string> names;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = list.find_first_of(",)", begin);
    names.insert(list.substr(begin, end - begin));
    if (list[end] == ')') break;
    begin = end + 2;
  }
  return names;
}

TEST(JsonFlag, MakesEveryCommandPrintOneObject) {
  const TemporaryFolder folder;
  std::ofstream text_file(folder / "text");
  for (int line = 0; line < 20; ++line) text_file << "row row row your boat\n";
  text_file.close();
  Random random(1);
  write_npy(folder / "x.npy", make_task("parity", {.length = 2})->sample(random, 2).x);
  const std::vector<std::string> moments{"--steps", "1", "--batch", "2", "--test-samples", "10", "--quiet"};
  std::vector<std::vector<std::string>> lines{
      {"train", "parity", "--length", "2", "--out", folder / "run"},
      {"train", "text", "--text", folder / "text", "--length", "4", "--hidden", "4", "--out", folder / "text-run"},
      {"compare", "parity", "--length", "2", "--models", "gru,rnn", "--seeds", "1"},
      {"ablate", "parity", "--length", "2", "--factors", "gate", "--seeds", "1"},
      {"tune", "parity", "--length", "2", "--learning-rates", "0.1", "--scales", "1", "--rounds", "1"}};
  for (std::vector<std::string>& words : lines) words.insert(words.end(), moments.begin(), moments.end());
  lines.insert(lines.end(), {{"study", "softmax"},
                             {"show", "recall"},
                             {"eval", folder / "run"},
                             {"predict", folder / "run", "--input", folder / "x.npy"},
                             {"export", folder / "run", "--onnx", folder / "x.onnx"},
                             {"generate", folder / "text-run", "--length", "2"},
                             {"gradcheck", "tanh"},
                             {"selfcheck", "bugs"},
                             {"info", "gru"},
                             {"demo", "interaction"}});
  std::set<std::string> seen;
  for (std::vector<std::string>& words : lines) {
    words.emplace_back("--json");
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << words.front() << ": " << outcome.messages;
    EXPECT_EQ(std::ranges::count(outcome.results, '\n'), 1) << words.front() << ": " << outcome.results;
    EXPECT_TRUE(Json::parse(outcome.results).is<Json::Object>()) << words.front();
    seen.insert(words.front());
  }
  EXPECT_EQ(seen, known_commands()) << "a command is missing in this test";
}

/// The unnamed demo prints its tables to the messages instead.
TEST(JsonFlag, TellsOfTheDemoWhatItsTablesSay) {
  const Outcome outcome = run_command({"demo", "--steps", "1", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(std::ranges::count(outcome.results, '\n'), 1);
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["gradients"]["failed"], 0);
  EXPECT_GT(object["gradients"]["elements"], 1000);
  ASSERT_EQ(object["runs"].size(), 4U);
  EXPECT_EQ(object["runs"][3]["task"], "object-tracking");
  EXPECT_EQ(object["runs"][3]["model"], "relational-rnn");
  EXPECT_EQ(object["runs"][3]["steps"], 1);
  EXPECT_NE(outcome.messages.find("Training, by backpropagation"), std::string::npos);
}

}  // namespace
}  // namespace retrace
