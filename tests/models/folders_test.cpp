// The folders of models depend on each other in one direction.
#include <gtest/gtest.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

// The folders that each may include, directly or not: those that its library links in models/<folder>/CMakeLists.txt.
std::map<std::string, std::set<std::string>> linked_folders(const fs::path& models) {
  std::map<std::string, std::set<std::string>> direct;
  for (const auto& entry : fs::directory_iterator(models)) {
    const std::string lists =
        fs::exists(entry.path() / "CMakeLists.txt") ? retrace::file_bytes(entry.path() / "CMakeLists.txt") : "";
    const std::size_t start = lists.find("retrace_models_library(");
    if (start == std::string::npos) continue;
    std::istringstream names(
        lists.substr(lists.find('(', start) + 1, lists.find(')', start) - lists.find('(', start) - 1));
    std::string folder, library;
    names >> folder;
    while (names >> library) direct[folder].insert(library.substr(std::string("retrace_").size()));
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [folder, linked] : direct)
      for (const std::string& below : std::set<std::string>(linked))
        for (const std::string& further : direct[below]) grew |= linked.insert(further).second;
  }
  return direct;
}

TEST(Folders, OfModelsIncludeOnlyThoseThatTheirLibrariesLink) {
  const fs::path models = fs::path(RETRACE_SOURCE_DIR) / "models";
  const auto linked = linked_folders(models);
  EXPECT_GE(linked.size(), 9u);
  for (const auto& entry : fs::recursive_directory_iterator(models)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const fs::path file = entry.path().lexically_relative(models);
    if (*file.begin() == "tour") continue;  // programs of their own: they link what they include, or do not build
    const std::string folder = file.begin()->string(), source = retrace::file_bytes(entry.path()),
                      mark = "#include <retrace/models/";
    ASSERT_TRUE(linked.contains(folder)) << file << " is in no library's folder";
    for (std::size_t start = source.find(mark); start != std::string::npos; start = source.find(mark, start + 1)) {
      const std::size_t name = start + mark.size();
      const std::string included = source.substr(name, source.find('/', name) - name);
      EXPECT_TRUE(included == folder || linked.at(folder).contains(included))
          << file << " includes a header of " << included << ", which its library does not link";
    }
  }
  for (const auto& [folder, below] : linked) EXPECT_FALSE(below.contains(folder)) << folder << " depends on itself";
}

}  // namespace
