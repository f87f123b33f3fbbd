// Every command that the READMEs show ends with status 0.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

/// The lines of all ```sh blocks of a README, without their comments.
std::vector<std::string> shell_lines(const std::string& path) {
  std::ifstream readme(RETRACE_SOURCE_DIR "/" + path);
  std::vector<std::string> lines;
  bool is_shell = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("```"))
      is_shell = line == "```sh";
    else if (is_shell)
      lines.push_back(line.substr(0, line.find(" #")));
  }
  return lines;
}

/// Commands that install packages and build this program are not run.
bool is_excluded(const std::string& line) { return line.starts_with("apt-get update"); }

/// Appends flags for a very short training to commands that train; other commands run as they are.
std::string shortened(const std::string& line) {
  const auto is = [&line](std::string_view command) {
    return line.starts_with(text("retrace ", command)) || line.starts_with(text("own_model ", command));
  };
  const std::string moments = " --steps 2 --batch 2 --test-samples 10 --quiet";
  if (is("train text")) return line + moments + " --length 8 --hidden 8";
  if (is("train") || is("compare")) return line + moments;
  if (is("tune")) return line + moments + " --rounds 1";
  if (is("ablate")) return line + moments + " --seeds 1 --vectors 3 --dims 2 --factors gate";
  return line;
}

/// Runs the commands in order in one folder, since some continue from the results of others.
TEST(ReadmeCommands, AllEndWell) {
  const TemporaryFolder folder;
  std::ofstream text_file(folder / "FILE");  // for --text FILE
  for (int line = 0; line < 20; ++line) text_file << "Once upon a time there was a model\n";
  text_file.close();
  std::ofstream flowers(folder / "flowers.csv"), recordings(folder / "recordings.csv");
  flowers << "petal,species\n", recordings << "recording,x,y,gesture\n";
  for (int line = 0; line < 20; ++line) {
    flowers << line << (line < 10 ? ",setosa\n" : ",virginica\n");
    for (int step = 0; step < 2; ++step) recordings << line << "," << step << "," << line % 2 << ",wave\n";
  }
  flowers.close(), recordings.close();
  const std::string programs = std::filesystem::path(RETRACE_PROGRAM).parent_path();
  const std::string setting = text("cd '", folder.path().string(), "' && PATH='", programs, "':$PATH && ");
  int run = 0;
  std::vector<const char*> readmes{"README.md", "models/README.md"};
  if (has_zoo()) readmes.push_back("models/zoo/README.md");
  for (const char* readme : readmes)
    for (const std::string& line : shell_lines(readme)) {
      if (is_excluded(line)) continue;
      const std::string command = shortened(line);
      EXPECT_EQ(std::system((setting + command + " > out 2> err").c_str()), 0) << command << "\n"
                                                                               << std::ifstream(folder / "err").rdbuf();
      ++run;
    }
  EXPECT_GE(run, 18) << "the lines were not found";
}

}  // namespace
}  // namespace retrace
