#include <retrace/models/checks/checks.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/training/run.h>

#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

constexpr std::array<std::string_view, 2> demo_tasks{"pair-matching", "object-tracking"};
constexpr std::array<std::string_view, 2> demo_models{"lstm", "relational-rnn"};

std::vector<Run> train_all(std::optional<std::int64_t> steps, Program& program) {
  std::vector<Run> runs;
  for (const std::string_view task : demo_tasks) {
    for (const std::string_view model : demo_models) {
      RunOptions options{.task = std::string(task), .model = {.name = std::string(model)}};
      options.fit.steps = steps;
      options.fit.progress = progress_on(program, text(model, " on ", task));
      Run run = prepare(options);
      run.train();
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

void print_results(std::ostream& out, const std::vector<Run>& runs) {
  std::vector<Row> rows{
      {"task", "model", "metric", "RESULT", "chance", "trivial answer", "best", "original", "seconds"}};
  for (const Run& run : runs) {
    const Baselines baselines = run.task->baselines();
    const auto digits = [](double number) { return in_digits(number, "%.4f"); };
    rows.push_back({run.options.task, run.options.model.name, std::string(name_of(run.task->metric())),
                    digits(run.fit.test.metric), digits(baselines.chance), digits(baselines.trivial),
                    digits(baselines.ceiling.value()), in_digits(baselines.original.value_or(std::nan("")), "%.3f"),
                    in_digits(run.fit.seconds, "%.1f")});
  }
  out << '\n' << text_table(rows, "lllr");
  out << '\n'
      << wrapped(
             "accuracy: higher is better; mse: lower is better. Results are on 10000 samples that were not used in "
             "training.")
      << "chance: a random answer. best: the result of the best possible program.\n";
  for (std::size_t k = 0; k < runs.size(); k += demo_models.size())
    out << "trivial answer on " << runs[k].options.task << ": " << runs[k].task->baselines().trivial_answer << ".\n";
  out << wrapped("original: the best result of the NumPy programs from which these models come.") << std::flush;
}

/// {gradients: the summary of the checks, runs: [the runs]}.
std::string results_to_json(const std::vector<CheckRow>& checks, const std::vector<Run>& runs) {
  std::string list;
  for (const Run& run : runs) list += text(list.empty() ? "" : ",", run.json());
  return text("{\"gradients\":", to_json(checks), ",\"runs\":[", list, "]}");
}

}  // namespace

void run_demo(const DemoFlags& flags, Program& program) {
  if (!flags.name.empty()) return run_named_demo(flags, program);
  std::ostream& out = flags.json ? program.messages : program.results;
  out << "The gradient of every op and module, compared with dual numbers and finite\ndifferences:\n\n" << std::flush;
  const std::vector<CheckRow> checks = run_checks();
  if (!print_checks(out, checks)) program.status = 1;
  out << "\nTraining, by backpropagation on the same ops:\n" << std::flush;
  const std::vector<Run> runs = train_all(flags.steps, program);
  print_results(out, runs);
  if (flags.json) program.results << results_to_json(checks, runs) << std::endl;
}

}  // namespace retrace
