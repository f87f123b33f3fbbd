#include <retrace/models/json_fields.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/json_text.h>

#include <algorithm>
#include <limits>

namespace retrace {
namespace {

JsonObject table_to_json(const DemoTable& table) {
  std::vector<JsonObject> rows;
  for (const std::vector<DemoCell>& cells : table.rows) {
    JsonObject row;
    for (std::size_t column = 0; column < cells.size(); ++column)
      std::visit([&](const auto& cell) { row.add(table.columns[column], cell); }, cells[column]);
    rows.push_back(std::move(row));
  }
  return {
      {"title", table.title}, {"see", table.see}, {"rows", rows}, {"finding", table.finding}, {"holds", table.holds}};
}

JsonObject shortcuts_to_json(const Yardsticks& yardsticks) {
  JsonObject result;
  for (const Yardsticks::Shortcut& shortcut : yardsticks.shortcuts) result.add(shortcut.answer, shortcut.value);
  return result;
}

/// What every training ends with.
JsonObject result_to_json(const FitOptions& options, const FitResult& result, std::string_view metric,
                          const Yardsticks& yardsticks) {
  return {{"seed", options.seed},
          {"batch", options.batch},
          {"learning_rate", options.learning_rate},
          {"steps", result.steps},
          {"best_step", result.best_step},
          {"stopped_by", name_of(result.stopped_by)},
          {"seconds", result.seconds},
          {"metric", metric},
          {"value", result.test.metric},
          {"test_loss", result.test.loss},
          {"chance", yardsticks.chance},
          {"trivial", yardsticks.trivial},
          {"ceiling", yardsticks.ceiling}};
}

}  // namespace

std::string to_json(const Metrics& metrics) {
  return JsonObject{{"step", metrics.step},
                    {"loss", metrics.loss},
                    {"gradient_norm", metrics.last_step.gradient_norm},
                    {"learning_rate", metrics.last_step.learning_rate},
                    {"validation_loss", metrics.validation.loss},
                    {text("validation_", metrics.metric_name), metrics.validation.metric},
                    {"samples_per_second", metrics.samples_per_second},
                    {"seconds", metrics.seconds},
                    {"memory_bytes", metrics.memory_bytes},
                    {"lesson", metrics.lesson}}
      .text();
}

Metrics metrics_from_json(const std::string& place, const std::string& line) {
  constexpr double not_finite = std::numeric_limits<double>::quiet_NaN();
  const JsonFields fields(place, line);
  const auto number = [&](std::string_view name) { return fields.number_or_null(name, not_finite); };
  Metrics metrics;
  for (const std::string_view name : {metric_name(TaskKind::classification), metric_name(TaskKind::regression),
                                      metric_name(TokenKind::characters), metric_name(TokenKind::words)})
    if (fields.has(text("validation_", name))) metrics.metric_name = name;
  metrics.step = fields.integer("step");
  metrics.loss = number("loss");
  metrics.last_step = {metrics.loss, number("gradient_norm"), number("learning_rate")};
  metrics.validation = {number("validation_loss"), number(text("validation_", metrics.metric_name))};
  metrics.samples_per_second = number("samples_per_second");
  metrics.seconds = number("seconds");
  metrics.memory_bytes = fields.integer("memory_bytes");
  metrics.lesson = fields.integer("lesson");
  return metrics;
}

std::string to_json(const Run& run) {
  const RunOptions& options = run.options;
  const Yardsticks yardsticks = run.task->yardsticks();
  JsonObject object{{"task", options.task},
                    {"model", options.model},
                    {"memory", options.model == "relational-rnn" ? options.memory : ""},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.hidden}};
  object.add(result_to_json(options.fit, run.fit, metric_name(run.task->kind()), yardsticks));
  object.add("curriculum", options.fit.curriculum);
  object.add("original", yardsticks.original);
  object.add("shortcuts", shortcuts_to_json(yardsticks));
  object.add("parameters", count_parameters(*run.model));
  object.add("weights_hash", weights_hash(*run.model));
  return object.text();
}

std::string to_json(const TextRun& run) {
  const TextRunOptions& options = run.options;
  JsonObject object{{"task", "text"},
                    {"model", options.model.model},
                    {"text", options.file},
                    {"tokens", name_of(options.tokens)},
                    {"vocabulary", run.data.vocabulary.size()},
                    {"length", options.model.length},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.model.hidden}};
  object.add(result_to_json(options.fit, run.fit, metric_name(options.tokens), yardsticks_of(run.data)));
  object.add("parameters", count_parameters(run.model.network));
  object.add("weights_hash", weights_hash(run.model.network));
  return object.text();
}

