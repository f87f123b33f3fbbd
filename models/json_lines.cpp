#include <retrace/models/json_lines.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace retrace {
namespace {

nlohmann::ordered_json table_to_json(const DemoTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::vector<DemoCell>& cells : table.rows) {
    nlohmann::ordered_json row;
    for (std::size_t column = 0; column < cells.size(); ++column)
      std::visit([&](const auto& cell) { row[table.columns[column]] = cell; }, cells[column]);
    rows.push_back(std::move(row));
  }
  return {{"title", table.title},
          {"see", table.see},
          {"rows", std::move(rows)},
          {"finding", table.finding},
          {"holds", table.holds}};
}

nlohmann::ordered_json shortcuts_to_json(const Yardsticks& yardsticks) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const Yardsticks::Shortcut& shortcut : yardsticks.shortcuts) result[shortcut.answer] = shortcut.value;
  return result;
}

/// What every training ends with.
nlohmann::ordered_json result_to_json(const FitOptions& options, const FitResult& result, std::string_view metric,
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
  return nlohmann::ordered_json{{"step", metrics.step},
                                {"loss", metrics.loss},
                                {"gradient_norm", metrics.last_step.gradient_norm},
                                {"learning_rate", metrics.last_step.learning_rate},
                                {"validation_loss", metrics.validation.loss},
                                {text("validation_", metrics.metric_name), metrics.validation.metric},
                                {"samples_per_second", metrics.samples_per_second},
                                {"seconds", metrics.seconds},
                                {"memory_bytes", metrics.memory_bytes},
                                {"lesson", metrics.lesson}}
      .dump();
}

std::optional<Metrics> metrics_from_json(const std::string& line) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Metrics metrics;
  for (const std::string_view name : {metric_name(TaskKind::classification), metric_name(TaskKind::regression),
                                      metric_name(TokenKind::characters), metric_name(TokenKind::words)})
    if (object.contains(text("validation_", name))) metrics.metric_name = name;
  try {
    metrics.step = object.at("step");
    metrics.loss = object.at("loss");
    metrics.last_step = {metrics.loss, object.at("gradient_norm"), object.at("learning_rate")};
    metrics.validation = {object.at("validation_loss"), object.at(text("validation_", metrics.metric_name))};
    metrics.samples_per_second = object.at("samples_per_second");
    metrics.seconds = object.at("seconds");
    metrics.memory_bytes = object.at("memory_bytes");
    metrics.lesson = object.at("lesson");
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return metrics;
}

std::string to_json(const Run& run) {
  const RunOptions& options = run.options;
  const Yardsticks yardsticks = run.task->yardsticks();
  nlohmann::ordered_json object{{"task", options.task},
                                {"model", options.model},
                                {"memory", options.model == "relational-rnn" ? options.memory : ""},
                                {"dtype", name_of(options.dtype)},
                                {"hidden", options.hidden}};
  object.update(result_to_json(options.fit, run.fit, metric_name(run.task->kind()), yardsticks));
  object["curriculum"] = options.fit.curriculum;
  object["original"] = yardsticks.original ? nlohmann::ordered_json(*yardsticks.original) : nlohmann::ordered_json();
  object["shortcuts"] = shortcuts_to_json(yardsticks);
  object["parameters"] = count_parameters(*run.model);
  object["weights_hash"] = weights_hash(*run.model);
  return object.dump();
}

std::string to_json(const TextRun& run) {
  const TextRunOptions& options = run.options;
  nlohmann::ordered_json object{{"task", "text"},
                                {"model", options.model.model},
                                {"text", options.file},
                                {"tokens", name_of(options.tokens)},
                                {"vocabulary", run.data.vocabulary.size()},
                                {"length", options.model.length},
                                {"dtype", name_of(options.dtype)},
                                {"hidden", options.model.hidden}};
  object.update(result_to_json(options.fit, run.fit, metric_name(options.tokens), yardsticks_of(run.data)));
  object["parameters"] = count_parameters(run.model.network);
  object["weights_hash"] = weights_hash(run.model.network);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // a file may have any name
}

std::string to_json(const Writing& writing) {
  return nlohmann::ordered_json{{"model", writing.model},           {"seed", writing.options.seed},
                                {"length", writing.options.length}, {"temperature", writing.options.temperature},
                                {"prompt", writing.options.prompt}, {"text", writing.continuation}}
      .dump();
}

std::string to_json(const Comparison& comparison) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const Contestant& contestant : comparison.contestants) {
    nlohmann::ordered_json tried = nlohmann::ordered_json::array();
    for (const auto& [rate, loss] : contestant.tried)
      tried.push_back({{"learning_rate", rate}, {"validation_loss", loss}});
    models.push_back({{"model", contestant.name},
                      {"hidden", contestant.hidden},
                      {"parameters", contestant.parameters},
                      {"flops_a_sample", contestant.flops_a_sample},
                      {"learning_rate", contestant.learning_rate},
                      {"tried", std::move(tried)},
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
  return nlohmann::ordered_json{{"task", comparison.task->name()},
                                {"metric", metric_name(comparison.task->kind())},
                                {"seeds", comparison.options.seeds},
                                {"steps", fit.steps},
                                {"batch", fit.batch},
                                {"curriculum", fit.curriculum},
                                {"threshold", comparison.threshold},
                                {"models", std::move(models)}}
      .dump();
}

std::string to_json(const std::vector<CheckRow>& rows) {
  std::int64_t cases = 0, elements = 0, failed = 0;
  const CheckRow* worst = nullptr;
  for (const CheckRow& row : rows) {
    cases += row.cases;
    elements += row.elements;
    failed += row.failures.empty() ? 0 : 1;
    if (worst == nullptr || row.worst_error > worst->worst_error) worst = &row;
  }
  return nlohmann::ordered_json{{"cases", cases},
                                {"elements", elements},
                                {"worst_name", worst == nullptr ? "" : worst->name},
                                {"worst_error", worst == nullptr ? 0 : worst->worst_error},
                                {"failed", failed}}
      .dump();
}

std::string to_json(const std::vector<Demo>& demos) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Demo& demo : demos) {
    nlohmann::ordered_json tables = nlohmann::ordered_json::array();
    for (const DemoTable& table : demo.tables) tables.push_back(table_to_json(table));
    list.push_back(
        {{"name", demo.name}, {"title", demo.title}, {"tables", std::move(tables)}, {"holds", demo.holds()}});
  }
  const bool all_hold = std::all_of(demos.begin(), demos.end(), [](const Demo& demo) { return demo.holds(); });
  return nlohmann::ordered_json{{"demos", std::move(list)}, {"holds", all_hold}}.dump();
}

std::string to_json(const ModelInfo& info) {
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  for (const ModelInfo::Weight& weight : info.weights)
    weights.push_back({{"name", weight.name},
                       {"shape", std::vector<std::int64_t>(weight.shape.begin(), weight.shape.end())},
                       {"count", weight.count}});
  return nlohmann::ordered_json{{"model", info.model},
                                {"task", info.task},
                                {"parameters", info.parameters},
                                {"bytes", info.bytes},
                                {"flops_a_sample", info.flops_a_sample},
                                {"batch", info.batch},
                                {"weights", std::move(weights)}}
      .dump();
}

}  // namespace retrace
