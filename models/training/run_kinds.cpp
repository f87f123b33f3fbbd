#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/run_kinds.h>
#include <retrace/models/training/text/text_run.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

std::unique_ptr<Run> prepare_task(const RunOptions& options) { return std::make_unique<TaskRun>(prepare(options)); }

Recipe recipe_of_task(std::string_view task) { return recipe_for(task); }

std::span<const std::string_view> data_tasks() { return std::span(&data_task, 1); }

/// A new kind is a row here.
std::span<const RunKind> run_kinds() {
  static const std::array kinds{
      RunKind{.tasks = task_names, .prepare = prepare_task, .recipe = recipe_of_task},
      RunKind{.tasks = data_tasks, .prepare = prepare_task, .recipe = recipe_of_task},
      text_run_kind(),
  };
  return kinds;
}

bool has_task(const RunKind& kind, std::string_view task) {
  const std::span<const std::string_view> tasks = kind.tasks();
  return std::ranges::find(tasks, task) != tasks.end();
}

const RunKind& kind_of(std::string_view task) {
  for (const RunKind& kind : run_kinds())
    if (has_task(kind, task)) return kind;
  throw ValueError(unknown_name("retrace train", "task", task, run_names(), {}, listed_tasks(run_names())));
}

void check_options(const RunKind& kind, const RunOptions& options) {
  for (const Refusal& refusal : kind.refusals)
    if (refusal.applies(options)) throw ValueError(text("retrace train ", options.task, ": ", refusal.message));
  if (kind.reads_text) return;
  for (const auto& [row, value] : given_options(text_option_rows(), options.text))
    throw ValueError(
        text("retrace train: --", row.name, " is for retrace train text; leave it out for ", options.task));
}

}  // namespace

std::vector<std::string_view> run_names() {
  std::vector<std::string_view> names;
  for (const RunKind& kind : run_kinds()) {
    const std::span<const std::string_view> tasks = kind.tasks();
    names.insert(names.end(), tasks.begin(), tasks.end());
  }
  return names;
}

Recipe recipe_of_run(std::string_view task) { return kind_of(task).recipe(task); }

std::unique_ptr<Run> make_run(const RunOptions& options) {
  const RunKind& kind = kind_of(options.task);
  check_options(kind, options);
  return kind.prepare(options);
}

FitResult train_anew(const RunOptions& options, const std::string& /*name*/) {
  const std::unique_ptr<Run> run = make_run(options);
  run->train();
  return std::move(run->fit);
}

}  // namespace retrace