std::string to_json(const Writing& writing) {
  return JsonObject{{"model", writing.model},           {"seed", writing.options.seed},
                    {"length", writing.options.length}, {"temperature", writing.options.temperature},
                    {"prompt", writing.options.prompt}, {"text", writing.continuation}}
      .text();
}

std::string to_json(const Comparison& comparison) {
  std::vector<JsonObject> models;
  for (const Contestant& contestant : comparison.contestants) {
    std::vector<JsonObject> tried;
    for (const auto& [rate, loss] : contestant.tried)
      tried.push_back({{"learning_rate", rate}, {"validation_loss", loss}});
    models.push_back({{"model", contestant.name},
                      {"hidden", contestant.hidden},
                      {"parameters", contestant.parameters},
                      {"flops_a_sample", contestant.flops_a_sample},
                      {"learning_rate", contestant.learning_rate},
                      {"tried", tried},
                      {"values", contestant.values},
                      {"value", contestant.value.mean},
                      {"half_width", contestant.value.half_width},
                      {"difference", contestant.against_first.mean},
                      {"difference_half_width", contestant.against_first.half_width},
                      {"seconds", contestant.seconds},
                      {"seconds_to_threshold", contestant.seconds_to_threshold},
                      {"samples_to_threshold", contestant.samples_to_threshold}});
  }
  const FitOptions& fit = comparison.options.run.fit;
  return JsonObject{{"task", comparison.task->name()},
                    {"metric", metric_name(comparison.task->kind())},
                    {"seeds", comparison.options.seeds},
                    {"steps", fit.steps},
                    {"batch", fit.batch},
                    {"curriculum", fit.curriculum},
                    {"threshold", comparison.threshold},
                    {"models", models}}
      .text();
}

std::string to_json(const std::vector<CheckRow>& rows) {
  std::int64_t cases = 0, without_duals = 0, elements = 0, skipped = 0, failed_elements = 0, undecided = 0, failed = 0;
  const CheckRow* worst = nullptr;
  for (const CheckRow& row : rows) {
    cases += row.cases;
    without_duals += static_cast<std::int64_t>(row.without_duals.size());
    elements += row.elements;
    skipped += row.skipped;
    failed_elements += row.failed_elements;
    undecided += row.undecided;
    failed += row.failures.empty() ? 0 : 1;
    if (worst == nullptr || is_worse(row.worst_error, worst->worst_error)) worst = &row;
  }
  return JsonObject{{"cases", cases},
                    {"without_duals", without_duals},
                    {"elements", elements},
                    {"skipped", skipped},
                    {"failed_elements", failed_elements},
                    {"undecided", undecided},
                    {"worst_name", worst == nullptr ? "" : worst->name},
                    {"worst_error", worst == nullptr ? 0 : worst->worst_error},
                    {"failed", failed}}
      .text();
}

std::string to_json(const std::vector<CheckRow>& checks, const std::vector<Run>& runs) {
  std::string list;
  for (const Run& run : runs) list += text(list.empty() ? "" : ",", to_json(run));
  return text("{\"gradients\":", to_json(checks), ",\"runs\":[", list, "]}");
}

std::string to_json(const std::vector<Demo>& demos) {
  std::vector<JsonObject> list;
  for (const Demo& demo : demos) {
    std::vector<JsonObject> tables;
    for (const DemoTable& table : demo.tables) tables.push_back(table_to_json(table));
    list.push_back({{"name", demo.name}, {"title", demo.title}, {"tables", tables}, {"holds", demo.holds()}});
  }
  const bool all_hold = std::all_of(demos.begin(), demos.end(), [](const Demo& demo) { return demo.holds(); });
  return JsonObject{{"demos", list}, {"holds", all_hold}}.text();
}

std::string to_json(const ModelInfo& info) {
  std::vector<JsonObject> weights;
  for (const ModelInfo::Weight& weight : info.weights)
    weights.push_back({{"name", weight.name},
                       {"shape", std::vector<std::int64_t>(weight.shape.begin(), weight.shape.end())},
                       {"count", weight.count}});
  return JsonObject{{"model", info.model},
                    {"task", info.task},
                    {"parameters", info.parameters},
                    {"bytes", info.bytes},
                    {"flops_a_sample", info.flops_a_sample},
                    {"batch", info.batch},
                    {"weights", weights}}
      .text();
}

}  // namespace retrace
