// Folders depend on each other in one direction: the libraries of models, and the rooms of core and nn.
#include <gtest/gtest.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

using Arrows = std::map<std::string, std::set<std::string>>;

// Adds what is reached over several arrows.
void close(Arrows& arrows) {
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [from, reached] : arrows)
      for (const std::string& next : std::set<std::string>(reached))
        if (const auto further = arrows.find(next); further != arrows.end())
          for (const std::string& to : further->second) grew |= reached.insert(to).second;
  }
}

// The names in `text` that follow `mark`, up to `end`.
std::set<std::string> names_after(const std::string& mark, char end, const std::string& text) {
  std::set<std::string> names;
  for (std::size_t start = text.find(mark); start != std::string::npos; start = text.find(mark, start + 1)) {
    const std::size_t name = start + mark.size();
    names.insert(text.substr(name, text.find(end, name) - name));
  }
  return names;
}

bool is_source(const fs::path& file) { return file.extension() == ".h" || file.extension() == ".cpp"; }

// What the files of a folder include of it; a file is named by name_of(path from the folder).
Arrows includes_of(const std::string& folder, const std::function<std::string(const fs::path&)>& name_of) {
  const fs::path root = fs::path(RETRACE_SOURCE_DIR) / folder;
  Arrows arrows;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!is_source(entry.path())) continue;
    const std::string from = name_of(entry.path().lexically_relative(root));
    for (const std::string& included :
         names_after("#include <retrace/" + folder + "/", '>', retrace::file_bytes(entry.path())))
      if (const std::string to = name_of(included); to != from) arrows[from].insert(to);
  }
  return arrows;
}

// The folders that each may include, directly or not: those that its library links in models/<folder>/CMakeLists.txt.
Arrows linked_folders(const fs::path& models) {
  Arrows linked;
  for (const auto& entry : fs::directory_iterator(models)) {
    const std::string lists =
        fs::exists(entry.path() / "CMakeLists.txt") ? retrace::file_bytes(entry.path() / "CMakeLists.txt") : "";
    for (const std::string& call : names_after("retrace_models_library(", ')', lists)) {
      std::istringstream names(call);
      std::string folder, library;
      names >> folder;
      while (names >> library) linked[folder].insert(library.substr(std::string("retrace_").size()));
    }
  }
  close(linked);
  return linked;
}

TEST(Folders, OfModelsIncludeOnlyThoseThatTheirLibrariesLink) {
  const fs::path models = fs::path(RETRACE_SOURCE_DIR) / "models";
  const auto linked = linked_folders(models);
  EXPECT_GE(linked.size(), 9u);
  for (const auto& entry : fs::recursive_directory_iterator(models)) {
    if (!is_source(entry.path())) continue;
    const fs::path file = entry.path().lexically_relative(models);
    if (*file.begin() == "tour") continue;  // programs of their own: they link what they include, or do not build
    const std::string folder = file.begin()->string();
    ASSERT_TRUE(linked.contains(folder)) << file << " is in no library's folder";
    for (const std::string& included : names_after("#include <retrace/models/", '/', retrace::file_bytes(entry.path())))
      EXPECT_TRUE(included == folder || linked.at(folder).contains(included))
          << file << " includes a header of " << included << ", which its library does not link";
  }
  for (const auto& [folder, below] : linked) {
    EXPECT_FALSE(below.contains(folder)) << folder << " depends on itself";
    EXPECT_FALSE(below.contains("zoo")) << folder << " cannot do without the zoo";
  }
}

TEST(Folders, RoomsOfCoreAndNnIncludeEachOtherInOneDirection) {
  for (const std::string folder : {"core", "nn"}) {
    Arrows rooms = includes_of(folder, [](const fs::path& file) { return file.begin()->string(); });
    close(rooms);
    EXPECT_GE(rooms.size(), 5u) << folder;
    for (const auto& [room, reached] : rooms) EXPECT_FALSE(reached.contains(room)) << folder << "/" << room;
  }
}

// A unit is a header with its source.
TEST(Folders, UnitsOfCoreAndNnThatReachEachOtherAreOnlyTensorAndItsDoor) {
  std::set<std::string> in_knots;
  for (const std::string folder : {"core", "nn"}) {
    Arrows units = includes_of(
        folder, [&](const fs::path& file) { return (fs::path(folder) / file).replace_extension().generic_string(); });
    close(units);
    for (const auto& [unit, reached] : units)
      if (reached.contains(unit)) in_knots.insert(unit);
  }
  EXPECT_EQ(in_knots, (std::set<std::string>{"core/tensor/op_access", "core/tensor/tensor"}));
}

}  // namespace
