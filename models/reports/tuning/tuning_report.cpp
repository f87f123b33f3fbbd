// A search as a table for a terminal, and as JSON.
#include <retrace/models/reports/comparison/comparison_report.h>
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

JsonObject trial_to_json(const Trial& trial) {
  JsonObject object{{"steps", trial.steps},
                    {"validation_loss", trial.validation.loss},
                    {"validation", trial.validation.metric},
                    {"test", trial.test.metric},
                    {"seconds", trial.seconds},
                    {"on_plateau", trial.on_plateau}};
  if (!trial.failure.empty()) object.add("failure", trial.failure);
  return object;
}

std::vector<FactRow> fact_rows(const Tuning& tuning) {
  std::vector<FactRow> rows;
  for (const auto& [candidate, run, trials] : tuning.results) {
    const SizeOptions& sizes = run.model.sizes;
    const Trial& last = trials.back();
    FactRow& row = rows.emplace_back(FactRow{{"learning_rate", candidate.learning_rate, "learning rate"},
                                             {"schedule", candidate.schedule, "schedule"},
                                             {"", size_in_words(sizes), "size"},
                                             {"hidden", sizes.hidden},
                                             {"slots", sizes.slots},
                                             {"slot_size", sizes.slot_size},
                                             {"trials", list_of(trials, trial_to_json)}});
    for (std::size_t round = 0; round < tuning.steps.size(); ++round)
      row.emplace_back("", round < trials.size() ? cell_of(trials[round]) : "", text(tuning.steps[round], " steps"));
    row.emplace_back("", last.failure.empty() ? in_digits(last.test.metric, "%.4g") : "", "test " + tuning.metric);
    row.emplace_back("", last.seconds, "seconds", "%.0f");
  }
  return rows;
}

}  // namespace

std::string best_command(const Tuning& tuning) {
  const CandidateResult& best = tuning.results.front();
  RunOptions run = best.run;
  run.fit.steps = best.trials.back().steps;
  return train_command(run);
}

std::string to_text(const Tuning& tuning) {
  return text(
      text_table(printed_rows(fact_rows(tuning)), "lllr"),
      wrapped(text("Validation ", tuning.metric, " after each round, the test after the last one that a candidate ",
                   "reached. ", baselines_in_words(tuning.baselines),
                   " Candidates on a plateau, no better than a wrong answer, were not dropped before ",
                   tuning.plateau_steps, " steps.")),
      "best: ", best_command(tuning), "\n");
}

std::string to_json(const Tuning& tuning) {
  const RunOptions& run = tuning.options.run;
  return JsonObject{{"task", run.task},
                    {"model", run.model.name},
                    {"metric", tuning.metric},
                    {"steps", tuning.steps},
                    {"plateau_steps", tuning.plateau_steps},
                    {"candidates", list_of(fact_rows(tuning), object_of)},
                    {"best", best_command(tuning)}}
      .text();
}

}  // namespace retrace
