// The files of a training.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/cli/output_stream.h>
#include <retrace/models/cli/result_folder.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>

namespace retrace {

/// The folder of a run: weights.safetensors, checkpoint.safetensors, metrics.jsonl, metrics.csv, curves.svg,
/// result.json. Files that a killed program left half-written are removed. Throws FileError if the folder cannot be
/// written or another command has it.
class RunDirectory {
 public:
  /// With `resume`, keeps the lines of metrics.jsonl up to the checkpoint, even if the program is killed at any moment;
  /// otherwise empties the file and removes an old checkpoint and table. Also throws FileError for a line that is not
  /// valid metrics, except at the end, where a killed program or system may leave a torn one.
  RunDirectory(ResultFolder folder, bool resume);
  RunDirectory(const std::filesystem::path& folder, bool resume) : RunDirectory(ResultFolder(folder), resume) {}

  /// Throws FileError if a line cannot be written.
  std::ostream& metrics() { return *metrics_; }
  /// Adds a line to metrics.csv. The first one writes the whole table anew, with the validations before a resume, so
  /// that what a killed program left there does not matter; it also removes the earlier end, since the checkpoint that
  /// follows is further. Throws FileError if a line cannot be written.
  void add_to_table(const Metrics& metrics);
  /// Validations before the resume.
  const std::vector<Metrics>& earlier() const { return earlier_; }
  /// The validations before the resume that metrics.jsonl does not have, in a sentence; empty if it has all.
  const std::string& lost_metrics() const { return lost_metrics_; }
  /// Brings the lines of metrics.jsonl to the disk, before a checkpoint counts on them. Throws FileError if they did
  /// not reach it, or the folder is not the same any more.
  void keep_metrics();
  std::filesystem::path weights() const { return folder_.path() / "weights.safetensors"; }
  std::filesystem::path checkpoint() const { return checkpoint_in(folder_.path()); }
  /// That of a run's folder, which need not exist.
  static std::filesystem::path checkpoint_in(const std::filesystem::path& folder) {
    return folder / "checkpoint.safetensors";
  }
  /// Removes the weights and the result of an earlier end of a training that goes on from its checkpoint.
  void remove_earlier_end() const;
  /// Writes a file of that name. Throws FileError if it, or metrics.jsonl, did not reach the disk.
  void write(const char* name, std::string_view content);

 private:
  void remove_unfinished() const;
  std::string read_earlier_metrics();
  void note_lost_metrics(const std::string& path, const TrainingState& standing, bool torn);

  ResultFolder folder_;
  std::optional<OutputStream> metrics_;  // opened last
  std::vector<Metrics> earlier_;
  std::string lost_metrics_;
  std::optional<OutputStream> table_;  // opened by its first line
  std::vector<std::string> layers_;    // with a column in it
};

}  // namespace retrace
