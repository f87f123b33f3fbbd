// What an earlier command left in the folder of --out.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace retrace {

/// Those of the files that are in the folder and not empty.
std::vector<std::string> earlier_results(const std::filesystem::path& folder, std::span<const char* const> files);

/// Throws ValueError, with the flags that help (`remedy`), if there are any.
void refuse_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files,
                            const char* remedy);
/// Throws FileError for one that cannot be removed.
void remove_earlier_results(const std::filesystem::path& folder, std::span<const char* const> files);

}  // namespace retrace
