// The folder of --out, in which a command writes files.
#pragma once

#include <filesystem>
#include <string_view>

namespace retrace {

/// A folder, made when a command begins, so that a folder that cannot be written is found before the work is done.
/// Throws FileError if it cannot be made.
class ResultFolder {
 public:
  explicit ResultFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  /// Writes a whole file and replaces an older one, which is kept if writing fails. Throws FileError if the data did
  /// not reach the disk.
  void write(const char* name, std::string_view content) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace retrace
