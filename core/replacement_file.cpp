#include <retrace/core/error.h>
#include <retrace/core/replacement_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace retrace {
namespace {

// Two threads, or two processes, may write the same place: the last one wins with a whole file.
std::string unique_ending() {
  static std::atomic<int> count{0};
  return text(".tmp.", ::getpid(), ".", ++count);
}

// Follows a link: a new file in its place would leave the file that it leads to as it was.
std::string behind_links(const std::string& place) {
  std::error_code error;
  if (!std::filesystem::is_symlink(place, error)) return place;
  const std::filesystem::path end = std::filesystem::canonical(place, error);
  return error ? place : end.string();
}

}  // namespace

ReplacementFile::ReplacementFile(const char* function, const std::string& place)
    : function_(function),
      place_(behind_links(place)),
      folder_(std::filesystem::path(place_).parent_path()),
      path_(text(place_, unique_ending())) {
  std::error_code error;
  if (std::filesystem::is_other(place_, error))  // renaming onto it would remove /dev/null
    throw FileError(text(function_, ": ", place_, " is a device or a pipe, not a file; choose another path"));
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot be created");
}

ReplacementFile::~ReplacementFile() {
  ::close(file_);
  if (!placed_) ::unlink(path_.c_str());
}

void ReplacementFile::write(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(file_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

void ReplacementFile::put_into_place() {
  if (::fsync(file_) != 0) fail("cannot be flushed");
  if (::rename(path_.c_str(), place_.c_str()) != 0) fail("cannot be put into place");
  placed_ = true;
  flush_folder();
}

// So that the new name, too, outlives a loss of power. Not every file system can; the file is whole without it.
void ReplacementFile::flush_folder() const {
  const int folder = ::open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void ReplacementFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw FileError(text(function_, ": ", place_, " ", what, ": ", reason,
                       "; check the folder, its permissions and the space on the disk"));
}

}  // namespace retrace
