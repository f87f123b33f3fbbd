// Commands whose samples or trainings are spread over ranks print what one process prints.
#include <gtest/gtest.h>
#include <retrace/models/cli/cli.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/training/ranks/thread_ranks.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// Runs the command on ranks and returns the output of each.
std::vector<std::string> printed_on(int size, const std::vector<std::string>& words) {
  std::vector<const char*> argv{"retrace"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::vector<std::string> printed(static_cast<std::size_t>(size));
  on_ranks(size, [&](ThreadRank& rank) {
    std::ostringstream results, messages;
    const int status = run_cli(static_cast<int>(argv.size()), argv.data(), results, messages, false, nullptr, &rank);
    EXPECT_EQ(status, 0) << messages.str();
    printed[static_cast<std::size_t>(rank.rank())] = results.str();
  });
  return printed;
}

/// The text without times.
std::string timeless(const std::string& json) {
  return std::regex_replace(json, std::regex("seconds[a-z_]*\":(\\[[^\\]]*\\]|[^,}]*)"), "");
}

void expect_equal_on_ranks(const std::vector<std::string>& words) {
  const Outcome alone = run_command(words);
  ASSERT_EQ(alone.status, 0) << alone.messages;
  for (const std::string& printed : printed_on(3, words)) EXPECT_EQ(timeless(printed), timeless(alone.results));
}

using Words = std::vector<std::string>;

TEST(RankCommands, EvalPrintsWhatOneProcessPrints) {
  const TemporaryFolder folder;
  const std::string run = folder / "run", strings = folder / "strings";
  ASSERT_EQ(run_command({"train", "adding", "--length", "4", "--model", "rmc", "--hidden", "8", "--steps", "2",
                         "--batch", "4", "--test-samples", "700", "--quiet", "--out", run})
                .status,
            0);
  expect_equal_on_ranks({"eval", run, "--json"});
  expect_equal_on_ranks({"eval", run, "--samples", "100", "--json"});
  if (!has_zoo()) return;
  ASSERT_EQ(run_command({"train", "parity-check", "--model", "gru", "--hidden", "8", "--steps", "2", "--batch", "4",
                         "--test-samples", "700", "--quiet", "--out", strings})
                .status,
            0);
  expect_equal_on_ranks({"eval", strings, "--json"});
  expect_equal_on_ranks({"eval", strings, "--by-length", "41..47/2", "--json"});
}

Words quick(Words words, const Words& more = {}) {
  for (const char* word :
       {"--hidden", "8", "--steps", "4", "--batch", "4", "--test-samples", "50", "--quiet", "--json"})
    words.emplace_back(word);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(RankCommands, CompareAblateAndTunePrintWhatOneProcessPrints) {
  expect_equal_on_ranks(
      quick({"compare", "parity", "--models", "lstm,gru", "--seeds", "2", "--learning-rates", "0.01,0.001"}));
  expect_equal_on_ranks(quick({"ablate", "parity", "--model", "rmc", "--factors", "gate", "--seeds", "1"}));
  expect_equal_on_ranks(quick({"tune", "parity", "--learning-rates", "0.01,0.001", "--rounds", "2"}));
}

TEST(RankCommands, TrainingsOfRanksAreStoredAndGoneOnWithOnAnyNumberOfThem) {
  const TemporaryFolder folder;
  const Words words = quick({"compare", "parity", "--models", "lstm,gru", "--seeds", "2"});
  const auto into = [&](const char* name, Words more = {}) {
    Words all = words;
    all.insert(all.end(), {"--out", folder / name});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run_command(into("alone")).status, 0);
  printed_on(3, into("ranks"));
  for (const char* run : {"lstm-seed-0", "lstm-seed-1", "gru-seed-0", "gru-seed-1"}) {
    const std::string weights = text("/runs/", run, "/weights.safetensors");
    EXPECT_EQ(file_bytes(folder / ("ranks" + weights)), file_bytes(folder / ("alone" + weights))) << run;
  }
  EXPECT_EQ(timeless(file_bytes(folder / "ranks/result.json")), timeless(file_bytes(folder / "alone/result.json")));
  std::filesystem::remove_all(folder / "ranks/runs/gru-seed-0");
  for (const std::string& printed : printed_on(2, into("ranks", {"--resume"})))
    EXPECT_EQ(timeless(printed), timeless(file_bytes(folder / "alone/result.json")));
  EXPECT_FALSE(std::filesystem::exists(folder / "ranks/seen-by-all-ranks"));
}

}  // namespace
}  // namespace retrace
