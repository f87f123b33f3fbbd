#include <retrace/core/base/error.h>
#include <retrace/models/cli/folder_lock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace retrace {
namespace {

/// "process 1234", the holder of the lock, as /proc/locks tells: "1: FLOCK ADVISORY WRITE 1234 fe:00:5678 0 EOF".
std::string holder_of(int descriptor) {
  struct stat folder {};
  ::fstat(descriptor, &folder);
  char place[64];
  std::snprintf(place, sizeof place, "%02x:%02x:%llu", ::major(folder.st_dev), ::minor(folder.st_dev),
                static_cast<unsigned long long>(folder.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, how, access, process, locked;
    words >> number >> kind >> how >> access >> process >> locked;
    if (kind == "FLOCK" && locked == place) return "process " + process;
  }
  return "another process";
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_(folder), descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0)
    throw FileError(
        text("retrace: ", folder.string(), " cannot be opened: ", std::strerror(errno), "; choose another --out"));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  const std::string holder = holder_of(descriptor_);
  ::close(descriptor_);
  throw FileError(text("retrace: ", folder.string(), " is in use by ", holder,
                       ", which writes into it; wait until it has ended, or choose another --out"));
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::check_in_place() const {
  struct stat locked {
  }, now{};
  ::fstat(descriptor_, &locked);
  if (::stat(folder_.c_str(), &now) == 0 && now.st_ino == locked.st_ino && now.st_dev == locked.st_dev) return;
  throw FileError(text("retrace: ", folder_.string(),
                       " was moved or removed while this command was writing into it; give --out a folder that stays"));
}

}  // namespace retrace
