#pragma once
/// The folder of a run with metrics and a checkpoint.
#include <retrace/core/base/error.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace retrace {

class RunDirectories : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(run_); }

  static std::string line(std::int64_t step) {
    return to_json(Metrics{.step = step, .metric_name = name_of(Metric::accuracy)}) + "\n";
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

}  // namespace retrace
