// The command `eval` for runs on data of the user.
#include <gtest/gtest.h>
#include <retrace/tests/models/cli/eval_cli.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A file of flowers whose lengths tell two of three kinds apart.
class EvalOfData : public EvalCli {
 protected:
  EvalOfData() {
    write("flowers.csv", 60);
    EXPECT_EQ(run_command({"train", "data", "--data", folder_ / "flowers.csv", "--label", "kind", "--steps", "60",
                           "--hidden", "8", "--quiet", "--out", run_})
                  .status,
              0);
  }
  void write(const std::string& name, int count, const std::string& separator = ",") const {
    std::ofstream file(folder_ / name);
    file << "length" << separator << "kind\n";
    for (int i = 0; i < count; ++i)
      file << (i % 3 == 0 ? 5 : 1) + 0.01 * i << separator
           << (i % 3 == 0   ? "rose"
               : i % 3 == 1 ? "daisy"
                            : "<tulip>")
           << "\n";
  }
  std::string text_of(std::vector<std::string> words) const {
    words.insert(words.begin(), {"eval", run_});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return outcome.results;
  }
};

TEST_F(EvalOfData, AFileThatIsGoneIsNamed) {
  std::filesystem::remove(folder_ / "flowers.csv");
  const Outcome outcome = run_command({"eval", run_});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.messages.starts_with("retrace: the data of ")) << outcome.messages;
  EXPECT_NE(outcome.messages.find("flowers.csv cannot be read"), std::string::npos) << outcome.messages;
  EXPECT_EQ(outcome.messages.find("is not of a model"), std::string::npos) << outcome.messages;
}

TEST_F(EvalOfData, EachClassHasItsAccuracyAndItsRowOfTheConfusionMatrix) {
  const auto report = eval();
  ASSERT_EQ(report["classes"].size(), 3u);
  std::int64_t answers = 0, right = 0;
  for (const auto& row : report["classes"]) {
    std::int64_t in_row = 0;
    for (const auto& [name, count] : row["answered"].items()) in_row += count.get<std::int64_t>();
    EXPECT_EQ(in_row, row["answers"]);
    const std::string own = row["class"].get<std::string>();
    const std::int64_t hits = row["answered"].contains(own) ? row["answered"][own].get<std::int64_t>() : 0;
    EXPECT_DOUBLE_EQ(row["value"].get<double>(), double(hits) / double(in_row));
    answers += in_row, right += hits;
  }
  EXPECT_EQ(answers, 12);
  EXPECT_DOUBLE_EQ(report["value"].get<double>(), double(right) / 12);
  const std::string words = on_one_line(text_of({}));
  EXPECT_NE(words.find("class answers accuracy 95 % interval as <tulip> as daisy as rose"), std::string::npos) << words;
  EXPECT_NE(words.find("rose 4 1.0000 0.5101 to 1 . . 4"), std::string::npos) << words;
}

TEST_F(EvalOfData, AWrongAnswerIsShownWithItsLineAsTheFileHasIt) {
  const auto report = eval({"--failures", "1"});
  ASSERT_EQ(report["failures"].size(), 1u);
  const auto& failure = report["failures"][0];
  const int line = std::stoi(failure["place"].get<std::string>().substr(5)), i = line - 2;
  std::ostringstream length;
  length << "length " << 1 + 0.01 * i;
  EXPECT_EQ(failure["input"], length.str());
  EXPECT_EQ(failure["expected"], i % 3 == 1 ? "daisy" : "<tulip>");
  const std::string words = text_of({"--failures", "1"});
  EXPECT_NE(words.find(text("  line ", line, " of ", folder_ / "flowers.csv", "\n    ", length.str(), "\n    right: ")),
            std::string::npos)
      << words;
}

TEST_F(EvalOfData, ThePageHasTheSame) {
  text_of({"--out", page_});
  const std::string page = file_bytes(page_ + "/report.html");
  for (const char* part : {"<h2>Classes</h2>", "<td>&lt;tulip&gt;</td>", "<th>as rose</th>", "<h3>line "})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("<tulip>"), std::string::npos);
}

TEST_F(EvalOfData, AnotherFileIsTestedOn) {
  write("others.csv", 30);
  const auto report = eval({"--input", folder_ / "others.csv"});
  EXPECT_EQ(report["input"], folder_ / "others.csv");
  EXPECT_EQ(report["samples"], 30);
  EXPECT_EQ(report["as_in_training"], false);
  EXPECT_EQ(report["classes"][2]["answers"], 10);
  EXPECT_NE(text_of({"--input", folder_ / "others.csv"}).find("of 30 samples of " + (folder_ / "others.csv")),
            std::string::npos);
  std::filesystem::remove(folder_ / "flowers.csv");  // the training's file is not needed
  write("semicolons.csv", 30, ";");
  EXPECT_EQ(eval({"--input", folder_ / "semicolons.csv", "--separator", ";"})["value"], report["value"]);
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"eval", run_});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 2);
    return outcome.messages;
  };
  EXPECT_NE(refusal({"--separator", ";"}).find("--separator is of --input"), std::string::npos);
  EXPECT_NE(refusal({"--input", "x.csv", "--by-length", "1..2"}).find("leave --by-length"), std::string::npos);
  train({"babi"});
  EXPECT_NE(refusal({"--input", folder_ / "others.csv"}).find("was trained on the task 'babi'"), std::string::npos);
}

TEST_F(EvalCli, OfThousandsOfClassesThoseWithTheMostMistakesAreShown) {
  std::ofstream file(folder_ / "many.csv");
  file << "a,kind\n";
  for (int i = 0; i < 2000; ++i) file << i * 0.5 << ",k" << i % 500 << "\n";
  file.close();
  train({"data", "--data", folder_ / "many.csv", "--label", "kind"});
  EXPECT_EQ(eval()["classes"].size(), 400u) << "each with a sample of the test";
  const Outcome outcome = run_command({"eval", run_});
  EXPECT_NE(outcome.results.find("The 40 classes with the most wrong answers, of 400; --json has all."),
            std::string::npos)
      << outcome.results;
  EXPECT_LT(std::ranges::count(outcome.results, '\n'), 100);
}

}  // namespace
}  // namespace retrace
