// A training that goes on keeps the metrics up to its checkpoint, and says which are lost.
#include <gtest/gtest.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/training/run.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/cli/run_directory_test.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST_F(RunDirectories, AResumeKeepsTheLinesUpToTheCheckpoint) {
  put_metrics(lines(9) + "{\"step\":10,\"lo");
  put_checkpoint(7);
  RunDirectory directory(run_, true);
  EXPECT_EQ(read("metrics.jsonl"), lines(7));
  ASSERT_EQ(directory.earlier().size(), 7U);
  EXPECT_EQ(directory.earlier().back().step, 7);
  directory.metrics() << line(8) << std::flush;
  EXPECT_EQ(read("metrics.jsonl"), lines(8));
}

TEST_F(RunDirectories, AResumeOfAllLinesKeepsThem) {
  put_metrics(lines(3));
  put_checkpoint(3);
  RunDirectory(run_, true);
  EXPECT_EQ(read("metrics.jsonl"), lines(3));
}

/// A number that was not finite is null in the line.
TEST_F(RunDirectories, ALineWithNullIsOneOfMetrics) {
  put_metrics(to_json(Metrics{.step = 1,
                              .metric_name = name_of(Metric::accuracy),
                              .validation = {.loss = std::numeric_limits<double>::infinity(), .metric = 0}}) +
              "\n" + line(2));
  put_checkpoint(2);
  EXPECT_EQ(RunDirectory(run_, true).earlier().size(), 2U);
}

TEST_F(RunDirectories, ALineThatIsNotOfMetricsIsNamedNotDropped) {
  const std::string good = lines(1), after = line(3);
  put_checkpoint(3);
  const auto refusal = [&](const std::string& bad) {
    put_metrics(good + bad + "\n" + after);
    const std::string message = refusal_of_resume();
    EXPECT_EQ(read("metrics.jsonl"), good + bad + "\n" + after);
    EXPECT_EQ(message.find("read_json"), std::string::npos) << message;
    return message.starts_with("retrace: " + run_ + "/metrics.jsonl: line 2: ") ? message : "no place: " + message;
  };
  EXPECT_NE(refusal("{\"step\":2,").find("is not JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("it is a list, not an object"), std::string::npos);
  const Json whole = Json::parse(line(2));
  for (const auto& [key, value] : whole.items()) {
    Json wrong = whole;
    wrong[key] = "text";
    EXPECT_NE(refusal(wrong.dump()).find(key + " has to be"), std::string::npos) << key;
    wrong.erase(key);
    EXPECT_NE(refusal(wrong.dump()).find("is missing"), std::string::npos) << key;
  }
}

/// A system that fails loses what it did not have on the disk, or leaves zeros in its place.
TEST_F(RunDirectories, AResumeSaysWhatIsLostOfTheMetricsAndCutsATornEnd) {
  put_checkpoint(5);
  const std::string missing =
      ", and the checkpoint is of those up to step 5: the lines between are lost, also for "
      "metrics.csv and curves.svg; the training itself goes on unchanged";
  const auto said = [&](const std::string& content) {
    put_metrics(content);
    const RunDirectory directory(run_, true);
    return directory.lost_metrics();
  };
  const std::string begin = "retrace: " + run_ + "/metrics.jsonl has the validations up to step ";
  EXPECT_EQ(said(lines(3)), begin + "3" + missing);
  EXPECT_EQ(said(""), begin + "0" + missing);
  const std::string torn = " (a torn line after them was cut off)", half = line(4).substr(0, 20);
  for (const std::string& end :
       {half, half + "\n", half + "\n\n", std::string(100, '\0'), half + std::string(9, '\0')}) {
    EXPECT_EQ(said(lines(3) + end), begin + "3" + torn + missing) << end;
    EXPECT_EQ(read("metrics.jsonl"), lines(3)) << end;
    EXPECT_EQ(said(lines(5) + end), "") << "after the checkpoint: " << end;
    EXPECT_EQ(read("metrics.jsonl"), lines(5)) << end;
  }
  std::string without_end = lines(5);
  without_end.pop_back();
  EXPECT_EQ(said(without_end), "");
  EXPECT_EQ(read("metrics.jsonl"), lines(5));
  std::filesystem::remove(run_ + "/metrics.jsonl");
  EXPECT_EQ(RunDirectory(run_, true).lost_metrics(), begin + "0" + missing);
}

/// What a checkpoint counts on is on the disk before it.
TEST_F(RunDirectories, MetricsAreKeptBeforeTheCheckpointThatCountsOnThem) {
  const auto task = make_task("pair-matching", {.length = 4});
  std::ostringstream metrics;
  FitOptions options{.steps = 6, .batch = 2, .validate_every = 2, .validation_samples = 8, .test_samples = 8};
  options.metrics = &metrics;
  options.checkpoint = run_ + "/checkpoint.safetensors";
  options.checkpoint_seconds = 0;
  std::vector<std::int64_t> lines, steps_before;
  options.before_checkpoint = [&] {
    const std::string now = metrics.str();
    lines.push_back(std::count(now.begin(), now.end(), '\n'));
    steps_before.push_back(std::filesystem::exists(options.checkpoint) ? step_of_checkpoint(options.checkpoint) : 0);
  };
  Random random(1);
  const auto model =
      make_model("gru", {.input = task->input_size(), .hidden = 4, .output = task->output_size()}, random);
  fit(*model, *task, options);
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 2, 3, 3})) << "and at the end";
  EXPECT_EQ(steps_before, (std::vector<std::int64_t>{0, 2, 4, 6}));
}

