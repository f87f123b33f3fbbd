// The parts of the help, and the options that it has for a task and a model.
#include <gtest/gtest.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/training/run_options.h>
#include <retrace/tests/models/command_line.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The flags in each part of a help, with their descriptions on the lines between.
std::map<std::string, std::vector<std::string>> parts_of_help(const std::vector<std::string>& words) {
  std::istringstream help(run_command(words).results);
  std::map<std::string, std::vector<std::string>> parts;
  std::string part;
  for (std::string line; std::getline(help, line) && line != "Examples:";) {
    EXPECT_LE(line.size(), static_cast<std::size_t>(std::max(80, terminal_columns()))) << line;
    if (!line.starts_with(' ')) part = line;
    if (line.starts_with("  --")) parts[part].push_back(line.substr(2, line.find_first_of(" ,=", 2) - 2));
  }
  return parts;
}

bool has_flag(const std::map<std::string, std::vector<std::string>>& parts, const std::string& flag) {
  return std::ranges::any_of(
      parts, [&](const auto& part) { return std::ranges::find(part.second, flag) != part.second.end(); });
}

TEST(HelpInParts, HasFewOptionsInEach) {
  for (const char* command : {"train", "compare", "ablate", "tune", "info", "show", "eval"}) {
    const auto parts = parts_of_help({command, "--help"});
    for (const auto& [title, flags] : parts) EXPECT_LE(flags.size(), 20u) << command << ", " << title;
  }
  const auto parts = parts_of_help({"train", "--help"});
  for (const char* title : {"Task:", "Model:", "Memory:", "Training:", "Files:", "Options:"})
    EXPECT_TRUE(parts.contains(title)) << title;
}

TEST(HelpInParts, OfATaskHasItsOptionsAndNoOthers) {
  for (const std::string_view task : task_names()) {
    const auto parts = parts_of_help({"train", std::string(task), "--help"});
    for (const OptionInfo& row : task_option_rows())
      EXPECT_EQ(has_flag(parts, text("--", row.name)), has_option(task, row.name)) << task << ", " << row.name;
    EXPECT_FALSE(has_flag(parts, "--text")) << task;
    EXPECT_TRUE(has_flag(parts, "--steps")) << task;
  }
  const auto of_text = parts_of_help({"train", "text", "--help"});
  EXPECT_TRUE(has_flag(of_text, "--tokens"));
  EXPECT_TRUE(has_flag(of_text, "--length"));
  EXPECT_FALSE(has_flag(of_text, "--facts"));
  EXPECT_TRUE(has_flag(parts_of_help({"train", "data", "--help"}), "--label"));
}

TEST(HelpInParts, OfAModelHasItsOptionsAndNoOthers) {
  for (const std::string_view model : model_names()) {
    const auto of_train = parts_of_help({"train", "babi", "--model", std::string(model), "--help"});
    const auto of_info = parts_of_help({"info", std::string(model), "--help"});
    for (const OptionInfo& row : model_option_rows()) {
      const std::string flag = text(row.help.empty() ? "--no-" : "--", row.name);
      const bool has = has_option({.name = std::string(model)}, row.name);
      EXPECT_EQ(has_flag(of_train, flag), has) << model << ", " << flag;
      EXPECT_EQ(has_flag(of_info, flag), has) << model << ", " << flag;
    }
  }
}

TEST(HelpInParts, IsAlsoACommandAndSoIsTheVersion) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"train"}, {"train", "babi"}, {"info", "rmc"}}) {
    std::vector<std::string> command{"help"}, flag = words;
    command.insert(command.end(), words.begin(), words.end());
    flag.emplace_back("--help");
    EXPECT_EQ(run_command(command).results, run_command(flag).results);
    EXPECT_EQ(run_command(command).status, 0);
  }
  EXPECT_EQ(run_command({"version"}).results, run_command({"--version"}).results);
  EXPECT_EQ(run_command({"version"}).status, 0);
  EXPECT_EQ(run_command({"help", "trian"}).status, 2);
  EXPECT_NE(run_command({"help", "trian"}).messages.find("did you mean train"), std::string::npos);
}

}  // namespace
}  // namespace retrace
