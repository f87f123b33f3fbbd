// A search as a table for a terminal, and as JSON.
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/tuning/tuning.h>
#include <retrace/models/training/run_options.h>

namespace retrace {
namespace {

std::string size_in_words(const SizeOptions& sizes) {
  std::string words = sizes.hidden ? std::to_string(*sizes.hidden) : "";
  if (sizes.slots) words += text(words.empty() ? "" : ", ", *sizes.slots, " slots of ", sizes.slot_size.value_or(0));
  return words;
}

std::string cell_of(const Trial& trial) {
  if (!trial.failure.empty()) return "diverged";
  return in_digits(trial.validation.metric, "%.4g") + (trial.on_plateau ? " plateau" : "");
}

std::vector<Row> table(const Tuning& tuning) {
  Row headings{"learning rate", "schedule", "size"};
  for (const std::int64_t steps : tuning.steps) headings.push_back(text(steps, " steps"));
  headings.push_back("test " + tuning.metric);
  headings.push_back("seconds");
  std::vector<Row> rows{headings};
  for (const CandidateResult& result : tuning.results) {
    const Candidate& candidate = result.candidate;
    Row row{in_digits(candidate.learning_rate), candidate.schedule, size_in_words(result.run.model.sizes)};
    for (const Trial& trial : result.trials) row.push_back(cell_of(trial));
    row.resize(headings.size() - 2);
    const Trial& last = result.trials.back();
    row.push_back(last.failure.empty() ? in_digits(last.test.metric, "%.4g") : "");
    row.push_back(in_digits(last.seconds, "%.0f"));
    rows.push_back(std::move(row));
  }
  return rows;
}

JsonObject to_json(const Trial& trial) {
  JsonObject object{{"steps", trial.steps},
                    {"validation_loss", trial.validation.loss},
                    {"validation", trial.validation.metric},
                    {"test", trial.test.metric},
                    {"seconds", trial.seconds},
                    {"on_plateau", trial.on_plateau}};
  if (!trial.failure.empty()) object.add("failure", trial.failure);
  return object;
}

}  // namespace

std::string best_command(const Tuning& tuning) {
  const CandidateResult& best = tuning.results.front();
  RunOptions run = best.run;
  run.fit.steps = best.trials.back().steps;
  return train_command(run);
}

std::string to_text(const Tuning& tuning) {
  const Baselines& baselines = tuning.baselines;
  const std::string ceiling =
      tuning.knows_ceiling ? text("; best possible ", in_digits(baselines.ceiling, "%.4g")) : std::string();
  std::string result = text_table(table(tuning), "lllr");
  result += wrapped(
      text("Validation ", tuning.metric, " after each round, the test after the last one that a candidate ",
           "reached. Chance ", in_digits(baselines.chance, "%.4g"), "; ", baselines.trivial_answer, " ",
           in_digits(baselines.trivial, "%.4g"), ceiling, ". Candidates on a plateau, no better than a wrong answer, ",
           "were not dropped before ", tuning.plateau_steps, " steps."));
  return result + "best: " + best_command(tuning) + "\n";
}

std::string to_json(const Tuning& tuning) {
  std::vector<JsonObject> candidates;
  for (const CandidateResult& result : tuning.results) {
    std::vector<JsonObject> trials;
    for (const Trial& trial : result.trials) trials.push_back(to_json(trial));
    const SizeOptions& sizes = result.run.model.sizes;
    candidates.push_back({{"learning_rate", result.candidate.learning_rate},
                          {"schedule", result.candidate.schedule},
                          {"hidden", sizes.hidden},
                          {"slots", sizes.slots},
                          {"slot_size", sizes.slot_size},
                          {"trials", trials}});
  }
  return JsonObject{
      {"task", tuning.options.run.task}, {"model", tuning.options.run.model.name}, {"metric", tuning.metric},
      {"steps", tuning.steps},           {"plateau_steps", tuning.plateau_steps},  {"candidates", candidates},
      {"best", best_command(tuning)}}
      .text();
}

}  // namespace retrace
