// The folder of a run keeps its metrics, whatever ends the program or fills the disk.
#include <gtest/gtest.h>
#include <retrace/core/error.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/pair_matching.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/run_kinds.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// Limits the size of this process's files; the caller decides how the signal of that limit is handled.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class RunDirectories : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(run_); }

  static std::string line(std::int64_t step) {
    return to_json(Metrics{.step = step, .metric_name = metric_name(TaskKind::classification)}) + "\n";
  }
  static std::string lines(std::int64_t last) {
    std::string result;
    for (std::int64_t step = 1; step <= last; ++step) result += line(step);
    return result;
  }
  std::string read(const std::string& name) const { return file_bytes(run_ + "/" + name); }
  void put_metrics(const std::string& content) const { std::ofstream(run_ + "/metrics.jsonl") << content; }
  void put_checkpoint(std::int64_t step) const {
    save_checkpoint(run_ + "/checkpoint.safetensors", {}, {.step = step}, "a run");
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_)) names.insert(entry.path().filename());
    return names;
  }
  std::string refusal_of_resume() const {
    return message_of<FileError>([&] { RunDirectory(run_, true); });
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

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

TEST_F(RunDirectories, WithoutAResumeBothMetricsAndCheckpointGo) {
  put_metrics(lines(3));
  put_checkpoint(3);
  RunDirectory(run_, false);
  EXPECT_EQ(read("metrics.jsonl"), "");
  EXPECT_EQ(files(), (std::set<std::string>{"metrics.jsonl"}));
}

TEST_F(RunDirectories, TheTableIsWholeAfterAResume) {
  const auto metrics = [](std::int64_t step) {
    return Metrics{.step = step, .loss = 0.1 * double(step), .metric_name = metric_name(TaskKind::regression)};
  };
  std::string whole;
  {
    RunDirectory directory(run_, false);
    for (std::int64_t step = 1; step <= 4; ++step) {
      directory.metrics() << to_json(metrics(step)) << std::endl;
      directory.add_to_table(metrics(step));
    }
    whole = read("metrics.csv");
    EXPECT_TRUE(
        whole.starts_with("step,loss,gradient_norm,learning_rate,validation_loss,validation_mse,samples_per_second,"
                          "seconds,memory_bytes,lesson\n1,0.1,0,0,0,0,0,0,0,0\n2,0.2,"))
        << whole;
  }
  put_checkpoint(2);
  std::ofstream(run_ + "/metrics.csv", std::ios::app) << "5,0.";  // of a killed program
  {
    RunDirectory directory(run_, true);
    for (std::int64_t step = 3; step <= 4; ++step) directory.add_to_table(metrics(step));
    EXPECT_EQ(read("metrics.csv"), whole);
  }
  RunDirectory(run_, false);
  EXPECT_EQ(read("metrics.csv"), "") << "another training begins";
}

TEST_F(RunDirectories, TheTableHasAColumnForTheGradientOfEachLayer) {
  Metrics with{.step = 1, .metric_name = metric_name(TaskKind::regression)};
  with.last_step.gradient_norms = {{"lstm", 0.5}, {"out", std::numeric_limits<double>::infinity()}};
  put_metrics(line(1));  // without
  put_checkpoint(1);
  RunDirectory directory(run_, true);
  directory.add_to_table(with);
  const std::string table = read("metrics.csv");
  EXPECT_NE(table.find(",lesson,gradient_norm of lstm,gradient_norm of out\n"), std::string::npos) << table;
  EXPECT_NE(table.find(",0,,\n"), std::string::npos) << table;
  EXPECT_TRUE(table.ends_with(",0,0.5,inf\n")) << table;
}

/// A number that was not finite is null in the line.
TEST_F(RunDirectories, ALineWithNullIsOneOfMetrics) {
  put_metrics(to_json(Metrics{.step = 1,
                              .metric_name = metric_name(TaskKind::classification),
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
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
    return message.starts_with("retrace: " + run_ + "/metrics.jsonl: line 2: ") ? message : "no place: " + message;
  };
  EXPECT_NE(refusal("{\"step\":2,").find("is not JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("it is a list, not an object"), std::string::npos);
  const nlohmann::json whole = nlohmann::json::parse(line(2));
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json wrong = whole;
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
  PairMatching task({.length = 4});
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
  const auto model = make_model("gru", {.input = task.input_size(), .hidden = 4, .output = task.output_size()}, random);
  fit(*model, task, options);
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 2, 3, 3})) << "and at the end";
  EXPECT_EQ(steps_before, (std::vector<std::int64_t>{0, 2, 4, 6}));
}

/// Zeros would be trained in silence.
TEST_F(RunDirectories, WeightsThatWereNotDrawnAreThoseOfACheckpoint) {
  const std::unique_ptr<retrace::Run> run = make_run({.task = "babi", .model = {.name = "lstm"}, .draws = false});
  for (const NamedTensor& weight : run->weights()) {
    if (weight.name.find("weight") == std::string::npos) continue;
    EXPECT_EQ(max(abs(weight.tensor)).item(), 0) << weight.name;
  }
  RunDirectory directory(run_, true);
  std::ostringstream messages;
  EXPECT_NE(message_of<FileError>([&] { train_into(directory, *run, messages); }).find("was removed meanwhile"),
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

/// The kernel kills a program whose file grows too large: here between any two bytes of the metrics that are written
/// again.
TEST_F(RunDirectories, AKillWhileTheMetricsAreWrittenAgainLosesNone) {
  put_checkpoint(40);
  const std::string before = lines(50);
  const std::size_t kept = lines(40).size();
  for (std::size_t bytes = 0; bytes < kept; bytes += kept / 10) {
    put_metrics(before);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const rlimit no_dump{};
      setrlimit(RLIMIT_CORE, &no_dump);
      const FileSizeLimit limit(bytes);
      RunDirectory(run_, true);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << "after " << bytes << " bytes";
    EXPECT_EQ(read("metrics.jsonl"), before) << "after " << bytes << " bytes";
  }
  RunDirectory(run_, true);
  EXPECT_EQ(read("metrics.jsonl"), lines(40));
  EXPECT_EQ(files(), (std::set<std::string>{"checkpoint.safetensors", "metrics.jsonl"})) << "of the killed ones";
}

/// A command that reads the folder would take the earlier weights for the latest ones.
TEST_F(RunDirectories, ATrainingThatGoesOnHasNoEarlierEnd) {
  put_metrics(lines(4));
  put_checkpoint(4);
  std::ofstream(run_ + "/weights.safetensors") << "of step 4";
  std::ofstream(run_ + "/result.json") << "{}";
  RunDirectory directory(run_, true);
  EXPECT_TRUE(std::filesystem::exists(directory.weights())) << "before its first step";
  directory.remove_earlier_end();
  EXPECT_EQ(files(), (std::set<std::string>{"checkpoint.safetensors", "metrics.jsonl"}));
}

/// The program's own files would otherwise get the numbers of the closed streams.
TEST_F(RunDirectories, NothingThatIsMeantForAClosedStreamGetsIntoAFile) {
  const std::vector<const char*> words{
      "retrace",          "train", "parity",         "--length", "3",         "--hidden", "2",     "--steps",   "3",
      "--validate-every", "1",     "--test-samples", "8",        "--threads", "1",        "--out", run_.c_str()};
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    std::_Exit(run_cli(static_cast<int>(words.size()), words.data()));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1) << "its result could not be written";
  std::istringstream metrics(read("metrics.jsonl"));
  int count = 0;
  for (std::string each; std::getline(metrics, each); ++count) EXPECT_TRUE(nlohmann::json::accept(each)) << each;
  EXPECT_EQ(count, 3);
}

TEST_F(RunDirectories, AResultThatCannotBeWrittenLeavesTheOldOne) {
  std::signal(SIGXFSZ, SIG_IGN);
  RunDirectory directory(run_, false);
  directory.write("result.json", "the old result");
  {
    const FileSizeLimit limit(5);
    EXPECT_THROW(directory.write("result.json", "another result"), FileError);
  }
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(read("result.json"), "the old result");
  EXPECT_EQ(files(), (std::set<std::string>{"metrics.jsonl", "result.json"}));
}

TEST_F(RunDirectories, MetricsThatCannotBeWrittenStopTheTrainingAndAreThereAfterAResume) {
  const auto train = [&](const std::string& run) {
    return run_command({"train", "pair-matching", "--steps", "60", "--batch", "2", "--hidden", "2", "--validate-every",
                        "1", "--checkpoint-seconds", "0", "--test-samples", "8", "--quiet", "--resume", "--out", run});
  };
  const auto steps = [](const std::string& file) {
    std::vector<std::int64_t> result;
    std::ifstream metrics(file);
    for (std::string text; std::getline(metrics, text);) result.push_back(nlohmann::json::parse(text).at("step"));
    return result;
  };
  ASSERT_EQ(train(folder_ / "whole").status, 0);
  const std::uintmax_t checkpoint = std::filesystem::file_size(folder_ / "whole/checkpoint.safetensors");
  const std::uintmax_t metrics = std::filesystem::file_size(folder_ / "whole/metrics.jsonl");
  ASSERT_LT(checkpoint + 1000, metrics) << "the limit has to let checkpoints through";
  std::signal(SIGXFSZ, SIG_IGN);
  Outcome stopped;
  {
    const FileSizeLimit limit((checkpoint + 500 + metrics) / 2);
    stopped = train(run_);
  }
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(stopped.status, 1);
  EXPECT_EQ(
      stopped.messages,
      "retrace: " + run_ + "/metrics.jsonl cannot be written: File too large; make room or choose another --out\n");
  const std::int64_t reached = step_of_checkpoint(run_ + "/checkpoint.safetensors");
  EXPECT_GT(reached, 1);
  EXPECT_LT(reached, 60) << "the training went on without a line";
  const Outcome resumed = train(run_);
  EXPECT_EQ(resumed.status, 0) << resumed.messages;
  EXPECT_EQ(steps(run_ + "/metrics.jsonl"), steps(folder_ / "whole/metrics.jsonl"));
  EXPECT_EQ(read("weights.safetensors").size(), std::filesystem::file_size(folder_ / "whole/weights.safetensors"));
}

}  // namespace
}  // namespace retrace
