// A whole training in which the system refuses one call after the other: open, write, fsync, rename and close. What was
// stored stays whole, the error names the file, and the same command goes on to the bytes of an undisturbed training.
//
// This program defines these calls itself, so that all that is linked into it, the C++ library's streams included,
// comes through here. It fails those that write into the folder of the run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <retrace/tests/trust/in_full.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

enum class Fault { no_space, broken, part };  // ENOSPC, EIO, and a write of some of the bytes only

/// The calls of a run, and which of them fails.
struct Plan {
  bool counting = false;
  std::int64_t calls = 0;
  std::int64_t failing = 0;  // counted from 1; 0: none
  bool lasting = false;      // and all after it
  Fault fault = Fault::no_space;
  std::string failed = {};  // the call that did

  bool fails(const char* call) {
    if (!counting || failing == 0) return calls += counting, false;
    ++calls;
    if (calls < failing || (calls > failing && !lasting)) return false;
    failed = call;
    return true;
  }
  int refuse() const {
    errno = fault == Fault::broken ? EIO : ENOSPC;
    return -1;
  }
};
Plan plan;

bool is_of_user(int descriptor) { return descriptor > STDERR_FILENO; }

}  // namespace

extern "C" {
ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_of_user(descriptor) && plan.fails("write")) {
    if (plan.fault != Fault::part) return plan.refuse();
    count = (count + 1) / 2;
  }
  return syscall(SYS_write, descriptor, bytes, count);
}
int fsync(int descriptor) {
  if (plan.fails("fsync") && plan.fault != Fault::part) return plan.refuse();
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}
int rename(const char* from, const char* to) noexcept {
  if (plan.fails("rename") && plan.fault != Fault::part) return plan.refuse();
  return static_cast<int>(syscall(SYS_rename, from, to));
}
int close(int descriptor) {
  const bool fails = plan.fails("close") && plan.fault != Fault::part;
  const int result = static_cast<int>(syscall(SYS_close, descriptor));
  return fails ? plan.refuse() : result;
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) != O_RDONLY && plan.fails("open") && plan.fault != Fault::part) return plan.refuse();
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
}

namespace retrace {
namespace {

/// A training with validations and checkpoints, in a folder of its own.
class FailingWrites : public testing::Test {
 protected:
  Outcome train() const {
    return run_command({"train",
                        "pair-matching",
                        "--steps",
                        "4",
                        "--batch",
                        "2",
                        "--hidden",
                        "4",
                        "--validate-every",
                        "2",
                        "--test-samples",
                        "4",
                        "--checkpoint-seconds",
                        "0",
                        "--threads",
                        "1",
                        "--quiet",
                        "--resume",
                        "--out",
                        run_});
  }
  Outcome train_under(Plan planned) const {
    plan = std::move(planned);
    plan.counting = true;
    Outcome outcome = train();
    plan.counting = false;
    return outcome;
  }
  std::string bytes(const char* name) const { return file_bytes(run_ + "/" + name); }
  /// All that a training leaves, without what depends on the clock.
  std::string results() const {
    const std::regex clock("\"(seconds|samples_per_second|memory_bytes)\":[-+.e0-9]*");
    std::string all = bytes("weights.safetensors");
    for (const char* name : {"metrics.jsonl", "result.json"}) all += std::regex_replace(bytes(name), clock, "");
    const SafetensorsFile last = read_safetensors(run_ + "/checkpoint.safetensors");
    for (const auto& [name, tensor] : last.tensors)
      all += name + weights_hash(std::vector<NamedTensor>{{name, tensor}});
    return all;
  }
  /// Each file is whole, or is not there; no half-written one stays, except after an error that also keeps it from
  /// being removed.
  void expect_whole_files() const {
    if (!std::filesystem::exists(run_)) return;
    for (const auto& entry : std::filesystem::directory_iterator(run_)) {
      const std::string name = entry.path().filename();
      EXPECT_EQ(name.find(".tmp."), std::string::npos) << name;
      if (name == "weights.safetensors") load_run(entry.path());
      if (name == "checkpoint.safetensors") step_of_checkpoint(entry.path());
    }
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST_F(FailingWrites, ATrainingGoesOnToTheSameBytes) {
  const Outcome whole = train_under({});
  ASSERT_EQ(whole.status, 0) << whole.messages;
  const std::int64_t calls = plan.calls;
  const std::string undisturbed = results();
  ASSERT_GT(calls, 30) << "this program's own calls are not those that write the files";
  std::set<std::string> failed;
  std::int64_t refused = 0, survived = 0;
  const std::int64_t stride = in_full() ? 1 : 7;
  for (const Fault fault : {Fault::no_space, Fault::broken, Fault::part})
    for (const bool lasting : {false, true})
      for (std::int64_t number = 1 + (in_full() ? 0 : static_cast<int>(fault)); number <= calls; number += stride) {
        std::filesystem::remove_all(run_);
        const Outcome outcome = train_under({.failing = number, .lasting = lasting, .fault = fault});
        SCOPED_TRACE(plan.failed + (lasting ? ", all from call " : ", call ") + std::to_string(number) + " of " +
                     std::to_string(calls) + ", fault " + std::to_string(static_cast<int>(fault)) + ": " +
                     outcome.messages);
        failed.insert(plan.failed);
        outcome.status == 0 ? ++survived : ++refused;
        if (outcome.status != 0) {
          EXPECT_EQ(outcome.status, 1);
          EXPECT_NE(outcome.messages.find(run_), std::string::npos) << "the message names no file";
          EXPECT_TRUE(fault != Fault::part) << "some of the bytes at a time are no error";
        }
        expect_whole_files();
        const Outcome again = train();
        ASSERT_EQ(again.status, 0) << again.messages;
        if (again.messages.find("are lost") == std::string::npos) {
          EXPECT_TRUE(results() == undisturbed);
        }
        if (HasFailure()) return;
      }
  EXPECT_EQ(failed, (std::set<std::string>{"close", "fsync", "open", "rename", "write"}));
  EXPECT_GT(refused, 0);
  EXPECT_GT(survived, 0);
}

}  // namespace
}  // namespace retrace
