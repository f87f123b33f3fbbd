// The README's example is tests/readme/example.cpp, word for word; CMake compiles that file and ctest runs it.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Readme, ShowsTheExampleThatIsCompiledAndRun) {
  const std::string root = RETRACE_SOURCE_DIR;
  const std::string example = contents(root + "/tests/readme/example.cpp");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(contents(root + "/README.md").find("```cpp\n" + example + "```"), std::string::npos)
      << "README.md and tests/readme/example.cpp differ";
}

}  // namespace
