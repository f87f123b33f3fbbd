// Text of files and users neither controls the terminal nor shows itself as another one, whoever prints it.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/cli/printable_stream.h>
#include <retrace/models/data/npz.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// Colours, C1, a mark that turns the direction, and DEL.
const std::string foreign =
    "\x1b[31m\xc2\x9b"
    "2J\xe2\x80\xae\x7f";
const std::string shown = R"(\x1b[31m\x9b2J\u202e\x7f)";

class ForeignText : public testing::Test {
 protected:
  static void expect_printable(const Outcome& outcome, const std::string& what) {
    for (const std::string& text : {outcome.results, outcome.messages}) {
      EXPECT_EQ(text, printable_lines(text)) << what;
      EXPECT_EQ(text.find('\r'), std::string::npos) << what;
    }
  }
  static std::vector<std::string> with_budget(std::vector<std::string> words) {
    words.insert(words.end(), {"--steps", "2", "--batch", "2", "--validate-every", "1", "--hidden", "4"});
    return words;
  }
  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST(PrintableStream, PassesOnWholeLinesAndKeepsTheirEnds) {
  std::ostringstream out;
  {
    PrintableStream stream(out);
    stream << "a\x1b\tb\n" << std::flush;
    EXPECT_EQ(out.str(), "a\\x1b\tb\n");
    for (int k = 0; k < 10'000; ++k)
      stream << "\xe2"
             << "\x80"
             << "\xae\n";
    EXPECT_GT(out.str().size(), 10'000U) << "not all is kept back";
    stream << "rest";
  }
  std::string expected = "a\\x1b\tb\n";
  for (int k = 0; k < 10'000; ++k) expected += "\\u202e\n";
  EXPECT_EQ(out.str(), expected + "rest");
}

TEST_F(ForeignText, OfAFileOfDataIsEscapedByEveryCommand) {
  const std::string data = folder_ / "data.csv";
  {
    std::ofstream csv(data);
    csv << foreign << ","
        << "kind\n";
    for (int k = 0; k < 60; ++k) csv << k % 7 << "," << (k % 2 == 0 ? foreign + "one" : "two") << "\n";
  }
  const Outcome trained = run_command(with_budget({"train", "data", "--data", data, "--label", "kind", "--out", run_}));
  ASSERT_EQ(trained.status, 0) << trained.messages;
  expect_printable(trained, "train");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"eval", run_},
                                             {"eval", run_, "--json"},
                                             {"study", run_},
                                             {"study", run_, "--dot"},
                                             {"study", run_, "--json"},
                                             {"show", "data", "--data", data, "--label", "kind"},
                                             {"train", "data", "--data", data, "--label", foreign + "?"},
                                             {"predict", run_, "--input", data, "--json"}})
    expect_printable(run_command(words), words.front());
  EXPECT_NE(run_command({"eval", run_}).results.find(shown), std::string::npos) << "the first line has the name";
  const auto report = Json::parse(run_command({"eval", run_, "--json"}).results);
  EXPECT_NE(report.dump().find("\\u001b[31m"), std::string::npos) << "in JSON the name stays as it is";
}

TEST_F(ForeignText, OfATextIsEscapedWhenItIsGeneratedAndInReports) {
  const std::string file = folder_ / ("text" + foreign);
  std::string words;
  for (int k = 0; k < 60; ++k) words += "\x1b[2J\xe2\x80\xae\n";
  std::ofstream(file) << words;
  const Outcome trained = run_command(with_budget({"train", "text", "--text", file, "--length", "8", "--out", run_}));
  ASSERT_EQ(trained.status, 0) << trained.messages;
  expect_printable(trained, "train text");
  expect_printable(run_command({"eval", run_}), "eval");
  const Outcome generated = run_command({"generate", run_, "--length", "100", "--prompt", "\x1b"});
  EXPECT_EQ(generated.status, 0) << generated.messages;
  expect_printable(generated, "generate");
  EXPECT_TRUE(generated.results.starts_with("\\x1b")) << generated.results;
  const auto json = Json::parse(run_command({"generate", run_, "--prompt", "\x1b", "--json"}).results);
  EXPECT_EQ(json.at("prompt"), "\x1b") << json;
}

TEST_F(ForeignText, OfArgumentsAndFilesIsEscapedInErrors) {
  const std::string file = folder_ / foreign;
  write_npz(file + ".npz", {{foreign, indices({1})}});
  std::ofstream(file) << "nothing";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{foreign},
                                             {"train", foreign},
                                             {"train", "babi", "--" + foreign},
                                             {"train", "babi", "--model", foreign},
                                             {"train", "babi", "--steps", foreign},
                                             {"train", "babi", "--gate", foreign},
                                             {"eval", file},
                                             {"eval", folder_ / ("missing" + foreign)},
                                             {"study", file},
                                             {"study", foreign},
                                             {"generate", file},
                                             {"train", "babi", "--out", file + "/x"},
                                             {"gradcheck", foreign},
                                             {"gradcheck", "--expr", foreign},
                                             {"gradcheck", "--expr", "x", "--input", foreign},
                                             {"train", "data", "--data", file + ".npz", "--label", "y"},
                                             {"train", "text", "--text", file},
                                             {"info", foreign},
                                             {"show", foreign},
                                             {"compare", foreign},
                                             {"predict", file, "--input", foreign}}) {
    const Outcome outcome = run_command(words);
    EXPECT_NE(outcome.status, 0) << words.front();
    EXPECT_NE(outcome.messages, "") << words.front();
    expect_printable(outcome, words.front());
  }
}

/// Which a user of the program has never seen.
TEST_F(ForeignText, NoErrorBeginsWithAFunctionOfTheLibrary) {
  const std::string damaged = folder_ / "damaged.safetensors";
  std::ofstream(damaged) << "nothing at all";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"train", "babi", "--batch", "1000000000", "--steps", "1", "--quiet"},
           {"train", "babi", "--hidden", "1000000000", "--quiet"},
           {"train", "babi", "--model", "rmc", "--heads", "3", "--quiet"},
           {"train", "babi", "--model", "lstm", "--heads", "3", "--quiet"},
           {"train", "babi", "--model", "transformer", "--hidden", "6", "--heads", "4", "--quiet"},
           {"train", "babi", "--optimizer", "none", "--quiet"},
           {"train", "babi", "--schedule", "none", "--quiet"},
           {"train", "nth-farthest", "--length", "3", "--quiet"},
           {"compare", "babi", "--models", "lstm,none"},
           {"eval", damaged},
           {"study", damaged}}) {
    const Outcome outcome = run_command(words);
    EXPECT_NE(outcome.status, 0) << words.front();
    EXPECT_TRUE(outcome.messages.starts_with("retrace")) << outcome.messages;
  }
}

}  // namespace
}  // namespace retrace
