// A folder that one command at a time writes into.
#pragma once

#include <filesystem>

namespace retrace {

/// Keeps other commands out of an existing folder until it is destroyed or the process ends, however it ends: the
/// system locks the folder itself, so nothing is left in it. On file systems without locks of folders, nobody is kept
/// out. Throws FileError, which names the process, if another command, of this process or another, has the folder.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Throws FileError if the path leads to another folder now, or to none: others may write there.
  void check_in_place() const;

 private:
  std::filesystem::path folder_;
  int descriptor_;
};

}  // namespace retrace
