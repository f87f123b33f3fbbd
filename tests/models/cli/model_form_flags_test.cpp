// The flags --layers, --dropout, --bidirectional, --positions and --causal.
#include <gtest/gtest.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

class FormFlags : public testing::Test {
 protected:
  static Outcome run(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  /// A short training on recall.
  Outcome train(const std::vector<std::string>& more) const {
    return run({"train", "recall", "--hidden", "8", "--steps", "4", "--batch", "4", "--validate-every", "2",
                "--test-samples", "50", "--quiet", "--json"},
               more);
  }
  static Json result_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results);
  }
  static void expect_refused(const Outcome& outcome, const std::string& message) {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.messages, message + "\n");
  }

  TemporaryFolder folder_;
  std::string out_ = folder_ / "run";
};

TEST_F(FormFlags, ATrainingIsStoredAndEvaluatedWithItsForm) {
  std::vector<std::vector<std::string>> forms{
      {"--model", "lstm", "--layers", "2", "--dropout", "0.2", "--bidirectional"},
      {"--model", "gru", "--layers", "3"},
      {"--model", "rnn", "--dropout", "0.5"},
      {"--model", "attention", "--layers", "1", "--positions", "rotary", "--dropout", "0.1"},
      {"--model", "attention", "--positions", "none", "--causal", "--feed-forward", "6"},
      {"--model", "transformer", "--layers", "2", "--positions", "alibi", "--dropout", "0.1", "--feed-forward", "6"},
      {"--model", "rmc", "--layers", "2", "--dropout", "0.1"},
      {"--model", "relational-rnn", "--dropout", "0.1"}};
  if (has_zoo()) {
    forms.push_back({"--model", "mlstm", "--layers", "1", "--feed-forward", "6", "--dropout", "0.1"});
    forms.push_back({"--model", "delta-net", "--feed-forward", "6"});
  }
  for (std::vector<std::string> words : forms) {
    words.insert(words.end(), {"--out", out_, "--force"});
    const Json result = result_of(train(words));
    const StoredRun stored = load_run(out_);
    EXPECT_EQ(weights_hash(*stored.model), result.at("weights_hash").get<std::string>()) << words[1];
    const Json report = result_of(run_command({"eval", out_, "--json"}));
    EXPECT_EQ(report.at("value"), result.at("value")) << words[1];
    EXPECT_EQ(report.at("loss"), result.at("test_loss")) << words[1];
  }
}

TEST_F(FormFlags, TheResultSaysTheForm) {
  const Json lstm = result_of(train({"--layers", "2", "--dropout", "0.25", "--bidirectional"}));
  EXPECT_EQ(lstm.at("layers"), 2);
  EXPECT_EQ(lstm.at("dropout"), 0.25);
  EXPECT_EQ(lstm.at("bidirectional"), true);
  EXPECT_EQ(result_of(train({"--model", "attention", "--positions", "alibi"})).at("positions"), "alibi");
  EXPECT_EQ(result_of(train({"--model", "transformer", "--causal"})).at("causal"), true);
  EXPECT_EQ(result_of(train({"--model", "transformer", "--feed-forward", "6"})).at("feed_forward"), 6);
  const Json plain = result_of(train({}));
  for (const char* member : {"layers", "dropout", "bidirectional", "positions", "causal", "feed_forward"})
    EXPECT_FALSE(plain.contains(member)) << member;
}

/// Dropout, and positions without weights, leave no trace in the shapes of the weights.
TEST_F(FormFlags, ACheckpointIsResumedWithTheSameFormAlone) {
  const std::vector<std::string> attention{"--model",   "attention", "--positions", "rotary",
                                           "--dropout", "0.2",       "--causal"};
  const Json whole = result_of(train(attention));
  std::vector<std::string> words = attention;
  words.insert(words.end(), {"--out", out_, "--checkpoint-seconds", "0"});
  result_of(train(words));
  words.emplace_back("--resume");
  EXPECT_EQ(result_of(train(words)).at("weights_hash"), whole.at("weights_hash"));
  for (const auto& [place, other] : {std::pair(3, "alibi"), {5, "0.3"}, {6, "--no-causal"}}) {
    std::vector<std::string> changed = words;
    changed[static_cast<std::size_t>(place)] = other;
    const Outcome outcome = train(changed);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.messages.find("is of another task or model"), std::string::npos) << outcome.messages;
  }
}