/// Zeros would be trained in silence.
TEST_F(RunDirectories, WeightsThatWereNotDrawnAreThoseOfACheckpoint) {
  auto run = prepare({.task = "babi", .model = {.name = "lstm"}, .draws = false});
  for (const NamedTensor& weight : parameters(*run.model)) {
    if (weight.name.find("weight") == std::string::npos) continue;
    EXPECT_EQ(max(abs(weight.tensor)).item(), 0) << weight.name;
  }
  RunDirectory directory(run_, true);
  std::ostringstream messages;
  EXPECT_NE(message_of<FileError>([&] { train_into(directory, run, messages); }).find("was removed meanwhile"),
            std::string::npos);
}

/// The last steps before a checkpoint may be without a validation.
TEST_F(RunDirectories, NothingIsLostOfACheckpointBetweenValidations) {
  put_metrics(lines(3));
  save_checkpoint(run_ + "/checkpoint.safetensors", {}, {.step = 5, .window_steps = 2}, "a run");
  EXPECT_EQ(RunDirectory(run_, true).lost_metrics(), "");
}

TEST_F(RunDirectories, AResumeTellsItsUserWhatIsLost) {
  const auto train = [&](const std::string& steps) {
    return run_command(
        {"train",      "parity",   "--length",  "2",  "--batch",        "2", "--validate-every", "1",
         "--schedule", "constant", "--warm-up", "0",  "--test-samples", "8", "--quiet",          "--resume",
         "--out",      run_,       "--steps",   steps});
  };
  ASSERT_EQ(train("3").status, 0);
  const std::string whole = read("metrics.jsonl");
  put_metrics(whole.substr(0, whole.find('\n') + 9));
  const Outcome resumed = train("3");
  EXPECT_EQ(resumed.status, 0);
  EXPECT_TRUE(resumed.messages.starts_with("retrace: " + run_ + "/metrics.jsonl has the validations up to step 1 (a "))
      << resumed.messages;
  EXPECT_EQ(read("metrics.jsonl"), whole.substr(0, whole.find('\n') + 1));
}

TEST_F(RunDirectories, APipeOrAFolderInPlaceOfAFileIsRefused) {
  put_checkpoint(1);
  ASSERT_EQ(::mkfifo((run_ + "/metrics.jsonl").c_str(), 0600), 0);
  for (const bool resume : {true, false})
    EXPECT_NE(message_of<FileError>([&] { RunDirectory(run_, resume); }).find("metrics.jsonl is "), std::string::npos);
  std::filesystem::remove(run_ + "/metrics.jsonl");
  std::filesystem::create_directory(run_ + "/metrics.jsonl");
  EXPECT_NE(message_of<FileError>([&] { RunDirectory(run_, false); }).find("is a folder, not a file"),
            std::string::npos);
}

/// By another command, whose files would be mixed with these.
TEST_F(RunDirectories, AFolderThatIsReplacedMeanwhileIsNotWrittenInto) {
  RunDirectory directory(run_, false);
  std::filesystem::rename(run_, folder_ / "moved");
  std::filesystem::create_directory(run_);
  EXPECT_THROW(directory.write("result.json", "{}"), FileError);
  EXPECT_THROW(directory.keep_metrics(), FileError);
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace retrace
