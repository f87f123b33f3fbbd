#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>

namespace retrace {
namespace {

// Two threads, or two processes, may write the same place: the last one wins with a whole file.
std::string random_ending() {
  std::random_device random;
  return text(".tmp.", std::uint64_t{random()} << 32 | random());
}

// Follows links, also to a file that is not there yet: a new file in their place would leave the one that they lead to
// as it was.
std::string behind_links(const std::string& place) {
  constexpr int max_links = 40;  // as for the system itself
  std::filesystem::path end = place;
  std::error_code error;
  for (int links = 0; links < max_links && std::filesystem::is_symlink(end, error); ++links)
    end = end.parent_path() / std::filesystem::read_symlink(end, error);
  return end.string();
}

// Gives a file the permissions of the one that it replaces, and its owner and group where the system allows it. Another
// group must not get the permissions of that one: it gets those of everybody.
void keep_access(int file, const struct stat& before) {
  constexpr auto as_it_is = static_cast<::uid_t>(-1);
  [[maybe_unused]] const bool same_owner = ::fchown(file, before.st_uid, as_it_is) == 0;  // only root may change it
  const bool same_group = ::fchown(file, as_it_is, before.st_gid) == 0;
  const ::mode_t everybody = before.st_mode & S_IRWXO, group = same_group ? before.st_mode & S_IRWXG : everybody << 3;
  [[maybe_unused]] const bool same_mode = ::fchmod(file, (before.st_mode & S_IRWXU) | group | everybody) == 0;
}

}  // namespace

ReplacementFile::ReplacementFile(const char* function, const std::string& place)
    : function_(function),
      place_(behind_links(place)),
      folder_(std::filesystem::path(place_).parent_path()),
      path_(text(place_, random_ending())) {
  struct stat before {};
  const bool replaces = ::stat(place_.c_str(), &before) == 0;
  if (!replaces && errno != ENOENT) fail("cannot be replaced");
  if (replaces && !S_ISREG(before.st_mode))  // renaming onto it would remove /dev/null
    throw FileError(text(function_, ": ", place_, " is a ", S_ISDIR(before.st_mode) ? "folder" : "device or a pipe",
                         ", not a file; choose another path"));
  // O_EXCL: a file or a link that somebody left under this name is neither opened nor followed.
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaces ? 0600 : 0666);
  if (file_ < 0) fail("cannot be created");
  if (replaces) keep_access(file_, before);
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
