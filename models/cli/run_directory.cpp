#include <retrace/models/cli/run_directory.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/training/checkpoint.h>

namespace retrace {
namespace {

constexpr const char* metrics_name = "metrics.jsonl";

}  // namespace

RunDirectory::RunDirectory(const std::filesystem::path& folder, bool resume) : folder_(folder) {
  remove_unfinished();
  if (resume && std::filesystem::exists(checkpoint())) {
    keep_earlier_metrics();
  } else {
    metrics_ = folder_.open(metrics_name);
    std::error_code error;
    std::filesystem::remove(checkpoint(), error);
  }
}

void RunDirectory::remove_unfinished() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path(), error))
    if (entry.path().filename().string().find(".safetensors.tmp.") != std::string::npos)
      std::filesystem::remove(entry.path(), error);
}

void RunDirectory::keep_earlier_metrics() {
  const std::int64_t last = step_of_checkpoint(checkpoint().string());
  std::ifstream before(folder_.path() / metrics_name);
  std::string kept;
  for (std::string line; std::getline(before, line);) {
    const std::optional<Metrics> metrics = metrics_from_json(line);  // none for the half line of a killed program
    if (!metrics || metrics->step > last) break;
    earlier_.push_back(*metrics);
    kept += line + "\n";
  }
  before.close();
  metrics_ = folder_.open(metrics_name);
  metrics_ << kept << std::flush;
}

void RunDirectory::write(const char* name, std::string_view content) {
  folder_.write(name, content);
  folder_.check(metrics_, metrics_name);
}

}  // namespace retrace
