// Tensors of a program as GDB shows them. The library has no debug symbols here, as if it were installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

namespace {

// All that GDB prints, and all that it complains of.
std::string gdb(const std::string& commands) {
  const std::string command = "gdb -nx -batch -ex 'set auto-load off' -ex 'source " RETRACE_SOURCE_DIR
                              "/core/gdb/retrace.py' " +
                              commands + " " RETRACE_BINARY_DIR "/bin/debugged 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  for (int letter = 0; pipe != nullptr && (letter = std::fgetc(pipe)) != EOF;) output += static_cast<char>(letter);
  pclose(pipe);
  return output;
}

TEST(Gdb, ShowsTensors) {
  std::string commands =
      "-ex 'break look' -ex run -ex 'set var none.node_ = 16' -ex 'print none' -ex 'set var shape.rank_ = 99' "
      "-ex 'print shape' -ex 'break stop' -ex continue -ex up";
  const std::pair<const char*, const char*> shown[] = {
      {"none", "an undefined tensor"},
      {"number", "f64[] = {2.5}"},
      {"ids", "i64[1, 2] = {-3, 7}"},
      {"many", "f32[100] = {0, 1, 2, 3, 4, 5, 6, 7, ...}"},
      {"empty", "f32[0, 3] = {}"},
      {"duals", "dual[2] = {1, 3}"},
      {"named", "a name on the heap, with 30 bytes f32[1] = {0}"},
      {"row", "row f32[2] = {7, 8}, has a gradient"},
      {"linear.weight", "f32[1, 2] = {0.5, -1}, wants a gradient"},
      {"shape", "[4, 5]"},
  };
  for (const auto& variable : shown) commands += std::string(" -ex 'print ") + variable.first + "'";
  const std::string output = gdb(commands);
  for (const char* reason : {"gdb: not found", "Python scripting is not supported", "ptrace"})
    if (output.find(reason) != std::string::npos) GTEST_SKIP() << "there is no gdb here that works: " << reason;
  EXPECT_NE(output.find("$1 = no tensor: it is not made yet, or no more\n"), std::string::npos) << output;
  EXPECT_NE(output.find("$2 = no shape: it is not made yet, or no more\n"), std::string::npos) << output;
  int number = 2;
  for (const auto& variable : shown) {
    const std::string line = "$" + std::to_string(++number) + " = " + variable.second + "\n";
    EXPECT_NE(output.find(line), std::string::npos) << line << output;
  }
}

}  // namespace
