#include <retrace/core/error.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/training/checkpoint.h>

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

RunDirectory::RunDirectory(const std::filesystem::path& folder, bool resume) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_unwritable(folder, error.message());
  remove_unfinished();
  if (resume && std::filesystem::exists(checkpoint())) {
    keep_earlier_metrics();
  } else {
    metrics_ = open_for_writing(folder / "metrics.jsonl");
    std::filesystem::remove(checkpoint(), error);
  }
}

void RunDirectory::remove_unfinished() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (entry.path().filename().string().find(".safetensors.tmp.") != std::string::npos)
      std::filesystem::remove(entry.path(), error);
}

void RunDirectory::keep_earlier_metrics() {
  const std::filesystem::path path = folder_ / "metrics.jsonl";
  const std::int64_t last = step_of_checkpoint(checkpoint().string());
  std::ifstream before(path);
  std::string kept;
  for (std::string line; std::getline(before, line);) {
    const std::optional<Metrics> metrics = metrics_from_json(line);  // none for the half line of a killed program
    if (!metrics || metrics->step > last) break;
    earlier_.push_back(*metrics);
    kept += line + "\n";
  }
  before.close();
  metrics_ = open_for_writing(path);
  metrics_ << kept << std::flush;
}

void RunDirectory::write(const char* name, std::string_view content) {
  const std::filesystem::path path = folder_ / name;
  std::ofstream file = open_for_writing(path);
  file << content << std::flush;
  if (!file) throw_unwritable(path, std::strerror(errno));
  metrics_.flush();
  if (!metrics_) throw_unwritable(folder_ / "metrics.jsonl", std::strerror(errno));
}

}  // namespace retrace
