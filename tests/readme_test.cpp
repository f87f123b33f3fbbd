// The C++ of the READMEs is that of the files in tests/readme and models/tour, which CMake compiles and ctest runs.
#include <gtest/gtest.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::string source(const std::string& path) { return file_bytes(RETRACE_SOURCE_DIR "/" + path); }

const std::vector<std::string> readmes{
    "README.md",           "core/README.md",           "ops/README.md",         "nn/README.md",
    "models/README.md",    "models/results/README.md", "models/tour/README.md", "tests/README.md",
    "benchmarks/README.md"};

/// The blocks of C++ in a document.
std::vector<std::string> blocks_of(const std::string& document) {
  const std::string begin = "```cpp\n", end = "```";
  std::vector<std::string> blocks;
  for (std::size_t at = 0; (at = document.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t stop = document.find(end, at);
    blocks.push_back(document.substr(at, stop - at));
    at = stop;
  }
  return blocks;
}

/// Without the spaces at the beginning of its lines: a piece of code may stand deeper in its program.
std::string without_indentation(const std::string& code) { return std::regex_replace(code, std::regex("\n +"), "\n"); }

TEST(Readme, ShowsCodeOfFilesThatAreCompiledAndRun) {
  std::vector<std::string> programs;
  for (const char* folder : {"tests/readme", "models/tour"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(RETRACE_SOURCE_DIR "/") + folder))
      if (entry.path().extension() == ".cpp") programs.push_back(without_indentation(file_bytes(entry.path())));
  std::size_t checked = 0;
  for (const std::string& readme : readmes) {
    for (const std::string& block : blocks_of(source(readme))) {
      const std::string code = without_indentation(block);
      EXPECT_TRUE(std::ranges::any_of(
          programs, [&](const std::string& program) { return program.find(code) != std::string::npos; }))
          << readme << " has code that is in no program:\n"
          << block;
      ++checked;
    }
  }
  EXPECT_GE(checked, 5U);
}

TEST(Readme, ShowsTheOutputOfTheFirstTape) {
  const TemporaryFolder folder;
  const std::string program = RETRACE_BINARY_DIR "/bin/readme_tape", file = folder / "output";
  ASSERT_EQ(std::system(("'" + program + "' > '" + file + "'").c_str()), 0);
  std::string output = file_bytes(file);
  output.resize(output.find("worst error"));  // what follows is rounding, which differs among instruction sets
  EXPECT_NE(source("README.md").find("```\n" + output), std::string::npos) << output;
}

TEST(Readme, HasAStudyProgramOf25Lines) { EXPECT_LE(std::ranges::count(source("tests/readme/study.cpp"), '\n'), 25); }

TEST(Readme, ItsLinksLeadToFiles) {
  const std::regex link(R"(\]\(([^):# ]+)\))");
  std::size_t checked = 0;
  for (const std::string& readme : readmes) {
    const std::string document = source(readme);
    const std::filesystem::path folder = std::filesystem::path(RETRACE_SOURCE_DIR "/" + readme).parent_path();
    for (std::sregex_iterator found(document.begin(), document.end(), link), end; found != end; ++found, ++checked)
      EXPECT_FALSE(file_bytes(folder / (*found)[1].str()).empty()) << readme << " leads to " << (*found)[1];
  }
  EXPECT_GE(checked, 20U);
}

TEST(Readme, IsShort) {
  const std::string readme = source("README.md");
  EXPECT_LE(std::ranges::count(readme, '\n'), 130) << "chapters belong in the READMEs of the folders";
}

}  // namespace
}  // namespace retrace
