// What the program says of itself: version, help with examples, man page, completion.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/help_texts.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The commands, as the help of the program lists them.
std::set<std::string> commands() {
  std::set<std::string> names;
  std::istringstream help(run_command({"--help"}).results);
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (listed && line.empty()) break;
    if (listed && line.starts_with("  ") && line[2] != ' ') names.insert(line.substr(2, line.find(' ', 2) - 2));
    if (line == "Subcommands:") listed = true;
  }
  return names;
}

TEST(Version, SaysHowTheProgramWasBuiltAndWhatItUses) {
  const Outcome outcome = run_command({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.messages, "");
  const std::regex expected(
      "retrace \\d+\\.\\d+\\.\\d+\n"
      "commit: (unknown|[0-9a-f]{12}(-changed)?)\n"
      "compiler: \\w+ \\d+\\.[\\d.]+\n"
      "instruction set: (v2|v3|v4|generic) \\(RETRACE_ISA chooses among [v234generic, ]+\\)\n"
      "threads: (\\d+)\n");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(outcome.results, found, expected)) << outcome.results;
  EXPECT_EQ(found[4], std::to_string(threads()));
}

TEST(Help, OfEachCommandHasTwoOrThreeExamplesOfThatCommand) {
  std::map<std::string, int> count;
  for (const CommandExample& example : examples()) {
    const std::string command(example.command);
    ++count[command];
    const std::string help = run_command({command, "--help"}).results;
    EXPECT_NE(help.find(text("  # ", example.meaning, "\n  ", example.line, "\n")), std::string::npos) << help;
  }
  ASSERT_GE(commands().size(), 9u);
  for (const std::string& command : commands()) EXPECT_TRUE(count[command] == 2 || count[command] == 3) << command;
  EXPECT_EQ(count.size(), commands().size());
}

/// A line that runs in moments.
std::string shortened(const CommandExample& example) {
  const std::string line(example.line);
  const std::string moments = " --steps 2 --batch 2 --test-samples 10 --quiet";
  if (line.starts_with("retrace train text")) return line + moments + " --length 8 --hidden 8";
  if (line.starts_with("retrace train") || line.starts_with("retrace compare")) return line + moments;
  if (line.starts_with("retrace ablate")) return line + moments + " --hidden 8";
  return line == "retrace demo" ? line + " --steps 2" : line;
}

TEST(Help, ItsExamplesEndWellInTheirOrder) {
  const TemporaryFolder folder;
  std::ofstream book(folder / "book.txt");
  for (int line = 0; line < 20; ++line) book << "Once upon a time there was a model\n";
  book.close();
  std::ofstream flowers(folder / "flowers.csv");
  flowers << "petal,species\n";
  for (int line = 0; line < 20; ++line) flowers << line << (line < 10 ? ",setosa\n" : ",virginica\n");
  flowers.close();
  const std::filesystem::path programs = std::filesystem::path(RETRACE_PROGRAM).parent_path();
  std::filesystem::create_symlink(programs / "tour_unit_vector", folder / "mine");
  const std::string setting = text("cd '", folder.path().string(), "' && PATH='", programs.string(), "':$PATH && ");
  for (const CommandExample& example : examples())
    EXPECT_EQ(std::system((setting + shortened(example) + " > out 2> err").c_str()), 0) << example.line << "\n"
                                                                                        << file_bytes(folder / "err");
}

TEST(Help, NamesTheEnvironment) {
  const std::string help = run_command({"--help"}).results;
  for (const Meaning& variable : environment())
    EXPECT_NE(help.find(text("  ", variable.word, " ")), std::string::npos) << variable.word;
  for (std::istringstream lines(help.substr(help.find("Exit status:"))); !lines.eof();) {
    std::string line;
    std::getline(lines, line);
    EXPECT_LE(line.size(), 80u) << line;
  }
}

