// Two commands never write into one folder at the same time.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/cli/folder_lock.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// Another process that has locked the folder.
class Holder {
 public:
  explicit Holder(const std::string& folder) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      const FolderLock lock(folder);
      EXPECT_EQ(::write(ends[1], "x", 1), 1);
      for (;;) ::pause();
    }
    char locked = 0;
    EXPECT_EQ(::read(ends[0], &locked, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { end(); }
  pid_t process() const { return process_; }
  void end() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

class FolderLocks : public testing::Test {
 protected:
  std::string refusal(const std::string& holder) const {
    return text("retrace: ", run_, " is in use by ", holder,
                ", which writes into it; wait until it has ended, or choose another --out");
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run_))
      result[entry.path()] = entry.is_directory() ? "" : file_bytes(entry.path());
    return result;
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST_F(FolderLocks, AreHeldByOneCommandAndEndWithItsProcessHoweverItEnds) {
  std::filesystem::create_directory(run_);
  Holder other(run_);
  EXPECT_EQ(message_of<FileError>([&] { FolderLock lock(run_); }), refusal(text("process ", other.process())));
  other.end();
  {
    const FolderLock mine(run_);
    EXPECT_EQ(message_of<FileError>([&] { FolderLock lock(run_); }), refusal(text("process ", ::getpid())))
        << "another command of this process";
  }
  FolderLock first(run_);
  const FolderLock moved = std::move(first);
  EXPECT_THROW(FolderLock lock(run_), FileError);
  EXPECT_TRUE(std::filesystem::is_empty(run_)) << "a lock is no file";
}

TEST_F(FolderLocks, SayWhenTheFolderIsAnotherOne) {
  std::filesystem::create_directory(run_);
  const FolderLock lock(run_);
  lock.check_in_place();
  std::filesystem::remove(run_);
  EXPECT_THROW(lock.check_in_place(), FileError);
  std::filesystem::create_directory(run_);
  EXPECT_NE(message_of<FileError>([&] { lock.check_in_place(); }).find("was moved or removed"), std::string::npos);
}

/// Every command that takes --out for a folder.
TEST_F(FolderLocks, KeepEveryCommandOut) {
  std::ofstream(folder_ / "rhyme.txt") << std::string(100, 'a') << "row row row your boat, gently down the stream\n";
  const std::vector<std::string> budget{"--steps", "1", "--batch", "2", "--test-samples", "8", "--quiet"};
  const auto with_budget = [&](std::vector<std::string> words) {
    words.insert(words.end(), budget.begin(), budget.end());
    return words;
  };
  const std::string trained = folder_ / "trained";
  ASSERT_EQ(run_command(with_budget({"train", "parity", "--length", "2", "--out", trained})).status, 0);
  const std::vector<std::vector<std::string>> commands{
      with_budget({"train", "parity", "--length", "2"}),
      with_budget({"train", "text", "--text", folder_ / "rhyme.txt", "--length", "8"}),
      with_budget({"tune", "parity", "--length", "2", "--rounds", "1"}),
      with_budget({"compare", "parity", "--length", "2", "--models", "lstm", "--seeds", "1"}),
      with_budget({"ablate", "parity", "--length", "2", "--factors", "gate", "--seeds", "1"}),
      {"eval", trained, "--samples", "8"}};
  for (const std::vector<std::string>& command : commands)
    for (const char* more : {"", "--resume", "--force"}) {
      if (command.front() == "eval" && *more != '\0') continue;
      std::filesystem::remove_all(run_);
      std::filesystem::copy(trained, run_);
      std::filesystem::create_directories(run_ + "/runs/lstm-seed-0");
      const auto before = contents();
      const Holder other(run_);
      std::vector<std::string> words = command;
      words.insert(words.end(), {"--out", run_});
      if (*more != '\0') words.emplace_back(more);
      const Outcome outcome = run_command(words);
      EXPECT_EQ(outcome.status, 1) << command.front() << " " << more;
      EXPECT_EQ(outcome.messages, refusal(text("process ", other.process())) + "\n") << command.front() << " " << more;
      EXPECT_EQ(contents(), before) << command.front() << " " << more;
    }
}

}  // namespace
}  // namespace retrace
