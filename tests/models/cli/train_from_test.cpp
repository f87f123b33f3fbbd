// `train --from RUN`: a training that begins with the model and the weights of a stored run.
#include <gtest/gtest.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

class TrainFrom : public testing::Test {
 protected:
  static Outcome train(std::vector<std::string> words) {
    words.insert(words.begin(), "train");
    words.insert(words.end(), {"--batch", "4", "--test-samples", "50", "--quiet", "--json"});
    return run_command(words);
  }
  static Json result_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return outcome.status == 0 ? Json::parse(outcome.results) : Json(Json::Object());
  }
  /// The result of a training whose steps change no weight, so that it ends with those with which it began.
  static Json unchanged(std::vector<std::string> words) {
    words.insert(words.end(), {"--steps", "2", "--optimizer", "sgd", "--learning-rate", "1e-300"});
    return result_of(train(words));
  }
  static void expect_refused(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << outcome.messages;
  }
  std::string write(const char* name, const char* line) const {
    std::ofstream file(folder_ / name);
    for (int k = 0; k < 60; ++k) file << line << '\n';
    return folder_ / name;
  }

  TemporaryFolder folder_;
  std::string first_ = folder_ / "first", second_ = folder_ / "second";
};

TEST_F(TrainFrom, BeginsWithTheModelAndTheWeights) {
  const std::vector<std::vector<std::string>> models{
      {"--model", "gru", "--hidden", "9", "--layers", "2"},
      {"--model", "rmc", "--slots", "3", "--slot-size", "8", "--heads", "4", "--gate", "memory", "--no-residual"},
      {"--model", "relational-rnn", "--memory", "notebook"},
      {"--model", "attention", "--positions", "alibi", "--causal", "--hidden", "8"}};
  for (const std::vector<std::string>& model : models) {
    std::vector<std::string> words{"recall", "--steps", "3", "--out", first_, "--force"};
    words.insert(words.end(), model.begin(), model.end());
    const Json first = result_of(train(words));
    for (const char* path : {"", "/weights.safetensors", "/checkpoint.safetensors"}) {
      const Json second = unchanged({"recall", "--from", first_ + path, "--seed", "5"});
      EXPECT_EQ(second.at("weights_hash"), first.at("weights_hash")) << model[1] << path;
      EXPECT_EQ(second.at("model"), model[1]);
    }
    EXPECT_NE(result_of(train({"recall", "--from", first_, "--steps", "2"})).at("weights_hash"),
              first.at("weights_hash"));
  }
}

TEST_F(TrainFrom, IsStoredAndEvaluatedAndResumedAsAnyRun) {
  result_of(train(
      {"recall", "--model", "attention", "--hidden", "8", "--positions", "rotary", "--steps", "3", "--out", first_}));
  const std::vector<std::string> words{"recall", "--from", first_, "--steps", "4", "--checkpoint-seconds",
                                       "0",      "--out",  second_};
  const Json second = result_of(train(words));
  EXPECT_EQ(second.at("positions"), "rotary");
  EXPECT_EQ(result_of(run_command({"eval", second_, "--json"})).at("value"), second.at("value"));
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  EXPECT_EQ(result_of(train(again)).at("weights_hash"), second.at("weights_hash"));
}

TEST_F(TrainFrom, IsNotResumedFromOtherWeights) {
  const std::vector<std::vector<std::string>> tasks{
      {"recall"}, {"text", "--text", write("text.txt", "to be or not to be, that is the question"), "--length", "8"}};
  for (const std::vector<std::string>& task : tasks) {
    const auto with = [&](std::vector<std::string> flags) {
      flags.insert(flags.begin(), task.begin(), task.end());
      return train(flags);
    };
    for (const char* seed : {"1", "2"})
      result_of(
          with({"--model", "gru", "--hidden", "9", "--steps", "2", "--seed", seed, "--out", first_ + seed, "--force"}));
    const auto second = [&](const char* seed, const char* flag) {
      return with({"--from", first_ + seed, "--steps", "2", "--checkpoint-seconds", "0", "--out", second_, flag});
    };
    const Json result = result_of(second("1", "--force"));
    EXPECT_EQ(result_of(second("1", "--resume")).at("weights_hash"), result.at("weights_hash"));
    expect_refused(second("2", "--resume"), "is of another training (stored: from weights ");
  }
}

TEST_F(TrainFrom, AnotherTaskOfTheSameSizesGoesOn) {
  const Json first = result_of(
      train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "lstm", "--steps", "2", "--out", first_}));
  EXPECT_EQ(unchanged({"nth-farthest", "--vectors", "3", "--dims", "2", "--from", first_, "--dtype", "f32"})
                .at("weights_hash"),
            first.at("weights_hash"));
  expect_refused(train({"nth-farthest", "--vectors", "4", "--from", first_}),
                 "retrace train: the model of " + first_ +
                     "/weights.safetensors, trained on nth-farthest, does not fit the sizes of this nth-farthest; ");
  expect_refused(train({"recall", "--from", first_}), "trained on nth-farthest, does not fit the sizes of this recall");
}

/// The recipe of parity makes attention causal, but not one that was trained to see all rows.
TEST_F(TrainFrom, TheRecipeChangesNoStoredModel) {
  result_of(train({"parity", "--length", "3", "--model", "attention", "--no-causal", "--steps", "1", "--out", first_}));
  EXPECT_EQ(unchanged({"parity", "--length", "3", "--from", first_}).at("causal"), false);
}

