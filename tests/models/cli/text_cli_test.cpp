// The commands `train text` and `generate`.
#include <gtest/gtest.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

class TextCli : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream rhyme(rhyme_);
    for (int line = 0; line < 60; ++line) rhyme << "row row row your boat, gently down the stream\n";
  }

  static std::vector<std::string> with(std::vector<std::string> words, const char* another) {
    words.emplace_back(another);
    return words;
  }

  /// A short training on the rhyme, with more words to the command.
  Outcome train(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"train", "text",     "--text", rhyme_,     "--steps", "6",      "--batch",
                                   "4",     "--length", "12",     "--hidden", "16",      "--json", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }

  TemporaryFolder own_;
  std::filesystem::path folder_ = own_.path();
  std::string rhyme_ = own_ / "rhyme.txt", out_ = own_ / "run";
};

TEST_F(TextCli, TrainGivesOneObjectAndLeavesARunBehind) {
  for (const char* tokens : {"characters", "words"}) {
    const Outcome outcome = train({"--tokens", tokens, "--seed", "3", "--out", out_, "--force"});
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_EQ(outcome.messages, "");
    const auto result = Json::parse(outcome.results);
    for (const char* key : {"seconds", "parameters", "value", "chance", "trivial", "weights_hash"})
      EXPECT_TRUE(result.contains(key)) << key;
    EXPECT_EQ(result["task"], "text");
    EXPECT_EQ(result["model"], "lstm");
    EXPECT_EQ(result["seed"], 3);
    EXPECT_EQ(result["steps"], 6);
    EXPECT_TRUE(result["ceiling"].is_null());
    EXPECT_EQ(result["metric"], std::string_view(tokens) == "words" ? "perplexity" : "bpc");
    EXPECT_EQ(Json::parse(file_bytes(folder_ / "run" / "result.json")), result);
    std::ifstream metrics(folder_ / "run" / "metrics.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(metrics, line));
    EXPECT_TRUE(Json::parse(line).contains("validation_" + result["metric"].get<std::string>())) << line;
    for (const char* file : {"weights.safetensors", "checkpoint.safetensors", "curves.svg"})
      EXPECT_TRUE(std::filesystem::exists(folder_ / "run" / file)) << file;
  }
}

/// The loss is that of the tokens that the rows are named by; the gradients agree with differences.
TEST_F(TextCli, StudyShowsASegmentOfTheTestText) {
  for (const char* model : {"lstm", "rmc", "attention", "relational-rnn"})
    for (const char* tokens : {"characters", "words"}) {
      ASSERT_EQ(train({"--model", model, "--tokens", tokens, "--out", out_, "--force"}).status, 0);
      const Outcome outcome = run_command({"study", out_, "--example", "1", "--check-elements", "1", "--json"});
      ASSERT_EQ(outcome.status, 0) << outcome.messages;
      const Json trace = Json::parse(outcome.results)["trace"];
      EXPECT_EQ(trace["title"],
                text("text, ", model, model == std::string("relational-rnn") ? ":cell" : "", ", test sample 1"));
      const auto x = std::ranges::find_if(trace["nodes"], [](const Json& node) { return node["name"] == "x"; });
      ASSERT_NE(x, trace["nodes"].end());
      const auto row_names = (*x)["row_names"].get<std::vector<std::string>>();
      EXPECT_EQ(row_names.size(), 12U);
      const char* one = std::string_view(tokens) == "words" ? "boat," : "' '";
      EXPECT_NE(std::ranges::find(row_names, one), row_names.end());
      const auto notes = trace["notes"].get<std::vector<std::string>>();
      std::istringstream probabilities(notes.at(2).substr(notes.at(2).find(": ") + 2));
      double loss = 0;
      int count = 0;
      for (double p = 0; probabilities >> p; ++count) loss -= std::log(p);
      EXPECT_EQ(count, 12) << notes.at(2);
      EXPECT_NEAR(loss / count, std::stod(notes.at(4).substr(6)), 0.05) << notes.at(4);
    }
  for (const char* flag : {"--worst", "--gradient-flow"})
    EXPECT_EQ(run_command({"study", out_, flag}).status, 0) << flag;
}

TEST_F(TextCli, StudyRefusesASegmentThatIsNotThere) {
  const auto expect = [](const Outcome& outcome, const char* part) {
    EXPECT_EQ(outcome.status, 1) << part;
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << outcome.messages;
  };
  ASSERT_EQ(train({"--out", out_}).status, 0);
  expect(run_command({"study", out_, "--example", "99"}), "test sample 99 of ");
  std::ofstream(rhyme_, std::ios::app) << "merrily merrily";
  expect(run_command({"study", out_}), "has changed since the training; restore it, or train on it again");
}

TEST_F(TextCli, AFinishedRunIsResumedToTheSameBytesAndKeepsItsMetrics) {
  const auto bytes = [&](const std::string& file) { return file_bytes(folder_ / ("run/" + file)); };
  ASSERT_EQ(train({"--model", "gru", "--out", out_, "--validate-every", "2"}).status, 0);
  const std::string weights = bytes("weights.safetensors"), metrics = bytes("metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 3);
  const Outcome again = train({"--model", "gru", "--out", out_, "--validate-every", "2", "--resume"});
  ASSERT_EQ(again.status, 0) << again.messages;
  EXPECT_EQ(bytes("weights.safetensors"), weights);
  EXPECT_EQ(bytes("metrics.jsonl"), metrics);
}

TEST_F(TextCli, TextsOfTheirOwnForValidationAndTest) {
  const std::string validation = own_ / "validation.txt", test = own_ / "test.txt";
  std::ofstream(validation) << "row your boat, row\n";
  std::ofstream(test) << "gently, gently down\n";
  const std::vector<std::string> texts{"--validation-text", validation, "--test-text", test, "--out", out_};
  const Outcome outcome = train(texts);
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto result = Json::parse(outcome.results);
  EXPECT_EQ(result["validation_text"], validation);
  EXPECT_EQ(result["test_text"], test);
  EXPECT_FALSE(Json::parse(train({}).results).contains("test_text"));
  std::ofstream(test) << "gently, gently dwon\n";
  EXPECT_EQ(train(with(texts, "--resume")).status, 2) << "of another test";
  std::ofstream(test) << "gently\nZ\n";
  const Outcome unknown = train({"--test-text", test});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.messages.find("test.txt has the character 'Z' (U+005A) in line 2"), std::string::npos)
      << unknown.messages;
  EXPECT_EQ(run_command({"train", "babi", "--test-text", test}).status, 2);
}

TEST_F(TextCli, GenerateContinuesAPromptWithTheModelOfARun) {
  ASSERT_EQ(train({"--out", out_}).status, 0);
  const Outcome outcome = run_command({"generate", out_, "--length", "30", "--seed", "2", "--prompt", "row "});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  EXPECT_TRUE(outcome.results.starts_with("row ")) << outcome.results;
  EXPECT_EQ(outcome.results.size(), 4U + 30 + 1);
  EXPECT_EQ(run_command({"generate", out_, "--length", "30", "--seed", "2", "--prompt", "row "}).results,
            outcome.results);
  const auto object = Json::parse(
      run_command({"generate", out_, "--length", "30", "--seed", "2", "--prompt", "row ", "--json"}).results);
  EXPECT_EQ("row " + object["text"].get<std::string>() + "\n", outcome.results);
  ASSERT_EQ(train({"--out", out_, "--tokens", "words", "--dtype", "f64", "--force"}).status, 0);
  EXPECT_TRUE(run_command({"generate", out_, "--length", "5", "--prompt", "row"}).results.starts_with("row"))
      << "in f64, too";
}

TEST_F(TextCli, EvalReportsOnTheTextAndChangesNoWeights) {
  ASSERT_EQ(train({"--out", out_}).status, 0);
  const auto bytes = [&] { return file_bytes(folder_ / "run/weights.safetensors"); };
  const std::string before = bytes();
  const Outcome words = run_command({"eval", out_});
  ASSERT_EQ(words.status, 0) << words.messages;
  EXPECT_TRUE(words.results.starts_with("lstm on text (length 12, text " + rhyme_ + "), ")) << words.results;
  const auto report = Json::parse(run_command({"eval", out_, "--json", "--failures", "1"}).results);
  EXPECT_EQ(report["passages"].size(), 1U);
  EXPECT_TRUE(report["as_in_training"].get<bool>());
  EXPECT_TRUE(report["keep_learning"].is_null());
  const std::string folder = own_ / "report";
  const Outcome learned = run_command(
      {"eval", out_, "--keep-learning", "--learning-rate", "1e-2", "--json", "--test-text", rhyme_, "--out", folder});
  ASSERT_EQ(learned.status, 0) << learned.messages;
  const auto of_rhyme = Json::parse(learned.results);
  EXPECT_LT(of_rhyme["keep_learning"]["value"], of_rhyme["value"]);
  EXPECT_EQ(Json::parse(file_bytes(own_.path() / "report" / "eval.json")), of_rhyme);
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(run_command({"eval", out_, "--samples", "3"}).status, 2);
  EXPECT_EQ(run_command({"eval", out_, "--facts", "3"}).status, 2);
  EXPECT_EQ(run_command({"eval", out_, "--learning-rate", "0.1"}).status, 2);
  std::filesystem::remove(rhyme_);
  EXPECT_EQ(run_command({"eval", out_}).status, 1);
}

TEST_F(TextCli, PredictGivesTheTokenAfterEach) {
  ASSERT_EQ(train({"--out", out_}).status, 0);
  std::ofstream(folder_ / "more.txt") << "row row row your";
  const Outcome outcome = run_command({"predict", out_, "--input", own_ / "more.txt"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_TRUE(outcome.results.starts_with("sample,label,probability\nr,")) << outcome.results;
  EXPECT_EQ(std::count(outcome.results.begin(), outcome.results.end(), '\n'), 17);
}

TEST_F(TextCli, EvalReadsSegmentsOfAnotherLength) {
  ASSERT_EQ(train({"--out", out_}).status, 0);
  EXPECT_EQ(run_command({"eval", out_, "--length", "30"}).status, 0);
  EXPECT_NE(run_command({"eval", out_, "--length", "30", "--json"}).results.find("\"as_in_training\":false"),
            std::string::npos);
}

TEST_F(TextCli, ARelationalRnnMayHaveAnotherMemory) {
  const Outcome outcome = train({"--model", "relational-rnn", "--memory", "gated", "--slots", "3", "--out", out_});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(Json::parse(outcome.results)["memory"], "gated");
  EXPECT_EQ(run_command({"eval", out_}).status, 0);
}

TEST_F(TextCli, ACheckpointIsReadWhereThereAreNoWeightsYet) {
  for (const char* model : {"lstm", "rmc"}) {  // with a state that is carried over, and with sizes of its own
    const std::vector<std::string> command{"--model", model, "--dtype", "f64", "--validate-every", "3", "--out", out_};
    ASSERT_EQ(train(with(command, "--force")).status, 0);
    auto whole = Json::parse(run_command({"eval", out_, "--json"}).results);
    const Outcome written = run_command({"generate", out_, "--length", "20"});
    std::filesystem::remove(folder_ / "run" / "weights.safetensors");
    auto stopped = Json::parse(run_command({"eval", out_, "--json"}).results);
    EXPECT_EQ(whole["step"], 0);
    EXPECT_EQ(stopped["step"], 6);
    EXPECT_NE(run_command({"eval", out_}).results.find("(a checkpoint after step 6)"), std::string::npos);
    EXPECT_EQ(run_command({"generate", out_, "--length", "20"}).results, written.results);
    for (auto* report : {&whole, &stopped}) report->erase("step"), report->erase("path");
    EXPECT_EQ(stopped, whole) << "the last parameters were the best";
    const std::string renamed = rhyme_ + model;
    std::filesystem::rename(rhyme_, renamed);
    rhyme_ = renamed;
    const Outcome resumed = train(with(command, "--resume"));
    EXPECT_EQ(resumed.status, 0) << "the same text under another name: " << resumed.messages;
  }
}

TEST_F(TextCli, CompareStoresItsRunsAndGoesOnWithThem) {
  const std::string folder = own_ / "compared";
  const std::vector<std::string> command{"compare",  "text",    "--text", rhyme_,    "--models", "lstm,rmc", "--seeds",
                                         "2",        "--steps", "4",      "--batch", "4",        "--hidden", "16",
                                         "--length", "12",      "--out",  folder,    "--json",   "--quiet"};
  const Outcome first = run_command(command);
  ASSERT_EQ(first.status, 0) << first.messages;
  for (const char* run : {"lstm-seed-0", "lstm-seed-1", "rmc-seed-0", "rmc-seed-1"})
    EXPECT_TRUE(std::filesystem::exists(own_.path() / "compared" / "runs" / run / "weights.safetensors")) << run;
  std::vector<std::string> resumed = command;
  resumed.emplace_back("--resume");
  const Outcome again = run_command(resumed);
  ASSERT_EQ(again.status, 0) << again.messages;
  EXPECT_EQ(Json::parse(again.results)["models"][1]["values"], Json::parse(first.results)["models"][1]["values"]);
  const Outcome report = run_command({"eval", own_ / "compared/runs/rmc-seed-1", "--json"});
  ASSERT_EQ(report.status, 0) << report.messages;
  EXPECT_NEAR(Json::parse(report.results)["value"].get<double>(),
              Json::parse(first.results)["models"][1]["values"][1].get<double>(), 1e-5);
  EXPECT_EQ(run_command({"compare", "text", "--models", "lstm"}).status, 2) << "without a text";
}

TEST_F(TextCli, AblateChangesTheMemoryOfAnRmc) {
  const Outcome outcome =
      run_command({"ablate", "text", "--text", rhyme_, "--factors", "slots,gate,heads,residual", "--seeds", "1",
                   "--steps", "2", "--batch", "4", "--hidden", "16", "--length", "6", "--json", "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto variations = Json::parse(outcome.results)["variations"];
  std::vector<std::string> settings;
  for (const auto& variation : variations) settings.push_back(variation["setting"].get<std::string>());
  const std::vector<std::string> expected{"2", "memory", "none", "1", "2", "8", "off"};
  EXPECT_EQ(std::vector(settings.begin() + 1, settings.end()), expected);
  EXPECT_GT(variations[1]["parameters"], variations[0]["parameters"]) << "more slots, a larger answer";
  EXPECT_LT(variations[3]["parameters"], variations[0]["parameters"]) << "no gates";
}

TEST_F(TextCli, AnRmcKeepsItsMemoryInItsFile) {
  const std::vector<std::string> memory{"--model", "rmc",           "--slots",   "2",   "--heads",  "2", "--gate",
                                        "none",    "--no-residual", "--dropout", "0.1", "--layers", "2", "--out",
                                        out_};
  const Outcome outcome = train(memory);
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto result = Json::parse(outcome.results);
  EXPECT_EQ(result["slots"], 2);
  EXPECT_EQ(result["heads"], 2);
  EXPECT_EQ(train({"--model", "lstm"}).status, 0);
  const Outcome report = run_command({"eval", out_, "--json"});
  ASSERT_EQ(report.status, 0) << report.messages;
  EXPECT_NEAR(Json::parse(report.results)["value"].get<double>(), result["value"].get<double>(), 1e-5);
  EXPECT_EQ(run_command({"generate", out_, "--length", "5"}).status, 0);
  std::vector<std::string> other = memory;
  other[7] = "memory", other.emplace_back("--resume");
  EXPECT_EQ(train(other).status, 2) << "it is of another gate";
  EXPECT_EQ(train({"--model", "gru", "--slots", "2"}).status, 2);
  EXPECT_EQ(train({"--model", "rmc", "--heads", "3", "--slot-size", "16"}).status, 2);
}

TEST_F(TextCli, AWrongLineIsAnsweredByOneClearLine) {
  std::ofstream(folder_ / "latin.txt") << "caf\xe9";
  std::ofstream(folder_ / "short.txt") << "a short text";
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  const auto expect = [](const Outcome& outcome, int status, const std::string& part) {
    EXPECT_EQ(outcome.status, status) << part;
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << outcome.messages;
    EXPECT_EQ(std::count(outcome.messages.begin(), outcome.messages.end(), '\n'), 1) << outcome.messages;
    EXPECT_EQ(outcome.results, "");
  };
  expect(run_command({"train", "text"}), 2, "there is no text to learn from; give --text FILE");
  expect(run_command({"train", "text", "--text", path("none.txt")}), 1, "none.txt cannot be read: No such file");
  expect(run_command({"train", "text", "--text", folder_.string()}), 1, "cannot be read: it is a folder");
  expect(run_command({"train", "text", "--text", path("latin.txt")}), 1, "latin.txt is not UTF-8: byte 3");
  expect(run_command({"train", "text", "--text", path("short.txt")}), 2, "12 characters, of which 12 are to train on");
  expect(run_command({"train", "text", "--text", path("short.txt"), "--out", out_}), 2, "are too few");
  EXPECT_FALSE(std::filesystem::exists(out_)) << "what is in a folder is left alone";
  expect(train({"--model", "lsmt"}), 2, "there is no model named 'lsmt'; did you mean lstm");
  expect(train({"--tokens", "letters"}), 2, "--tokens");
  expect(train({"--held-only"}), 2, "the task 'text' has no option 'held-only'");
  expect(run_command({"train", "babi", "--text", rhyme_}), 2,
         "the task 'babi' has no option 'text' (it has: held-only, facts); leave it out");
  for (const char* model : {"attention", "transformer"})
    expect(run_command({"train", "text", "--text", rhyme_, "--model", model, "--hidden", "10"}), 2,
           "the 4 heads of attention do not divide a hidden size of 10; choose a multiple of 4");
  expect(run_command({"generate", path("none")}), 1, "none: No such file or directory");
  ASSERT_EQ(run_command({"train", "babi", "--steps", "1", "--quiet", "--out", out_}).status, 0);
  expect(run_command({"generate", out_}), 2, "was trained on the task 'babi', not on a text");
  expect(run_command({"eval", out_, "--test-text", rhyme_}), 2, "not on data of your own");
  expect(run_command({"eval", out_, "--keep-learning"}), 2, "--keep-learning is for models of text");
  ASSERT_EQ(train({"--out", out_, "--force"}).status, 0);
  expect(run_command({"generate", out_, "--prompt", "Z"}), 2, "the character 'Z' is not among the");
  expect(run_command({"generate", out_, "--prompt", "\xff"}), 2, "the prompt is not UTF-8: byte 0");
  expect(run_command({"generate", out_, "--temperature", "-1"}), 2, "--temperature");
  expect(run_command({"generate", out_, "--length", "-1"}), 2, "--length");
  expect(run_command({"generate"}), 2, "folder is required");
}

TEST_F(TextCli, TuneEndsWithTheCommandOfItsBestTraining) {
  const Outcome outcome = run_command({"tune",        "text",     "--text",   rhyme_, "--model",          "gru",
                                       "--layers",    "2",        "--steps",  "8",    "--batch",          "4",
                                       "--length",    "12",       "--hidden", "16",   "--learning-rates", "0.01,0.001",
                                       "--schedules", "constant", "--scales", "1",    "--rounds",         "2",
                                       "--json",      "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto search = Json::parse(outcome.results);
  EXPECT_EQ(search["metric"], "bpc");
  std::istringstream best(search["best"].get<std::string>());
  std::string program;
  best >> program;
  std::vector<std::string> words(std::istream_iterator<std::string>(best), {});
  words.insert(words.end(), {"--json", "--quiet"});
  const Outcome again = run_command(words);
  ASSERT_EQ(again.status, 0) << again.messages;
  EXPECT_EQ(Json::parse(again.results)["value"], search["candidates"][0]["trials"].back()["test"]) << search["best"];
}

}  // namespace
}  // namespace retrace
