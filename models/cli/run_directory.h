// What a training leaves behind: --out DIR.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace retrace {

/// The folder of a run: weights.safetensors, metrics.jsonl, result.json. It is made, and found to be writable, before the
/// run begins. Throws FileError where it is not.
class RunDirectory {
 public:
  explicit RunDirectory(const std::filesystem::path& folder);

  /// metrics.jsonl, empty at first.
  std::ostream& metrics() { return metrics_; }
  std::filesystem::path weights() const { return folder_ / "weights.safetensors"; }
  /// Writes result.json. Throws FileError if that, or metrics.jsonl, did not reach the file.
  void write_result(std::string_view json);

 private:
  std::filesystem::path folder_;
  std::ofstream metrics_;
};

}  // namespace retrace