/// Also where a build has some alone, or the machine runs fewer.
TEST(Help, NamesTheInstructionSetsOfThisBuildAndAnUnknownOneIsRefusedWithTheList) {
  std::string names;
  for (const char* name : kernels::built_names()) names += text(names.empty() ? "" : ", ", name);
  const std::string help = on_one_line(run_command({"--help"}).results);
  EXPECT_NE(help.find("the instruction set of the kernels (" + names + ") instead"), std::string::npos) << help;
  const TemporaryFolder folder;
  const std::string command =
      text("RETRACE_ISA=unknown '", RETRACE_PROGRAM, "' gradcheck tanh > '", folder / "out", "' 2>&1");
  EXPECT_NE(std::system(command.c_str()), 0);
  const std::string message = file_bytes(folder / "out");
  EXPECT_NE(message.find("RETRACE_ISA is \"unknown\", which this machine does not have; unset it or choose one of: "),
            std::string::npos)
      << message;
  for (const kernels::KernelTable* table : kernels::supported_kernel_tables())
    EXPECT_NE(message.find(table->name, message.find("choose one of")), std::string::npos) << message;
}

TEST(ManPage, HasAllCommandsFlagsExamplesAndStatuses) {
  const std::string page = run_command({"--generate", "man"}).results;
  EXPECT_TRUE(page.starts_with(".TH retrace 1 ")) << page.substr(0, 80);
  for (const std::string& command : commands()) EXPECT_NE(page.find(".SS " + command + "\n"), std::string::npos);
  for (const char* part : {"\\fB\\-\\-learning\\-rate\\fR", "\\fB130\\fR\nafter Ctrl\\-C", "\\fBNO_COLOR\\fR",
                           "retrace train babi \\-\\-model lstm \\-\\-out runs/babi\n", "\\fB\\-\\-version\\fR"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  std::istringstream lines(page);
  const std::set<std::string> requests{".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", ".RS", ".RE", ".br"};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_NE(line, "") << "an empty line is a paragraph of its own";
    if (line.starts_with('.') || line.starts_with('\'')) {
      EXPECT_TRUE(requests.contains(line.substr(0, line.find(' ')))) << line;
    }
  }
}

/// The words that bash offers for the last word of a line.
std::string offered(const TemporaryFolder& folder, const std::string& words, int last) {
  const std::string script = text("source ", folder / "retrace", "; COMP_WORDS=(", words, "); COMP_CWORD=", last,
                                  "; _retrace; echo \"${COMPREPLY[@]}\"");
  EXPECT_EQ(std::system(text("bash -c '", script, "' > ", folder / "out").c_str()), 0) << script;
  std::string line = file_bytes(folder / "out");
  return line.substr(0, line.find('\n'));
}

TEST(BashCompletion, OffersCommandsFlagsAndNames) {
  const TemporaryFolder folder;
  std::ofstream(folder / "retrace") << run_command({"--generate", "bash-completion"}).results;
  EXPECT_EQ(offered(folder, "retrace tr", 1), "train");
  EXPECT_EQ(offered(folder, "retrace --v", 1), "--version");
  EXPECT_EQ(offered(folder, "retrace train --learn", 2), "--learning-rate");
  EXPECT_EQ(offered(folder, "retrace train ba", 2), text("babi", with_zoo(" babi-qa")));
  for (const char* command : {"train", "compare", "tune", "ablate"})
    EXPECT_EQ(offered(folder, text("retrace ", command, " te"), 2), "text") << command;
  EXPECT_EQ(offered(folder, "retrace show te", 2), "") << "it has no samples";
  EXPECT_EQ(offered(folder, "retrace train babi --model relational-r", 4), "relational-rnn");
  EXPECT_EQ(offered(folder, "retrace train babi --dtype \"\"", 4), "f32 f64");
  EXPECT_EQ(offered(folder, "retrace eval --mod", 2), "") << "a flag of another command";
  EXPECT_EQ(offered(folder, "retrace train babi --out ba", 4), "") << "bash then offers files";
  EXPECT_EQ(offered(folder, "retrace demo rea", 2), "reasoning");
  EXPECT_EQ(offered(folder, "retrace gradcheck softm", 2), "softmax");
  EXPECT_EQ(offered(folder, "retrace gradcheck softmax Ls", 3), "Lstm");
  EXPECT_EQ(offered(folder, "retrace train babi --schedule tra", 4), "trapezoid");
  EXPECT_EQ(offered(folder, "retrace train babi --optimizer mu", 4), "muon");
}

}  // namespace
}  // namespace retrace
