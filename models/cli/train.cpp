#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/json_lines.h>
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
  std::snprintf(line.data(), line.size(),
                "%s on %s: test %s %.4g after %.0f s (chance %.3g, %s %.3g, best possible %.3g, original %.3g)",
                run.options.model.c_str(), run.options.task.c_str(), metric_name(run.task->kind()).data(),
                run.fit.test.metric, run.fit.seconds, yardsticks.chance, yardsticks.trivial_answer.data(),
                yardsticks.trivial, yardsticks.ceiling, yardsticks.original);
  return line.data();
}

}  // namespace

void run_train(const TrainFlags& flags, Program& program) {
  if (flags.threads > 0) set_threads(flags.threads);
  RunOptions options = flags.run;
  options.dtype = flags.dtype == "f64" ? f64 : f32;
  Run run = prepare(options);  // a wrong name is found before a folder is made
  std::optional<RunDirectory> directory;
  if (!flags.out.empty()) directory.emplace(flags.out);
  ProgressOptions progress;
  if (!flags.quiet) progress = {&program.messages, program.terminal, text(flags.run.model, " on ", flags.run.task)};
  train(run, directory ? &directory->metrics() : nullptr, progress);
  if (directory) {
    save(directory->weights().string(), *run.model);
    directory->write_result(to_json(run));
  }
  program.results << (flags.json ? to_json(run) : summary(run)) << std::endl;
}

}  // namespace retrace
