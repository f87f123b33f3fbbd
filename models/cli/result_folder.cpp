#include <retrace/core/error.h>
#include <retrace/models/cli/result_folder.h>

#include <cerrno>
#include <cstring>

namespace retrace {
namespace {

[[noreturn]] void throw_unwritable(const std::filesystem::path& path, const std::string& why) {
  throw FileError(text("retrace: ", path.string(), " cannot be written: ", why, "; choose another --out"));
}

}  // namespace

ResultFolder::ResultFolder(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_unwritable(folder, error.message());
}

std::ofstream ResultFolder::open(const char* name) const {
  errno = 0;
  std::ofstream file(folder_ / name);
  if (!file) throw_unwritable(folder_ / name, std::strerror(errno));
  return file;
}

void ResultFolder::write(const char* name, std::string_view content) const {
  std::ofstream file = open(name);
  file << content;
  check(file, name);
}

void ResultFolder::check(std::ofstream& file, const char* name) const {
  file.flush();
  if (!file) throw_unwritable(folder_ / name, std::strerror(errno));
}

}  // namespace retrace