/// The options of the same task are those of the stored run where none are given.
TEST_F(TrainFrom, TheTaskKeepsItsOptions) {
  const Json first =
      result_of(train({"parity", "--length", "3", "--model", "attention", "--steps", "1", "--out", first_}));
  const Json second = unchanged({"parity", "--from", first_, "--out", second_});
  EXPECT_EQ(second.at("weights_hash"), first.at("weights_hash"));
  EXPECT_EQ(second.at("from"), first_);
  EXPECT_FALSE(first.contains("from"));
  EXPECT_EQ(load_run(second_).task_options.length, 3);
  expect_refused(train({"parity", "--from", first_, "--length", "4"}),
                 "trained on parity, does not fit the sizes of this parity; choose a task with the same sizes");
}

TEST_F(TrainFrom, DropoutIsThatOfTheRunUnlessItIsGiven) {
  result_of(train({"recall", "--dropout", "0.25", "--steps", "1", "--out", first_}));
  EXPECT_EQ(unchanged({"recall", "--from", first_}).at("dropout"), 0.25);
  EXPECT_EQ(unchanged({"recall", "--from", first_, "--dropout", "0.5"}).at("dropout"), 0.5);
  EXPECT_FALSE(unchanged({"recall", "--from", first_, "--dropout", "0"}).contains("dropout"));
}

/// A classifier of dogs would call them zebras.
TEST_F(TrainFrom, DataHasTheColumnsAndClassesThatWereLearned) {
  const auto table = [&](const char* name, const char* header, const char* even, const char* odd) {
    std::ofstream file(folder_ / name);
    file << header << '\n';
    for (int k = 0; k < 40; ++k) file << k << ',' << k % 7 << ',' << (k % 2 == 0 ? even : odd) << '\n';
    return folder_ / name;
  };
  const std::string animals = table("animals.csv", "a,b,kind", "cat", "dog");
  const Json first = result_of(train({"data", "--data", animals, "--label", "kind", "--steps", "2", "--out", first_}));
  EXPECT_EQ(unchanged({"data", "--from", first_}).at("weights_hash"), first.at("weights_hash"));
  expect_refused(train({"data", "--from", first_, "--data", table("b.csv", "a,b,kind", "cat", "zebra")}),
                 "was trained on the classes cat, dog, and the data has cat, zebra; give data with the same");
  expect_refused(train({"data", "--from", first_, "--data", table("c.csv", "b,a,kind", "cat", "dog")}),
                 "was trained on the columns a, b, and the data has b, a; give data with the same");
}

/// --force would remove the weights before there are others.
TEST_F(TrainFrom, TheFolderOfTheStoredRunIsNotWrittenTo) {
  result_of(train({"recall", "--steps", "1", "--out", first_}));
  for (const char* path : {"", "/weights.safetensors"})
    for (const char* flag : {"--force", "--resume"})
      expect_refused(train({"recall", "--from", first_ + path, "--out", folder_ / "./first", flag}),
                     "is in the folder of --out, whose files the training replaces; choose another folder for --out");
  EXPECT_EQ(run_command({"eval", first_, "--json"}).status, 0);
}

TEST_F(TrainFrom, TheModelCannotBeChosen) {
  result_of(train({"recall", "--steps", "1", "--out", first_}));
  for (const std::vector<std::string>& flag : std::vector<std::vector<std::string>>{
           {"--model", "lstm"}, {"--hidden", "8"}, {"--layers", "2"}, {"--causal"}, {"--slots", "2"}}) {
    std::vector<std::string> words{"recall", "--from", first_};
    words.insert(words.end(), flag.begin(), flag.end());
    expect_refused(train(words), flag[0] + " excludes --from");
  }
  expect_refused(train({"recall", "--from", ""}), "--from: it is empty");
  const Outcome missing = train({"recall", "--from", folder_ / "nothing"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.messages.find("nothing"), std::string::npos) << missing.messages;
}

TEST_F(TrainFrom, AModelOfTextKeepsItsVocabulary) {
  const std::string rhyme = write("rhyme.txt", "row row row your boat, gently down the stream"),
                    other = write("other.txt", "your gentle boat rows"), new_letter = write("new.txt", "your quay");
  const auto text = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{"text", "--text", file};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const char* tokens : {"characters", "words"})
    for (const char* model : {"gru", "rmc", "attention", "transformer"}) {
      const Json first = result_of(train(text(rhyme, {"--model", model, "--tokens", tokens, "--hidden", "16",
                                                      "--length", "12", "--steps", "3", "--out", first_, "--force"})));
      const Json second = unchanged(text(other, {"--from", first_, "--out", second_, "--force"}));
      EXPECT_EQ(second.at("weights_hash"), first.at("weights_hash")) << model << ' ' << tokens;
      EXPECT_EQ(second.at("vocabulary"), first.at("vocabulary"));
      EXPECT_EQ(second.at("length"), 12);
      EXPECT_NEAR(result_of(run_command({"eval", second_, "--json"})).at("value").get<double>(),
                  second.at("value").get<double>(), 1e-5);
    }
  expect_refused(train(text(other, {"--from", first_, "--tokens", "characters"})), "reads words; leave --tokens out");
  expect_refused(train(text(other, {"--from", first_, "--length", "9"})),
                 "body.positions is [12, 16], the module has [9, 16]");
  const Outcome nothing = train(text(other, {"--from", folder_.path()}));
  EXPECT_EQ(nothing.status, 1);
  EXPECT_NE(nothing.messages.find("has neither weights.safetensors nor checkpoint"), std::string::npos);
  result_of(train(text(rhyme, {"--steps", "1", "--length", "12", "--hidden", "16", "--out", first_, "--force"})));
  const Outcome unknown = train(text(new_letter, {"--from", first_}));
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.messages.find("q"), std::string::npos) << unknown.messages;
  EXPECT_EQ(train({"recall", "--from", first_}).status, 2) << "a model of text on a task";
}

}  // namespace
}  // namespace retrace