TEST_F(FormFlags, AFlagThatAModelDoesNotHaveIsAUsageError) {
  expect_refused(
      train({"--model", "rmc", "--bidirectional"}),
      "retrace train: the model 'rmc' has no option 'bidirectional', which is for lstm, gru, rnn; leave it out");
  expect_refused(
      run_command({"info", "gru", "--positions", "learned"}),
      "retrace info: the model 'gru' has no option 'positions', which is for attention, transformer; leave it out");
  expect_refused(
      run_command({"ablate", "recall", "--model", "relational-rnn", "--layers", "2"}),
      text("retrace ablate: the model 'relational-rnn' has no option 'layers', which is for lstm, gru, rnn, ",
           "rmc, attention, transformer", with_zoo(", delta-net, mlstm"), "; leave it out"));
  expect_refused(run_command({"compare", "recall", "--models", "lstm,gru", "--positions", "alibi"}),
                 "retrace compare: none of the models has the option 'positions', which is for attention, transformer; "
                 "leave it out");
  expect_refused(
      run_command({"train", "parity", "--bidirectional", "--steps", "1"}),
      "retrace train: a bidirectional model has read every row before it answers, but parity has an answer after "
      "each of the last 40 rows; leave bidirectional out, or choose a task with one answer");
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--layers", "0"}, {"--dropout", "1"}, {"--dropout", "-0.1"}, {"--positions", "rotery"}})
    EXPECT_EQ(train(wrong).status, 2) << wrong[0] << ' ' << wrong[1];
}

TEST_F(FormFlags, CompareGivesAFlagToTheModelsThatHaveIt) {
  const std::vector<std::string> words{"compare",        "recall", "--models",    "lstm,rmc,attention",
                                       "--hidden",       "8",      "--seeds",     "1",
                                       "--steps",        "2",      "--batch",     "4",
                                       "--test-samples", "50",     "--layers",    "2",
                                       "--dropout",      "0.1",    "--positions", "rotary",
                                       "--quiet"};
  const Json result = result_of(run(words, {"--json"}));
  const auto parameters = [](const std::string& name, const std::vector<std::string>& more) {
    return result_of(run({"info", name, "--task", "recall", "--json"}, more)).at("parameters");
  };
  EXPECT_EQ(result.at("models")[1].at("parameters"), parameters("rmc", {"--layers", "2"}));
  EXPECT_EQ(result.at("models")[1].at("layers"), 2);
  EXPECT_FALSE(result.at("models")[0].contains("positions"));
  EXPECT_EQ(result.at("models")[2].at("positions"), "rotary");
  const std::string table = on_one_line(run(words, {}).results);
  EXPECT_NE(table.find("lstm, layers 2, dropout 0.1."), std::string::npos) << table;
  EXPECT_NE(table.find("attention, layers 2, dropout 0.1, positions rotary."), std::string::npos) << table;
}

TEST_F(FormFlags, AblateKeepsTheFormInEveryVariation) {
  const Json result =
      result_of(run_command({"ablate", "recall", "--model", "rmc", "--factors", "residual", "--seeds", "1", "--steps",
                             "2", "--batch", "4", "--test-samples", "50", "--layers", "2", "--quiet", "--json"}));
  EXPECT_EQ(result.at("layers"), 2);
  EXPECT_EQ(result.at("variations")[0].at("parameters"), result.at("variations")[1].at("parameters"));
  EXPECT_EQ(result.at("variations")[0].at("parameters"),
            result_of(run_command({"info", "rmc", "--task", "recall", "--layers", "2", "--json"})).at("parameters"));
}

TEST_F(FormFlags, ATextIsLearntByLayersAndContinued) {
  const std::string text_file = folder_ / "rhyme.txt";
  std::ofstream rhyme(text_file);
  for (int line = 0; line < 60; ++line) rhyme << "row row row your boat, gently down the stream\n";
  rhyme.close();
  const std::vector<std::string> words{"train", "text",     "--text", text_file,  "--steps", "4",      "--batch",
                                       "4",     "--length", "12",     "--hidden", "16",      "--json", "--quiet"};
  for (const std::vector<std::string>& form :
       std::vector<std::vector<std::string>>{{"--model", "lstm", "--layers", "2", "--dropout", "0.1"},
                                             {"--model", "gru", "--dropout", "0.2"},
                                             {"--model", "rmc", "--layers", "2"},
                                             {"--model", "attention", "--positions", "rotary", "--dropout", "0.1"},
                                             {"--model", "transformer", "--layers", "1", "--causal"}}) {
    std::vector<std::string> more = form;
    more.insert(more.end(), {"--out", out_, "--force"});
    const Json result = result_of(run(words, more));
    EXPECT_EQ(result.contains("layers"), form[2] == "--layers") << form[1];
    EXPECT_EQ(weights_hash(*load_run(out_).model), result.at("weights_hash").get<std::string>());
    EXPECT_EQ(run_command({"generate", out_, "--length", "30"}).status, 0) << form[1];
  }
  expect_refused(
      run(words, {"--bidirectional"}),
      "retrace train: a bidirectional model would see the tokens that it has to predict; leave bidirectional "
      "out");
  expect_refused(
      run(words, {"--model", "attention", "--no-causal"}),
      "retrace train: attention that is not causal would see the tokens that it has to predict; leave --no-causal out");
}

}  // namespace
}  // namespace retrace
