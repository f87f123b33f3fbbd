#include <gtest/gtest.h>
#include <retrace/models/training/run.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

struct WrongLine {
  std::vector<std::string> arguments;
  int status;
  std::string message;
};

TEST(Cli, AWrongLineIsAnsweredByOneClearLine) {
  const char* zoo = " and those of the zoo (retrace info zoo)";
  const std::string tasks =
      text("object-tracking, pair-matching, babi, graph-reachability, copy, reverse, double, recall, dynamic-recall, ",
           "multi-query-recall, sorting, parity, adding, nth-farthest, execute, data, text", with_zoo(zoo));
  const WrongLine lines[] = {
      {{"trian"},
       2,
       "retrace: there is no command named 'trian'; did you mean train (known: study, train, "
       "eval, predict, export, generate, compare, ablate, tune, show, gradcheck, selfcheck, info, "
       "demo)\n"},
      {{"train", "pair-maching"},
       2,
       text("retrace train: there is no task named 'pair-maching'; did you mean pair-matching (known: ", tasks, ")\n")},
      {{"train", "txt"},
       2,
       text("retrace train: there is no task named 'txt'; did you mean text (known: ", tasks, ")\n")},
      {{"train", "babi", "--nesting", "2"},
       2,
       "retrace train: the task 'babi' has no option 'nesting' (it has: held-only, facts); leave it out\n"},
      {{"train", "execute", "--program", "ful"},
       2,
       "retrace train: there is no program named 'ful'; did you mean full (known: addition, control, loops, "
       "algebra-control, "
       "full, copy, reverse, double)\n"},
      {{"train", "babi", "--model", "lsmt"},
       2,
       text("retrace train: there is no model named 'lsmt'; did you mean lstm (known: lstm, gru, rnn, relational-rnn, "
            "rmc, ",
            "attention, transformer, relational-memory", with_zoo(zoo), ")\n")},
      {{"train", "babi", "--out", "/dev/null/run"},
       1,
       "retrace: /dev/null/run cannot be written: Not a directory; choose another --out\n"},
  };
  for (const WrongLine& line : lines) {
    const Outcome outcome = run_command(line.arguments);
    EXPECT_EQ(outcome.status, line.status);
    EXPECT_EQ(outcome.messages, line.message);
    EXPECT_EQ(outcome.results, "");
  }
}

TEST(Cli, ATrainingThatDivergesEndsWithAFailureAndItsResult) {
  const TemporaryFolder folder;
  const auto train = [&](const char* rate, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "parity", "--learning-rate", rate, "--steps", "30", "--batch", "4", "--hidden",
                               "8", "--test-samples", "20", "--quiet", "--json"});
    return run_command(more);
  };
  const Outcome diverged = train("1e8", {"--out", folder / "run"});
  EXPECT_EQ(diverged.status, 1);
  EXPECT_TRUE(diverged.messages.starts_with("retrace train: the training diverged: after step 30 the loss is "))
      << diverged.messages;
  EXPECT_NE(diverged.messages.find("lower the learning rate (--learning-rate, now 1e+08) or the clip (--clip, now 1)"),
            std::string::npos)
      << diverged.messages;
  EXPECT_EQ(Json::parse(diverged.results)["diverged"], true);
  EXPECT_EQ(Json::parse(file_bytes(folder / "run/result.json"))["diverged"], true);
  const Outcome resumed = train("1e8", {"--out", folder / "run", "--resume"});
  EXPECT_EQ(resumed.status, 1) << "it is finished, and has diverged";
  EXPECT_EQ(resumed.messages, diverged.messages);
  const Outcome sane = train("1e-2", {});
  EXPECT_EQ(sane.status, 0);
  EXPECT_EQ(sane.messages, "");
  EXPECT_EQ(Json::parse(sane.results)["diverged"], false);
}

