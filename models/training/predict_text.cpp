// Answers as text for other programs: CSV and JSON.
#include <retrace/models/formats/csv_field.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/predict.h>

namespace retrace {
namespace {

std::string header(const Answers& answers, bool probabilities) {
  std::string line = answers.answers_a_sample > 1 ? "sample,answer" : "sample";
  const bool has_labels = answers.kind == TaskKind::classification;
  if (has_labels) line += ",label,probability";
  if (!has_labels || probabilities)
    for (const std::string& name : answers.outputs)
      line += "," + csv_field((has_labels ? "probability of " : "") + name);
  return line + "\n";
}

}  // namespace

std::string to_csv(const Answers& answers, bool probabilities) {
  const bool has_labels = answers.kind == TaskKind::classification;
  const std::size_t width = answers.outputs.size(), per_sample = static_cast<std::size_t>(answers.answers_a_sample);
  std::string lines = header(answers, probabilities);
  for (std::size_t row = 0; row < answers.samples.size() * per_sample; ++row) {
    const double* const values = answers.values.data() + row * width;
    lines += csv_field(answers.samples[row / per_sample]);
    if (per_sample > 1) lines += text(",", row % per_sample + 1);
    if (has_labels) {
      const auto label = static_cast<std::size_t>(answers.labels[row]);
      lines += "," + csv_field(answers.outputs[label]) + "," + in_full(values[label]);
    }
    if (!has_labels || probabilities)
      for (std::size_t k = 0; k < width; ++k) lines += "," + in_full(values[k]);
    lines += "\n";
  }
  return lines;
}

std::string to_json(const Answers& answers) {
  const bool has_labels = answers.kind == TaskKind::classification;
  const std::size_t width = answers.outputs.size(), per_sample = static_cast<std::size_t>(answers.answers_a_sample);
  std::vector<JsonObject> list;
  for (std::size_t row = 0; row < answers.samples.size() * per_sample; ++row) {
    const double* const values = answers.values.data() + row * width;
    JsonObject one{{"sample", answers.samples[row / per_sample]}};
    if (per_sample > 1) one.add("answer", row % per_sample + 1);
    if (has_labels) {
      const auto label = static_cast<std::size_t>(answers.labels[row]);
      one.add("label", answers.outputs[label]);
      one.add("probability", values[label]);
    }
    one.add(has_labels ? "probabilities" : "numbers", std::vector<double>(values, values + width));
    list.push_back(one);
  }
  return JsonObject{{"model", answers.path},
                    {"task", answers.task},
                    {has_labels ? "classes" : "outputs", answers.outputs},
                    {"answers", list}}
      .text();
}

}  // namespace retrace
