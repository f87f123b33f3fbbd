// A signal stops a training, or its test, in good order; a second one ends the program.
#include <gtest/gtest.h>
#include <retrace/models/cli/stop_signals.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace retrace {
namespace {

/// The program in a process of its own, with its messages to be read line by line.
class Process {
 public:
  explicit Process(std::vector<std::string> words) {
    words.insert(words.begin(), RETRACE_PROGRAM);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    const int error = posix_spawn(&child_, RETRACE_PROGRAM, &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    messages_ = fdopen(ends[0], "r");
    if (error != 0) throw std::system_error(error, std::generic_category(), RETRACE_PROGRAM);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { fclose(messages_); }

  /// Reads until a line has these words in it; all that was read, if none has.
  std::string read_until(const std::string& words) {
    std::string all, line;
    for (int letter = 0; (letter = fgetc(messages_)) != EOF;) {
      line += static_cast<char>(letter);
      if (letter != '\n') continue;
      all += line;
      if (line.find(words) != std::string::npos) break;
      line.clear();
    }
    return all;
  }
  void send(int signal) const { kill(child_, signal); }
  /// The exit status as a shell reports it.
  int exit_status() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t child_ = 0;
  FILE* messages_ = nullptr;
};

std::vector<std::string> endless_training(const std::string& folder) {
  return {
      "train", "pair-matching",        "--steps", "1000000",   "--batch", "2",     "--hidden", "8", "--validate-every",
      "1",     "--checkpoint-seconds", "1e9",     "--threads", "1",       "--out", folder};
}

TEST(Stop, ASignalEndsATrainingWithItsCheckpointAndWithoutATest) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    Process process(endless_training(folder / "run"));
    process.read_until("step 2 of");
    process.send(signal);
    const std::string messages = process.read_until("stopped by a signal");
    EXPECT_EQ(process.exit_status(), 128 + signal);
    EXPECT_NE(messages.find("without a test; the same command with --resume"), std::string::npos) << messages;
    EXPECT_EQ(messages.find("testing"), std::string::npos) << messages;
    EXPECT_GE(step_of_checkpoint(folder / "run/checkpoint.safetensors"), 2);
    EXPECT_TRUE(std::filesystem::exists(folder / "run/weights.safetensors")) << "the best so far";
    EXPECT_FALSE(std::filesystem::exists(folder / "run/result.json"));
  }
}

/// The test would take hours.
TEST(Stop, ASignalEndsTheTestAndTheTrainingCanBeGoneOnWith) {
  const TemporaryFolder folder;
  std::vector<std::string> words{"train",   "parity", "--length",  "2", "--steps", "2",
                                 "--batch", "2",      "--threads", "1", "--out",   folder / "run"};
  std::vector<std::string> with_test = words;
  with_test.insert(with_test.end(), {"--test-samples", "1000000000"});
  Process process(with_test);
  process.read_until("testing");
  process.send(SIGINT);
  const std::string messages = process.read_until("stopped by a signal");
  EXPECT_EQ(process.exit_status(), 130);
  EXPECT_NE(messages.find("stopped by a signal after step 2 of 2, without a test"), std::string::npos) << messages;
  EXPECT_FALSE(std::filesystem::exists(folder / "run/result.json"));
  words.insert(words.end(), {"--test-samples", "10", "--resume", "--quiet"});
  const Outcome resumed = run_command(words);
  EXPECT_EQ(resumed.status, 0) << resumed.messages;
  EXPECT_TRUE(std::filesystem::exists(folder / "run/result.json"));
}

TEST(Stop, ATextsTestEndsToo) {
  const TemporaryFolder folder;
  std::ofstream text_file(folder / "text.txt");
  for (int line = 0; line < 2'000'000; ++line) text_file << "row row row your boat\n";
  text_file.close();
  Process process({"train", "text", "--text", folder / "text.txt", "--steps", "1", "--batch", "2", "--length", "8",
                   "--hidden", "64", "--threads", "1"});
  process.read_until("testing");
  process.send(SIGTERM);
  process.read_until("stopped by a signal");
  EXPECT_EQ(process.exit_status(), 143);
}

/// The signals may be of any kind. But a terminal that ends sends SIGHUP more than once.
TEST(Stop, TheSecondSignalEndsTheProgram) {
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.flag());
    std::raise(first);
    EXPECT_TRUE(signals.flag());
    EXPECT_EQ(signals.exit_status(), 128 + first);
    for (const int second : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      sigaction(second, nullptr, &now);
      EXPECT_EQ(now.sa_handler, SIG_DFL);
    }
    std::raise(SIGHUP);
    EXPECT_EQ(signals.exit_status(), 128 + first);
  }
  struct sigaction after {};
  sigaction(SIGHUP, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(Stop, AHangupThatWasIgnoredStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    EXPECT_FALSE(signals.flag());
  }
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN) << "also afterwards";
}

}  // namespace
}  // namespace retrace
