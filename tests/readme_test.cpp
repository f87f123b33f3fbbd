// The README's examples are the files in tests/readme, word for word; CMake compiles them and ctest runs them.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Readme, ShowsTheExamplesThatAreCompiledAndRun) {
  const std::string root = RETRACE_SOURCE_DIR;
  for (const char* name : {"example.cpp", "own_model.cpp"}) {
    const std::string example = contents(root + "/tests/readme/" + name);
    ASSERT_FALSE(example.empty()) << name;
    EXPECT_NE(contents(root + "/README.md").find("```cpp\n" + example + "```"), std::string::npos)
        << "README.md and tests/readme/" << name << " differ";
  }
}

}  // namespace
