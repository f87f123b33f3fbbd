// A file that takes its place whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace retrace {

/// Written beside its place under a name that nobody can foresee, flushed to the disk and renamed. Until
/// put_into_place, and on any error, what was there before stays; what was written is removed again. Links stay, and
/// the file they lead to is replaced, by one that the same users can read and write. Throws FileError, in the name of
/// `function`, for folders, devices and pipes, and where the system refuses.
class ReplacementFile {
 public:
  ReplacementFile(const char* function, const std::string& place);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  void write(const void* bytes, std::size_t count);
  void put_into_place();

 private:
  void flush_folder() const;
  [[noreturn]] void fail(const char* what) const;

  const char* function_;
  std::string place_, folder_, path_;
  int file_ = -1;
  bool placed_ = false;
};

}  // namespace retrace
