#include <retrace/core/base/error.h>
#include <retrace/models/cli/earlier_results.h>

namespace retrace {

std::vector<std::string> earlier_results(const std::filesystem::path& folder, std::span<const char* const> files) {
  std::vector<std::string> found;
  for (const char* file : files) {
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(folder / file, missing);
    if (!missing && bytes > 0) found.emplace_back(file);
  }
  return found;
}

bool holds_runs(const std::filesystem::path& folder) { return std::filesystem::exists(folder / "runs"); }

void refuse_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files,
                            const char* remedy) {
  const std::vector<std::string> earlier = earlier_results(folder, files);
  if (!earlier.empty())
    throw ValueError(text("retrace: ", folder.string(), " holds ", earlier.front(), " of an earlier run; ", remedy));
}

void remove_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files) {
  for (const std::string& file : earlier_results(folder, files)) {
    std::error_code error;
    std::filesystem::remove(folder / file, error);
    if (error)
      throw FileError(text("retrace: ", (folder / file).string(), " cannot be removed: ", error.message(),
                           "; choose another --out"));
  }
}

}  // namespace retrace
