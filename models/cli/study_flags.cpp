// The flags of the command that shows a backward pass: study.
#include <retrace/models/cli/command_flags.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/cli/study_flags.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <memory>

namespace retrace {
namespace {

void add_sizes(CLI::App& command, StudyOptions& options) {
  add_count(command, "--tokens", options.tokens, "rows of attention, steps of a recurrent network");
  add_count(command, "--size", options.size, "features of a row, hidden units, features of a slot");
  add_count(command, "--slots", options.slots, "slots of a relational memory");
  add_count(command, "--heads", options.heads, "heads of the attention");
  command.add_flag("--causal", options.causal, "each row of the attention sees only itself and those before it");
  const auto choose_dtype = [&options](const std::string& name) { options.dtype = name == "f32" ? f32 : f64; };
  command.add_option_function<std::string>("--dtype", choose_dtype, "f64 (the default) or f32")
      ->check(CLI::IsMember({"f64", "f32"}));
  add_seed(command, "--seed", options.seed, "seed of the weights and the inputs");
}

/// A word of a command line as a shell reads it.
std::string quoted(const std::string& word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-_./=:,+", c);
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// The command that was given, without the files that it writes.
std::string command_of(const CLI::App& command) {
  constexpr std::array<std::string_view, 4> of_outputs{"--out", "--trace", "--json", "--force"};
  std::string line = "retrace study";
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(of_outputs, name) != of_outputs.end()) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results())
      line += (option->get_positional() ? "" : " " + name) + (is_flag ? "" : " " + quoted(value));
  }
  return line;
}

}  // namespace

void add_study_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<StudyFlags>();
  CLI::App* command = app.add_subcommand(
      "study", "Shows every number of a forward and a backward: step by step, as text, JSON or a page");
  command->add_option("subject", flags->subject,
                      text(joined(subject_names()), "; or a folder or weights of train --out; or a stored trace"));
  const ExpressionOptions function =
      add_expression_options(*command, flags->expression,
                             "instead of a subject, a function of your own: \"softmax(matmul(q, transpose(k)) / 2)\"");
  function.input->needs(function.expression);
  add_sizes(*command, flags->options);
  command->add_flag("--fused", flags->fused, "record fused ops as one, as a training does, not as their parts");
  CLI::Option* example = add_count(*command, "--example", flags->stored.example,
                                   "test sample of a trained model, or segment of its text, from 0", 0);
  command->add_flag("--worst", flags->stored.worst, "the test sample with the largest loss")->excludes(example);
  CLI::Option* flow = command->add_flag(
      "--gradient-flow", flags->gradient_flow,
      "show how the gradient flows back through time: norms at each step, and |d h_t / d x_s| (the page of a small "
      "subject has it anyway)");
  add_count(*command, "--check-elements", flags->check_elements,
            "elements of each gradient to compare with a dual number and a difference (default: 2; of trained models "
            "and long tapes 0)",
            0);
  command->add_option("--trace", flags->trace_file, "file for the trace, which study reads again");
  CLI::Option* dot = command->add_flag("--dot", flags->dot, "print a drawing for Graphviz");
  CLI::Option* whole = command
                           ->add_flag("--all", flags->all,
                                      "print every number of every step as text (in a pipe a long trace is summed up)")
                           ->excludes(dot)
                           ->excludes(flow);
  const CommonOptions common = add_common_flags(
      *command, *flags, {.out = "file for the page, x.html", .json = "print the trace as one JSON object"});
  common.json->excludes(dot)->excludes(whole);
  command->callback([flags, command, &program] {
    for (const CLI::Option* option : command->get_options())
      if (option->count() > 0 && !option->get_lnames().empty()) flags->given.push_back(option->get_lnames().front());
    flags->command = command_of(*command);
    run_study(*flags, program);
  });
}

}  // namespace retrace
