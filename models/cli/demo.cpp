#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/cli/print.h>
#include <retrace/models/training/run.h>

#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

constexpr std::array<std::string_view, 2> demo_tasks{"pair-matching", "object-tracking"};
constexpr std::array<std::string_view, 2> demo_models{"lstm", "relational-rnn"};

std::vector<Run> train_all(Program& program) {
  std::vector<Run> runs;
  for (const std::string_view task : demo_tasks) {
    for (const std::string_view model : demo_models) {
      RunOptions options{.task = std::string(task), .model = std::string(model)};
      options.fit.progress = progress_on(program, text(model, " on ", task));
      Run run = prepare(options);
      train(run);
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

void print_results(std::ostream& out, const std::vector<Run>& runs) {
  print(out, "\n%-16s %-15s %-9s %8s | %8s %8s  %-20s %8s %9s %8s\n", "task", "model", "metric", "RESULT", "chance",
        "trivial", "(the trivial answer)", "best", "original", "seconds");
  for (const Run& run : runs) {
    const Yardsticks yardsticks = run.task->yardsticks();
    print(out, "%-16s %-15s %-9s %8.4f | %8.4f %8.4f  %-20s %8.4f %9.3f %8.1f\n", run.options.task.c_str(),
          run.options.model.c_str(), metric_name(run.task->kind()).data(), run.fit.test.metric, yardsticks.chance,
          yardsticks.trivial, yardsticks.trivial_answer.data(), yardsticks.ceiling,
          yardsticks.original.value_or(std::nan("")), run.fit.seconds);
  }
  out << "\naccuracy: higher is better; mse: lower is better. Results are on 10000 samples never seen in training.\n"
         "chance: an answer at random. best: what the best possible program reaches.\n"
         "original: the best that the NumPy programs reached from which these models come.\n"
      << std::flush;
}

}  // namespace

void run_demo(const DemoFlags& flags, Program& program) {
  if (!flags.name.empty()) return run_named_demo(flags, program);
  program.results << "The gradient of every op and module, held against dual numbers and finite differences:\n\n"
                  << std::flush;
  if (!print_checks(program.results, {})) program.status = 1;
  program.results << "\nTraining, by backpropagation on the same ops:\n" << std::flush;
  print_results(program.results, train_all(program));
}

}  // namespace retrace
