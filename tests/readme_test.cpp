// The examples of the READMEs are the files in tests/readme, word for word; CMake compiles them and ctest runs them.
#include <gtest/gtest.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace retrace {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
std::string source(const std::string& path) { return contents(RETRACE_SOURCE_DIR "/" + path); }

struct Example {
  const char *readme, *file;
};
constexpr Example examples[] = {{"README.md", "study.cpp"},
                                {"core/README.md", "tape.cpp"},
                                {"nn/README.md", "example.cpp"},
                                {"models/README.md", "own_model.cpp"}};

TEST(Readme, ShowsTheExamplesThatAreCompiledAndRun) {
  for (const auto& [readme, file] : examples) {
    const std::string example = source(std::string("tests/readme/") + file);
    ASSERT_FALSE(example.empty()) << file;
    EXPECT_NE(source(readme).find("```cpp\n" + example + "```"), std::string::npos)
        << readme << " and tests/readme/" << file << " differ";
  }
}

TEST(Readme, ShowsTheOutputOfTheFirstTape) {
  const TemporaryFolder folder;
  const std::string program = RETRACE_BINARY_DIR "/bin/readme_tape", file = folder / "output";
  ASSERT_EQ(std::system(("'" + program + "' > '" + file + "'").c_str()), 0);
  std::string output = contents(file);
  output.resize(output.find("worst error"));  // what follows is rounding, which differs among instruction sets
  EXPECT_NE(source("core/README.md").find("```\n" + output), std::string::npos) << output;
}

TEST(Readme, HasAStudyProgramOf25Lines) { EXPECT_LE(std::ranges::count(source("tests/readme/study.cpp"), '\n'), 25); }

TEST(Readme, ItsPicturesAreThere) {
  const std::string readme = source("README.md");
  for (std::size_t at = 0; (at = readme.find("](models/study/pictures/", at)) != std::string::npos; ++at)
    EXPECT_FALSE(source(readme.substr(at + 2, readme.find(')', at) - at - 2)).empty());
}

TEST(Readme, IsShort) {
  const std::string readme = source("README.md");
  EXPECT_LE(std::ranges::count(readme, '\n'), 130) << "chapters belong in the READMEs of the folders";
}

}  // namespace
}  // namespace retrace
