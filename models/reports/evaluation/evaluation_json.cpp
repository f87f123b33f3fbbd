#include <retrace/models/reports/evaluation/evaluation_document.h>

#include <cmath>
#include <cstdlib>

namespace retrace {
namespace {

std::vector<JsonText> categories_to_json(const std::vector<CategoryTable>& tables, Metric metric) {
  return list_of(tables, [&](const CategoryTable& table) {
    return JsonObject{{"name", table.name}, {"rows", list_of(fact_rows(table, metric), object_of)}};
  });
}

JsonText every_difficulty_to_json(const Report& report) {
  const Estimate& metric = report.of_every_difficulty;
  if (metric.answers == 0) return {};
  JsonObject object = object_of(fact_row(metric, name_of(report.measure), "%.4g"));
  object.add("answers", metric.answers);
  object.add("categories", categories_to_json(report.of_every_difficulty_categories, report.measure));
  return object;
}

JsonObject failure_to_json(const Failure& failure, TaskKind kind) {
  JsonObject object{{"sample", failure.sample}};
  if (!failure.place.empty()) object.add("place", failure.place);
  object.add({{"input", failure.input}, {"expected", failure.expected}, {"given", failure.given}});
  if (kind == TaskKind::classification) {
    object.add("probability_of_expected", failure.probability_of_expected);
    object.add("probability_of_given", failure.probability_of_given);
  } else {
    object.add("squared_error", failure.error);
  }
  return object;
}

JsonObject around_to_json(const AroundTheRow& around) {
  return {{"samples", around.samples},
          {"to_input_before", around.to_input_before},
          {"to_input_at", around.to_input_at},
          {"to_input_after", around.to_input_after},
          {"to_slot_after", around.to_slot_after}};
}

JsonObject memory_to_json(const MemoryUse& use) {
  const Specialisation& special = use.specialisation;
  return {{"samples", use.samples},
          {"steps", use.steps},
          {"slots", list_of(fact_rows(use), object_of)},
          {"attends_to_input", use.columns > use.slots},
          {"input_attention", use.input_attention},
          {"attention_entropy", use.attention_entropy},
          {"effective_slots", use.effective_slots},
          {"effective_written", use.effective_written},
          {"slot_entropy", special.slot_entropy},
          {"slot_told_by_step", special.by_time},
          {"slot_told_by_topic", special.by_topic},
          {"around_the_row_to_remember", optional_of(use.around, around_to_json)},
          {"gates", list_of(use.gates,
                            [](const GateUse& gate) {
                              return JsonObject{{"name", gate.name}, {"mean", gate.mean}, {"slots", gate.of_slots}};
                            })},
          {"attention_over_time", use.attention_over_time},
          {"written_over_time", use.written_over_time}};
}

/// Six digits, which are all that an f32 has.
std::vector<double> rounded(const std::vector<double>& numbers) {
  std::vector<double> result;
  for (const double number : numbers)
    result.push_back(std::isfinite(number) ? std::strtod(in_digits(number, "%.6g").c_str(), nullptr) : number);
  return result;
}

JsonObject head_to_json(const AttentionHead& head) {
  return {{"layer", head.layer},
          {"step", head.step},
          {"head", head.head},
          {"rows", head.rows},
          {"columns", head.columns},
          {"weights", rounded(head.weights)},
          {"gradients", rounded(head.gradients)},
          {"masked", list_of(head.masked, [](bool masked) { return JsonText(masked ? 1 : 0); })}};
}

JsonObject attention_to_json(const AttentionOfSample& attention) {
  return {{"input", attention.input},
          {"expected", attention.expected},
          {"given", attention.given},
          {"heads", list_of(attention.heads, head_to_json)}};
}

JsonObject example_to_json(const AttentionExample& example) {
  return {{"input", example.input},     {"expected", example.expected},
          {"given", example.given},     {"row_to_remember", example.row_to_remember},
          {"rows", example.rows},       {"slots", example.slots},
          {"columns", example.columns}, {"attention", example.weights}};
}

JsonObject learning_to_json(const KeptLearning& learning) {
  return {{"value", learning.metric.value},
          {"low", learning.metric.low},
          {"high", learning.metric.high},
          {"learning_rate", learning.options.learning_rate},
          {"difference_in_bits", learning.difference.mean},
          {"difference_half_width", learning.difference.half_width}};
}

void add_text(JsonObject& object, const TextTest& test) {
  const auto passage = [](const TextPassage& each) {
    return JsonObject{{"line", each.line}, {"value", each.value}, {"text", each.text}};
  };
  object.add({{"text", test.file},
              {"tokens", name_of(test.kind)},
              {"predicted", test.tokens},
              {"passages", list_of(test.passages, passage)},
              {"keep_learning", optional_of(test.learning, learning_to_json)}});
}

}  // namespace

std::string to_json(const Report& report) {
  const auto failure = [&](const Failure& each) { return failure_to_json(each, report.kind); };
  JsonObject object{
      {"task", report.task},
      {"task_options", to_json(report.task_options)},
      {"model", report.model},
      {"memory_kind", report.memory_kind},
      {"path", report.path},
      {"parameters", report.parameters},
      {"step", report.step},
      {"seed", report.seed},
      {"samples", report.samples},
      {"input", report.input.empty() ? JsonText() : JsonText(report.input)},
      {"as_in_training", report.as_in_training},
      {"metric", name_of(report.measure)},
      {"value", report.evaluation.metric},
      {"low", report.metric.low},
      {"high", report.metric.high},
      {"loss", report.evaluation.loss},
      {"chance", report.baselines.chance},
      {"trivial", report.baselines.trivial},
      {"ceiling", report.baselines.ceiling},
      {"classes", report.classes.rows.empty() ? JsonText() : list_of(fact_rows(report.classes), object_of)},
      {"categories", categories_to_json(report.categories, report.measure)},
      {"of_every_difficulty", every_difficulty_to_json(report)},
      {"failed", report.failure_count},
      {"failures", list_of(report.failures, failure)},
      {"memory", optional_of(report.memory, memory_to_json)},
      {"examples", list_of(report.examples, example_to_json)},
      {"attention", optional_of(report.attention, attention_to_json)}};
  if (report.text) add_text(object, *report.text);
  return object.text();
}

}  // namespace retrace
