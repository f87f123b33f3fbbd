// A program that runs out of memory at any point reports it and leaves no damaged file behind.
#include <gtest/gtest.h>
#include <retrace/models/cli/cli.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/heap_count.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <CLI/Version.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A buffer that does not allocate.
class FixedBuffer : public std::streambuf {
 public:
  FixedBuffer() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  std::string text() const { return {pbase(), pptr()}; }

 private:
  std::array<char, 8192> bytes_;
};

struct FailingAllocation {
  std::int64_t number = 0;  // of the allocation, counted from 1
  bool lasting = false;
};

Outcome run_failing(const std::vector<std::string>& words, const FailingAllocation& failure) {
  std::vector<const char*> arguments{"retrace"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::ostringstream results;
  FixedBuffer buffer;
  std::ostream messages(&buffer);
  int status = 0;
  {
    const FailingAllocation failing(failure.number, failure.lasting);
    status = run_cli(static_cast<int>(arguments.size()), arguments.data(), results, messages);
  }
  return {status, results.str(), buffer.text()};
}

/// The heap allocations that declaring all flags makes. CLI11 2.6 makes some in functions that may not throw, and ends
/// the program where one fails: retrace itself says so and ends with 1, but here the test would end, too.
std::int64_t allocations_out_of_reach() {
  constexpr bool out_of_reach = CLI11_VERSION_MAJOR > 2 || CLI11_VERSION_MINOR > 4;
  if (!out_of_reach) return 0;
  const std::int64_t start = heap_allocations();
  run_command({"train", "--no-such-flag"});
  return heap_allocations() - start;
}

/// Runs the command with one allocation failing, and with all from one on, at about `points` places from its first to
/// its last. `before` and `after` are called around each run.
void fail_at(std::int64_t points, const std::vector<std::string>& words, const std::function<void()>& before,
             const std::function<void()>& after) {
  before();
  const std::int64_t start = heap_allocations();
  ASSERT_EQ(run_command(words).status, 0);
  const std::int64_t allocations = heap_allocations() - start;
  const std::int64_t stride = std::max<std::int64_t>(allocations / points, 1);
  for (std::int64_t number = 1 + allocations_out_of_reach(); number <= allocations; number += stride)
    for (const bool lasting : {false, true}) {
      SCOPED_TRACE(words.front() + (lasting ? ", all from allocation " : ", allocation ") + std::to_string(number) +
                   " of " + std::to_string(allocations));
      before();
      const Outcome outcome = run_failing(words, {number, lasting});
      if (outcome.status == 0) {
        EXPECT_EQ(outcome.messages, "") << "what failed was not needed";
      } else {
        EXPECT_EQ(outcome.status, 1);
        EXPECT_TRUE(outcome.messages.ends_with('\n')) << outcome.messages;
        EXPECT_TRUE(outcome.messages.starts_with("retrace: ")) << outcome.messages;
        EXPECT_EQ(outcome.messages.find("bad_alloc"), std::string::npos) << outcome.messages;
      }
      after();
    }
}

class OutOfMemory : public testing::Test {
 protected:
  std::vector<std::string> train() const {
    return {
        "train", "babi",    "--steps",   "2", "--batch",          "2", "--hidden",       "4", "--out",
        run_,    "--quiet", "--threads", "1", "--validate-every", "1", "--test-samples", "8", "--checkpoint-seconds",
        "0",     "--resume"};
  }
  /// Expects that every file in the folder is complete.
  void expect_whole_files() const {
    const std::set<std::string> known{
        "weights.safetensors", "checkpoint.safetensors", "metrics.jsonl", "metrics.csv", "curves.svg", "result.json"};
    if (!std::filesystem::exists(run_)) return;
    for (const auto& entry : std::filesystem::directory_iterator(run_)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(known.contains(name)) << name;
      if (name == "weights.safetensors") {
        EXPECT_EQ(weights_hash(*load_run(entry.path()).model), hash_);
      }
      if (name == "checkpoint.safetensors") {
        EXPECT_LE(step_of_checkpoint(entry.path()), 2);
      }
    }
  }
  /// A finished training.
  void finish() {
    ASSERT_EQ(run_command(train()).status, 0);
    hash_ = weights_hash(*load_run(run_).model);
  }
  static void nothing() {}

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run", hash_;
};

TEST_F(OutOfMemory, InfoSaysSo) { fail_at(60, {"info", "lstm"}, nothing, nothing); }

TEST_F(OutOfMemory, ATrainingLeavesWholeFiles) {
  finish();
  fail_at(
      100, train(), [&] { std::filesystem::remove_all(run_); }, [&] { expect_whole_files(); });
}

TEST_F(OutOfMemory, AResumeLeavesWholeFiles) {
  finish();
  fail_at(60, train(), nothing, [&] { expect_whole_files(); });
}

TEST_F(OutOfMemory, EvalSaysSo) {
  finish();
  fail_at(60, {"eval", run_, "--samples", "8", "--json", "--threads", "1"}, nothing, nothing);
}

}  // namespace
}  // namespace retrace
