#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/cli/result_folder.h>

namespace retrace {

namespace {

const std::filesystem::path& made(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw FileError(
        text("retrace: ", folder.string(), " cannot be written: ", error.message(), "; choose another --out"));
  return folder;
}

}  // namespace

ResultFolder::ResultFolder(const std::filesystem::path& folder) : folder_(folder), lock_(made(folder)) {}

void ResultFolder::write(const char* name, std::string_view content) const {
  check_in_place();
  ReplacementFile file("retrace", (folder_ / name).string());
  file.write(content.data(), content.size());
  file.put_into_place();
}

}  // namespace retrace
