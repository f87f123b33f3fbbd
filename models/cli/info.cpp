#include <algorithm>
#include <ostream>

#include <retrace/core/base/printable.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/training/model_info.h>

namespace retrace {

namespace {

/// The models and tasks of a collection.
void list_collection(std::string_view name, bool json, std::ostream& results) {
  const std::vector<std::string_view> models = models_in(name), tasks = tasks_in(name);
  if (json)
    results << JsonObject{{"collection", name}, {"models", models}, {"tasks", tasks}}.text() << std::endl;
  else
    results << wrapped(text("models: ", joined(models))) << wrapped(text("tasks: ", joined(tasks))) << std::flush;
}

}  // namespace

void run_info(const InfoFlags& flags, Program& program) {
  const std::string& name = flags.run.model.name;
  if (const auto known = model_names();
      std::ranges::find(known, name) == known.end() && !(models_in(name).empty() && tasks_in(name).empty()))
    return list_collection(name, flags.json, program.results);
  if (std::ranges::find(task_names(), flags.run.task) == task_names().end())
    throw ValueError(unknown_name("retrace info", "task", flags.run.task, task_names(), {}, listed_tasks()));
  const ModelInfo info = model_info(flags.run);
  if (flags.json) {
    program.results << to_json(info) << std::endl;
    return;
  }
  std::vector<Row> rows{{"weight", "shape", "parameters"}};
  for (const auto& weight : info.weights)
    rows.push_back({printable(weight.name), to_text(weight.shape), std::to_string(weight.count)});
  const auto millions = [](std::int64_t count) { return in_digits(static_cast<double>(count) * 1e-6); };
  program.results << info.model << ", with the sizes for " << info.task << "\n\n"
                  << text_table(rows, "llr") << '\n'
                  << info.parameters << " parameters, " << info.bytes << " bytes\n"
                  << wrapped(text(millions(info.flops_a_sample),
                                  " million floating-point operations per training sample (forward and backward), ",
                                  millions(info.flops_a_sample * info.batch), " million per step of ", info.batch,
                                  " samples"));
  program.results << std::flush;
}

}  // namespace retrace