TEST(Cli, ATuningWhoseCandidatesAllDivergeFails) {
  const Outcome outcome = run_command({"tune", "parity", "--learning-rates", "1e8", "--steps", "30", "--batch", "4",
                                       "--test-samples", "20", "--quiet", "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.messages, "retrace tune: every candidate diverged; lower the learning rates (--learning-rates)\n");
  EXPECT_TRUE(Json::accept(outcome.results)) << outcome.results;
}

TEST(Cli, GradcheckListsItsNames) {
  const Outcome lines = run_command({"gradcheck", "--list"}), json = run_command({"gradcheck", "--list", "--json"});
  EXPECT_TRUE(lines.results.starts_with("identity\nadd\nsub\n")) << lines.results.substr(0, 40);
  const auto names = Json::parse(json.results)["names"];
  EXPECT_EQ(std::ranges::count(lines.results, '\n'), std::ssize(names));
  const std::string wrong = run_command({"gradcheck", "sofmax"}).messages;
  EXPECT_EQ(wrong, text("gradcheck: there is no op or module named 'sofmax'; did you mean softmax (retrace gradcheck ",
                        "--list lists all ", names.size(), ")\n"));
}

TEST(Cli, AWrongFlagOrValueNamesTheFlag) {
  const auto expect_in_message = [](std::vector<std::string> arguments, const std::string& part) {
    const Outcome outcome = run_command(std::move(arguments));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << outcome.messages;
    EXPECT_EQ(std::count(outcome.messages.begin(), outcome.messages.end(), '\n'), 1);
  };
  expect_in_message({"train", "babi", "--sede", "1"}, "there is no flag named '--sede'; did you mean --seed");
  expect_in_message({"train", "babi", "--sede=1"}, "there is no flag named '--sede'; did you mean --seed");
  expect_in_message({"train", "babi", "--steps", "ten"}, "--steps");
  expect_in_message({"train", "babi", "--steps", "0"}, "--steps");
  expect_in_message({"train", "babi", "--dtype", "f16"}, "--dtype");
  expect_in_message({"train", "copy", "--length", "0"}, "--length");
  expect_in_message({"train"}, "task is required");
  expect_in_message({}, "see retrace --help");
}

/// The status is 1, not 2: the command line was right.
TEST(Cli, ATrainingThatDivergesHasFailed) {
  for (const char* command : {"train", "compare"}) {
    std::vector<std::string> words{command, "adding", "--length", "4", "--steps", "50", "--batch", "2", "--quiet"};
    for (const char* word : {"--optimizer", "sgd", "--learning-rate", "1e9", "--clip", "1e9", "--warm-up", "0"})
      words.emplace_back(word);
    if (std::string_view(command) == "train")
      words.insert(words.end(), {"--model", "rmc"});
    else
      words.insert(words.end(), {"--models", "rmc", "--seeds", "1"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 1) << outcome.messages;
    EXPECT_NE(outcome.messages.find("lower the learning rate or the clip"), std::string::npos) << outcome.messages;
  }
}

TEST(Cli, ATrainingThatDivergesNamesTheRecordAndLeavesACheckpointThatCanBeEvaluated) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const Outcome outcome = run_command({"train",    "adding",
                                       "--length", "4",
                                       "--model",  "rmc",
                                       "--steps",  "100",
                                       "--batch",  "2",
                                       "--quiet",  "--optimizer",
                                       "sgd",      "--learning-rate",
                                       "1e3",      "--clip",
                                       "1e9",      "--warm-up",
                                       "1",        "--validate-every",
                                       "1",        "--test-samples",
                                       "16",       "--out",
                                       run});
  EXPECT_EQ(outcome.status, 1);
  for (const char* part : {"retrace train: the validation loss after step 2 is inf: record ", ", mse, is the first",
                           "its output %", "is the last good checkpoint, of step 1"})
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << part << "\n" << outcome.messages;
  const Outcome evaluated = run_command({"eval", run});
  EXPECT_EQ(evaluated.status, 0) << evaluated.messages;
  EXPECT_NE(evaluated.results.find("a checkpoint after step 1"), std::string::npos) << evaluated.results;
}

TEST(Cli, TheHelpTellsTheExitCodes) {
  const std::string help = on_one_line(run_command({"--help"}).results);
  for (const char* words : {"0 when all went well", "1 when something failed", "2 for a wrong command line",
                            "129 after SIGHUP", "130 after Ctrl-C", "143 after SIGTERM"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(Cli, HelpIsAResult) {
  EXPECT_EQ(run_command({"--help"}).status, 0);
  const Outcome outcome = run_command({"train", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.results.find("--seed"), std::string::npos);
  EXPECT_EQ(outcome.messages, "");
}

TEST(Cli, TrainGivesOneObjectAndLeavesARunBehind) {
  const TemporaryFolder own;
  const std::filesystem::path folder = own / "run";
  const Outcome outcome = run_command({"train", "babi", "--model", "relational-rnn", "--steps", "3", "--seed", "4",
                                       "--json", "--quiet", "--out", folder.c_str()});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  const auto result = Json::parse(outcome.results);
  for (const char* key : {"task", "model", "seed", "steps", "seconds", "parameters", "metric", "value", "chance",
                          "trivial", "ceiling", "weights_hash"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_EQ(result["task"], "babi");
  EXPECT_EQ(result["steps"], 3);
  EXPECT_EQ(result["seed"], 4);
  EXPECT_EQ(result["metric"], "accuracy");
  EXPECT_EQ(result["weights_hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(Json::parse(file_bytes(folder / "result.json")), result);
  EXPECT_TRUE(std::filesystem::exists(folder / "weights.safetensors"));
  std::ifstream metrics(folder / "metrics.jsonl");
  std::string line;
  int lines = 0;
  for (; std::getline(metrics, line); ++lines) EXPECT_TRUE(Json::parse(line).contains("loss"));
  EXPECT_GE(lines, 1);
}

/// Their weights have the same shapes.
TEST(Cli, ARunIsNotResumedOnAnotherTask) {
  const TemporaryFolder folder;
  const auto train = [&](const std::string& program, const std::string& test_samples) {
    return run_command({"train", "execute", "--program", program, "--length", "2", "--steps", "2", "--batch", "2",
                        "--test-samples", test_samples, "--quiet", "--resume", "--out", folder / "run"});
  };
  ASSERT_EQ(train("copy", "10").status, 0);
  EXPECT_EQ(train("copy", "20").status, 0) << "a larger test is the same training";
  const Outcome other = train("reverse", "10");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.messages.find("is of another task or model (stored: task_options.program copy; asked: "
                                "task_options.program reverse); resume"),
            std::string::npos)
      << other.messages;
}

/// At any position among the flags.
TEST(Cli, APresetIsATaskWithItsSettingsThatFlagsChange) {
  const auto trained = [](std::vector<std::string> words) {
    for (const char* word : {"--steps", "1", "--test-samples", "100", "--json", "--quiet"}) words.push_back(word);
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results);
  };
  const auto paper = trained({"train", "--batch", "4", "--preset", "nth-farthest-paper"});
  EXPECT_EQ(paper["task"], "nth-farthest");
  EXPECT_EQ(paper["model"], "rmc");
  EXPECT_EQ(paper["batch"], 4);
  EXPECT_EQ(paper["chance"], 1.0 / 8);
  EXPECT_EQ(trained({"train", "--preset", "nth-farthest-paper", "--vectors", "5", "--batch", "2"})["chance"], 0.2);
  const Outcome unknown = run_command({"train", "--preset", "nth-farthest-papre"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.messages,
            "retrace train: there is no preset named 'nth-farthest-papre'; did you mean nth-farthest-paper (known: "
            "nth-farthest-paper)\n");
}

TEST(Cli, ATasksOwnFlagsChangeItsSamples) {
  const auto trained = [](std::vector<std::string> arguments) {
    for (const char* flag : {"--steps", "1", "--test-samples", "100", "--json", "--quiet"}) arguments.push_back(flag);
    const Outcome outcome = run_command(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results);
  };
  EXPECT_EQ(trained({"train", "babi", "--held-only"})["ceiling"], 1);
  const auto farthest = trained({"train", "nth-farthest", "--vectors", "4", "--dims", "2"});
  EXPECT_EQ(farthest["chance"], 0.25);
  EXPECT_EQ(farthest["shortcuts"]["m where it is asked for, else any other"], 0.5);
  EXPECT_TRUE(farthest["original"].is_null());
  EXPECT_EQ(trained({"train", "execute", "--program", "control", "--length", "1", "--nesting", "1"})["task"],
            "execute");
  EXPECT_EQ(trained({"train", "copy", "--length", "3"})["chance"], 0.1);
}

TEST(Cli, MinutesAloneAreTheWholeBudget) {
  const Outcome outcome = run_command({"train", "parity", "--length", "3", "--batch", "2", "--minutes", "0.01",
                                       "--validate-every", "1", "--test-samples", "100", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(Json::parse(outcome.results).at("stopped_by"), "minutes");
  EXPECT_NE(outcome.messages.find("step 1  loss"), std::string::npos) << "without the number of steps to come";
}

TEST(Cli, ProgressGoesToTheMessagesUnlessQuiet) {
  const Outcome outcome = run_command({"train", "babi", "--steps", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.messages.find("step 2 of 2"), std::string::npos) << outcome.messages;
  EXPECT_NE(outcome.results.find("lstm on babi: test accuracy"), std::string::npos) << outcome.results;
}

TEST(Cli, TheSameSeedGivesTheSameWeightsOnAnyNumberOfThreads) {
  const auto hash = [](const char* seed, const char* threads) {
    const Outcome outcome = run_command({"train", "pair-matching", "--model", "lstm", "--steps", "5", "--seed", seed,
                                         "--threads", threads, "--json", "--quiet"});
    return Json::parse(outcome.results)["weights_hash"].get<std::string>();
  };
  const std::string one = hash("1", "1");
  EXPECT_EQ(one, hash("1", "2"));
  EXPECT_NE(one, hash("2", "1"));
}

}  // namespace
}  // namespace retrace
