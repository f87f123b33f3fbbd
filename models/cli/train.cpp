#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/cli/stop_signals.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/training/curves.h>
#include <retrace/nn/module.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>

namespace retrace {
namespace {

std::string summary(const Run& run) {
  const Yardsticks yardsticks = run.task->yardsticks();
  std::array<char, 400> line;
  const int length = std::snprintf(
      line.data(), line.size(), "%s on %s: test %s %.4g after %.0f s (chance %.3g, %s %.3g, best possible %.3g",
                run.options.model.c_str(), run.options.task.c_str(), metric_name(run.task->kind()).data(),
                run.fit.test.metric, run.fit.seconds, yardsticks.chance, yardsticks.trivial_answer.data(),
                yardsticks.trivial, yardsticks.ceiling);
  std::string result(line.data(), static_cast<std::size_t>(length));
  if (yardsticks.original) result += text(", original ", *yardsticks.original);
  return result + ")";
}

void leave_behind(RunDirectory& directory, const Run& run) {
  save(directory.weights().string(), *run.model);
  std::vector<Metrics> history = directory.earlier();
  history.insert(history.end(), run.fit.history.begin(), run.fit.history.end());
  directory.write("curves.svg", to_svg({loss_curves(history), metric_curve(history, *run.task)}));
  directory.write("result.json", to_json(run) + "\n");
}

std::string interruption(const TrainFlags& flags, const Run& run) {
  const std::string head = text("stopped by a signal after step ", run.fit.steps, " of ", run.options.fit.steps);
  if (flags.out.empty()) return head + "; with --out DIR it could be resumed";
  return text(head, "; the same command with --resume goes on from there");
}

}  // namespace

void run_train(const TrainFlags& flags, Program& program) {
  if (flags.threads > 0) set_threads(flags.threads);
  RunOptions options = flags.run;
  options.dtype = flags.dtype == "f64" ? f64 : f32;
  options.fit.curriculum = !flags.no_curriculum;
  if (!flags.quiet)
    options.fit.progress = {&program.messages, program.terminal, text(options.model, " on ", options.task)};
  const StopSignals signals;
  options.fit.stop = &signals.flag();
  Run run = prepare(options);  // a wrong name is found before a folder is made
  std::optional<RunDirectory> directory;
  if (!flags.out.empty()) {
    directory.emplace(flags.out, options.fit.resume);
    run.options.fit.metrics = &directory->metrics();
    run.options.fit.checkpoint = directory->checkpoint().string();
  }
  train(run);
  if (directory) leave_behind(*directory, run);
  if (run.fit.stopped_by == StopReason::signal) program.messages << interruption(flags, run) << std::endl;
  if (!flags.quiet && !run.fit.history.empty()) program.messages << to_text(metric_curve(run.fit.history, *run.task));
  program.results << (flags.json ? to_json(run) : summary(run)) << std::endl;
}

}  // namespace retrace
