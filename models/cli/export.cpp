#include <retrace/models/cli/commands.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/onnx/export_sequence_model.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/stored_run.h>

#include <ostream>

namespace retrace {
namespace {

/// Two sequences: any numbers, or ids of tokens.
Tensor example_for(const Task& task, std::int64_t rows) {
  Random random(0);
  if (task.text_data() == nullptr) return random.normal({2, rows, task.input_size()});
  Tensor ids = empty({2, rows}, i64);
  ids.update<std::int64_t>([&](std::span<std::int64_t> values) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::int64_t>(k) % task.output_size();
  });
  return ids;
}

}  // namespace

void run_export(const ExportFlags& flags, Program& program) {
  const StoredRun run = load_run(flags.path, TaskSamples::none);
  if (flags.f64) to(*run.model, f64);
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const std::int64_t rows = flags.rows.value_or(run.task->sequence_length());
  const ExportedModel exported = export_onnx(flags.onnx, *run.model, example_for(*run.task, rows));
  const bool is_text = run.task->text_data() != nullptr;
  const std::string time = exported.fixed_time.empty() ? "time" : text(rows);
  const std::string x =
      is_text ? text("x [batch, ", time, "] (i64)") : text("x [batch, ", time, ", ", run.task->input_size(), "]");
  const std::string y = text("y [batch, ", run.task->output_size(), "]");
  const std::string answers =
      exported.answers_all_rows ? text("answers [batch, time, ", run.task->output_size(), "]") : "";
  if (flags.json) {
    JsonObject result{{"file", flags.onnx}, {"model", run.spec.name}, {"input", x}, {"output", y}};
    if (!answers.empty()) result.add("answers", answers);
    if (!exported.fixed_time.empty()) result.add("fixed_time", exported.fixed_time);
    program.results << result.text() << std::endl;
    return;
  }
  program.results << flags.onnx << ": " << x << " -> " << y << (answers.empty() ? "" : ", " + answers) << std::endl;
  if (!exported.fixed_time.empty())
    program.messages << "the number of rows is fixed at " << rows << ": " << exported.fixed_time << std::endl;
}

}  // namespace retrace
