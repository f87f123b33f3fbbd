// Results of an earlier command in the folder of --out.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace retrace {

/// Returns those of `files` that exist in the folder and are not empty.
std::vector<std::string> earlier_results(const std::filesystem::path& folder, std::span<const char* const> files);

/// Whether the folder holds the trainings of a comparison, an ablation or a tuning.
bool holds_runs(const std::filesystem::path& folder);

/// Throws ValueError if there are any; its message ends with `remedy`, the flags that help.
void refuse_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files,
                            const char* remedy);
/// Throws FileError if a file cannot be removed.
void remove_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files);

}  // namespace retrace
