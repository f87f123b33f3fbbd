// The folder of a run keeps its files, whatever ends the program or fills the disk.
#include <gtest/gtest.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/cli/run_directory_test.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
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

TEST_F(RunDirectories, WithoutAResumeBothMetricsAndCheckpointGo) {
  put_metrics(lines(3));
  put_checkpoint(3);
  RunDirectory(run_, false);
  EXPECT_EQ(read("metrics.jsonl"), "");
  EXPECT_EQ(files(), (std::set<std::string>{"metrics.jsonl"}));
}

TEST_F(RunDirectories, TheTableIsWholeAfterAResume) {
  const auto metrics = [](std::int64_t step) {
    return Metrics{.step = step, .loss = 0.1 * double(step), .metric_name = name_of(Metric::mse)};
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
  Metrics with{.step = 1, .metric_name = name_of(Metric::mse)};
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
  for (std::string each; std::getline(metrics, each); ++count) EXPECT_TRUE(Json::accept(each)) << each;
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
    for (std::string text; std::getline(metrics, text);)
      result.push_back(Json::parse(text).at("step").get<std::int64_t>());
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
