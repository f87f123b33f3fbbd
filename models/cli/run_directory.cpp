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
  constexpr std::array<std::string_view, 5> files{"weights.safetensors", "checkpoint.safetensors", metrics_name,
                                                  "curves.svg", result_name};
  return std::ranges::any_of(files, [name](std::string_view file) {
    return name.starts_with(file) && name.substr(file.size()).starts_with(".tmp.");
  });
}

}  // namespace

RunDirectory::RunDirectory(const std::filesystem::path& folder, bool resume) : folder_(folder) {
  remove_unfinished();
  const bool goes_on = resume && std::filesystem::exists(checkpoint());
  if (goes_on) {
    folder_.write(metrics_name, read_earlier_metrics());
  } else {
    std::error_code error;
    std::filesystem::remove(checkpoint(), error);
    std::filesystem::remove(folder_.path() / table_name, error);
  }
  // Only after the checkpoint is removed: a kill in between must not leave a checkpoint without its metrics.
  metrics_.emplace(folder_.path() / metrics_name,
                   goes_on ? OutputStream::Existing::appended_to : OutputStream::Existing::emptied);
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
  const std::int64_t last = step_of_checkpoint(checkpoint().string());
  const std::string path = (folder_.path() / metrics_name).string();
  std::ifstream before(path);
  std::string kept;
  int number = 0;
  for (std::string line; std::getline(before, line);) {
    const bool unfinished = before.eof();  // a killed program left a line without its end
    try {
      const Metrics metrics = metrics_from_json(text(path, ": line ", ++number), line);
      if (metrics.step > last) break;
      earlier_.push_back(metrics);
    } catch (const ValueError& error) {
      if (unfinished) break;
      throw FileError(text("retrace: ", error.what(), "; repair the line, or begin again in another folder"));
    }
    kept += line + "\n";
  }
  if (before.bad()) throw FileError(text("retrace: ", path, " cannot be read; try again"));
  return kept;
}

void RunDirectory::add_to_table(const Metrics& metrics) {
  if (!table_) {
    remove_earlier_end();
    std::vector<Metrics> history = earlier_;
    history.push_back(metrics);
    layers_ = layers_in(history);
    table_.emplace(folder_.path() / table_name, OutputStream::Existing::emptied);
    *table_ << csv_header(metrics, layers_);
    for (const Metrics& before : earlier_) *table_ << csv_line(before, layers_);
  }
  *table_ << csv_line(metrics, layers_) << std::flush;
}

void RunDirectory::remove_earlier_end() const {
  for (const std::filesystem::path& file : {weights(), folder_.path() / result_name}) {
    std::error_code error;
    std::filesystem::remove(file, error);
  }
}

void RunDirectory::write(const char* name, std::string_view content) {
  folder_.write(name, content);
  metrics_->flush_to_disk();
}

}  // namespace retrace
