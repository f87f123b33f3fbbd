#include <retrace/core/error.h>
#include <retrace/models/cli/run_directory.h>

#include <cerrno>
#include <cstring>

namespace retrace {
namespace {

[[noreturn]] void throw_unwritable(const std::filesystem::path& path, const std::string& why) {
  throw FileError(text("retrace: ", path.string(), " cannot be written: ", why, "; choose another --out"));
}

std::ofstream open_for_writing(const std::filesystem::path& path) {
  errno = 0;
  std::ofstream file(path);
  if (!file) throw_unwritable(path, std::strerror(errno));
  return file;
}

}  // namespace

RunDirectory::RunDirectory(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_unwritable(folder, error.message());
  metrics_ = open_for_writing(folder / "metrics.jsonl");
}

void RunDirectory::write_result(std::string_view json) {
  const std::filesystem::path path = folder_ / "result.json";
  std::ofstream file = open_for_writing(path);
  file << json << '\n' << std::flush;
  if (!file) throw_unwritable(path, std::strerror(errno));
  metrics_.flush();
  if (!metrics_) throw_unwritable(folder_ / "metrics.jsonl", std::strerror(errno));
}

}  // namespace retrace
