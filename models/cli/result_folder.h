// The folder of --out, in which a command writes files.
#pragma once

#include <filesystem>
#include <string_view>

#include <retrace/models/cli/folder_lock.h>

namespace retrace {

/// A folder, made when a command begins, so that a folder that cannot be written is found before the work is done, and
/// kept from other commands until it is destroyed. Throws FileError if it cannot be made or another command has it.
class ResultFolder {
 public:
  explicit ResultFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  /// Writes a whole file and replaces an older one, which is kept if writing fails. Throws FileError if the data did
  /// not reach the disk, or the folder is not the same any more.
  void write(const char* name, std::string_view content) const;
  /// Throws FileError if another folder, or none, has its place now.
  void check_in_place() const { lock_.check_in_place(); }

 private:
  std::filesystem::path folder_;
  FolderLock lock_;
};

}  // namespace retrace
