#include <retrace/models/cli/commands.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/evaluation/prediction.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The values that a category has for the answers of one sample, in words.
struct ValuesOfCategory {
  std::string_view name;
  std::map<std::int64_t, std::string> values;
};

std::vector<ValuesOfCategory> categories_of(const Task& task, const Prediction& sample) {
  std::vector<ValuesOfCategory> all;
  for (std::int64_t answer = 0; answer < sample.example.answers(); ++answer) {
    if (!sample.counts(answer)) continue;
    for (const Category& category : task.categories(sample.example, answer)) {
      auto place = std::ranges::find(all, category.name, &ValuesOfCategory::name);
      if (place == all.end()) place = all.insert(place, {category.name, {}});
      place->values[category.value] =
          category.words.empty() ? std::to_string(category.value) : std::string(category.words);
    }
  }
  return all;
}

std::string indented(const std::string& lines) {
  std::string result;
  for (const std::string& line : lines_of(lines)) result += "  " + line + "\n";
  return result;
}

std::string heading(const Task& task) {
  const Baselines baselines = task.baselines();
  const bool labels = task.kind() == TaskKind::classification;
  std::string sizes = text(task.has_lengths() ? "up to " : "", task.sequence_length(), " rows of ", task.input_size(),
                           " features, ", task.output_size(), labels ? " classes" : " numbers to predict");
  if (task.has_lengths() && task.answer_length() > 1)
    sizes += ", several answers";
  else if (task.answer_length() > 1)
    sizes += text(", ", task.answer_length(), " answers");
  std::string line = text(name_of(task.metric()), ": chance ", in_digits(baselines.chance), ", ",
                          baselines.trivial_answer, " ", in_digits(baselines.trivial));
  for (const auto& [answer, value] : baselines.shortcuts) line += text(", ", answer, " ", in_digits(value));
  return wrapped(text(task.name(), ": ", sizes)) +
         wrapped(line + (baselines.ceiling ? text(", best possible ", in_digits(*baselines.ceiling)) : ""));
}

std::string to_text(const Task& task, const Prediction& sample) {
  std::string lines = indented(task.describe(sample.example));
  lines += wrapped(text("answer: ", sample.expected_words(task)), "  ");
  for (const auto& [name, values] : categories_of(task, sample))
    lines += wrapped(
        text(name, ": ", values.begin()->second, values.size() == 1 ? "" : " ... " + values.rbegin()->second), "  ");
  if (const auto row = task.row_to_remember(sample.example)) lines += text("  row to remember: ", *row + 1, "\n");
  return lines;
}

JsonObject to_json(const Task& task, const Prediction& sample) {
  std::vector<JsonText> rows, labels;
  for (std::int64_t t = 0; t < sample.example.length(); ++t) {
    const auto row = sample.example.row(t);
    rows.emplace_back(std::vector<double>(row.begin(), row.end()));
  }
  for (std::int64_t answer = 0; answer < sample.example.answers(); ++answer) {
    if (task.kind() == TaskKind::classification) {
      labels.emplace_back(sample.counts(answer) ? JsonText(sample.example.label(answer)) : JsonText());
    } else {
      const auto numbers = sample.example.numbers(answer);
      labels.emplace_back(std::vector<double>(numbers.begin(), numbers.end()));
    }
  }
  JsonObject categories;
  for (const auto& [name, values] : categories_of(task, sample)) {
    std::vector<std::string> words;
    for (const auto& [value, in_words] : values) words.push_back(in_words);
    categories.add(name, words);
  }
  JsonObject result{
      {"input", task.describe(sample.example)}, {"answer", sample.expected_words(task)}, {"categories", categories}};
  const auto row = task.row_to_remember(sample.example);
  result.add("row_to_remember", row ? JsonText(*row + 1) : JsonText());
  result.add("x", rows), result.add("y", labels);
  return result;
}

JsonObject to_json(const Task& task, const TaskOptions& options) {
  const Baselines baselines = task.baselines();
  JsonObject shortcuts;
  for (const auto& [answer, value] : baselines.shortcuts) shortcuts.add(answer, value);
  return {{"task", task.name()},
          {"task_options", to_json(options)},
          {"metric", name_of(task.metric())},
          {"rows", task.sequence_length()},
          {"features", task.input_size()},
          {"outputs", task.output_size()},
          {"chance", baselines.chance},
          {"trivial", baselines.trivial},
          {"trivial_answer", baselines.trivial_answer},
          {"shortcuts", shortcuts},
          {"ceiling", baselines.ceiling}};
}

}  // namespace

void run_show(const ShowFlags& flags, Program& program) {
  const std::unique_ptr<Task> task = make_task(flags.task, flags.options);
  for (const std::string& remark : task->remarks()) program.messages << remark << std::endl;
  Random random(flags.seed);
  const Batch batch = task->sample(random, flags.count);
  std::vector<Prediction> samples;
  for (std::int64_t k = 0; k < flags.count; ++k) samples.push_back(Prediction{Example(batch, k), task->kind(), {}, {}});
  if (flags.json) {
    JsonObject result = to_json(*task, flags.options);
    std::vector<JsonText> examples;
    for (const Prediction& sample : samples) examples.emplace_back(to_json(*task, sample));
    result.add("examples", examples);
    program.results << result.text() << std::endl;
    return;
  }
  program.results << heading(*task);
  for (std::size_t k = 0; k < samples.size(); ++k)
    program.results << "\nexample " << k + 1 << ":\n" << to_text(*task, samples[k]);
  program.results << std::flush;
}

}  // namespace retrace
