// Where a command leaves files: --out DIR.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace retrace {

/// A folder, made when a command begins, so that what cannot be written is found before the work is done. Throws
/// FileError where it cannot be written.
class ResultFolder {
 public:
  explicit ResultFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  /// An empty file of that name.
  std::ofstream open(const char* name) const;
  /// Writes a whole file. Throws FileError if it did not reach the disk.
  void write(const char* name, std::string_view content) const;
  /// Throws FileError if what was written to `file` so far did not reach the disk.
  void check(std::ofstream& file, const char* name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace retrace
