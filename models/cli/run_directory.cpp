#include <retrace/models/cli/run_directory.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/metrics_csv.h>

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <utility>

namespace retrace {
namespace {

constexpr const char* metrics_name = "metrics.jsonl";
constexpr const char* table_name = "metrics.csv";
constexpr const char* result_name = "result.json";

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// Whether the file is the unfinished replacement of a result that a killed program left behind.
bool is_unfinished(std::string_view name) {
  constexpr std::array<std::string_view, 6> files{
      "weights.safetensors", "checkpoint.safetensors", metrics_name, table_name, "curves.svg", result_name};
  return std::ranges::any_of(files, [name](std::string_view file) {
    return name.starts_with(file) && name.substr(file.size()).starts_with(".tmp.");
  });
}

/// The step of the last validation before the checkpoint; 0 if there was none.
std::int64_t last_validation(const TrainingState& standing) { return standing.step - standing.window_steps; }

}  // namespace

RunDirectory::RunDirectory(ResultFolder folder, bool resume) : folder_(std::move(folder)) {
  remove_unfinished();
  const bool goes_on = resume && std::filesystem::exists(checkpoint());
  if (!goes_on) {
    std::error_code error;
    std::filesystem::remove(checkpoint(), error);
    std::filesystem::remove(folder_.path() / table_name, error);
  }
  // Only after the checkpoint is removed: a kill in between must not leave a checkpoint without its metrics.
  folder_.write(metrics_name, goes_on ? read_earlier_metrics() : "");
  metrics_.emplace(folder_.path() / metrics_name);
}

// Uses the system's functions, since std::filesystem::directory_iterator ends the program when memory runs out.
void RunDirectory::remove_unfinished() const {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(folder_.path().c_str()));
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get()))
    if (is_unfinished(entry->d_name)) ::unlinkat(::dirfd(folder.get()), entry->d_name, 0);
}

/// The lines up to the checkpoint; fills earlier_.
std::string RunDirectory::read_earlier_metrics() {
  const TrainingState standing = standing_in(read_safetensors(checkpoint().string()), checkpoint().string());
  const std::string path = (folder_.path() / metrics_name).string();
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))  // a pipe would be waited for
    throw FileError(text("retrace: ", path, " is not a file; remove it, or begin again in another folder"));
  std::ifstream before(path);
  std::string kept, complaint;
  int number = 0;
  for (std::string line; std::getline(before, line);) {
    Metrics metrics;
    try {
      metrics = metrics_from_json(text(path, ": line ", ++number), line);
    } catch (const ValueError& error) {
      if (complaint.empty()) complaint = error.what();
      continue;
    }
    if (!complaint.empty())
      throw FileError(text("retrace: ", complaint, "; repair the line, or begin again in another folder"));
    if (metrics.step > standing.step) break;
    earlier_.push_back(metrics);
    kept += line + "\n";
    if (metrics.step == last_validation(standing)) break;
  }
  if (before.bad()) throw FileError(text("retrace: ", path, " cannot be read; try again"));
  note_lost_metrics(path, standing, !complaint.empty());
  return kept;
}

void RunDirectory::note_lost_metrics(const std::string& path, const TrainingState& standing, bool torn) {
  const std::int64_t end = earlier_.empty() ? 0 : earlier_.back().step, last = last_validation(standing);
  if (end >= last) return;
  lost_metrics_ =
      text("retrace: ", path, " has the validations up to step ", end,
           torn ? " (a torn line after them was cut off)" : "", ", and the checkpoint is of those up to step ", last,
           ": the lines between are lost, also for metrics.csv and curves.svg; the training itself goes on unchanged");
}

void RunDirectory::keep_metrics() {
  folder_.check_in_place();
  metrics_->flush_to_disk();
}

void RunDirectory::add_to_table(const Metrics& metrics) {
  if (table_) {
    *table_ << csv_line(metrics, layers_) << std::flush;
    return;
  }
  remove_earlier_end();
  std::vector<Metrics> history = earlier_;
  history.push_back(metrics);
  layers_ = layers_in(history);
  std::string table = csv_header(metrics, layers_);
  for (const Metrics& each : history) table += csv_line(each, layers_);
  folder_.write(table_name, table);
  table_.emplace(folder_.path() / table_name);
}

void RunDirectory::remove_earlier_end() const {
  for (const std::filesystem::path& file : {weights(), folder_.path() / result_name}) {
    std::error_code error;
    std::filesystem::remove(file, error);
  }
}

void RunDirectory::write(const char* name, std::string_view content) {
  folder_.write(name, content);
  keep_metrics();
}

}  // namespace retrace
