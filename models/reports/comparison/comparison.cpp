#include <retrace/models/formats/error_words.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/comparison/comparison.h>
#include <retrace/models/training/model_info.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace retrace {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr Summary of_no_numbers{.mean = no_number, .deviation = no_number, .half_width = no_number};
constexpr std::uint64_t tuning_seed = 1'000'003;  // never one of the seeds that are compared

/// The rate in "rmc@0.002", which is cut off. Throws ValueError if it is not a number above 0.
std::optional<double> cut_rate(std::string& name) {
  const std::size_t at = name.find('@');
  if (at == std::string::npos) return std::nullopt;
  const std::string words = name.substr(at + 1);
  double rate = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), rate);
  if (error != std::errc() || end != words.data() + words.size() || !(rate > 0) || !std::isfinite(rate))
    throw ValueError(text("compare: '", words, "' in '", name, "' is no learning rate; write a number above 0"));
  name.resize(at);
  return rate;
}

/// The entry of a model by its name, with the options of the comparison that it has.
Entry entry_of(const CompareOptions& options, const std::string& given) {
  std::string name = given;
  Entry entry{.name = given, .run = options.run, .learning_rate = cut_rate(name)};
  const std::size_t colon = name.find(':');
  ModelSpec& model = entry.run.model;
  model.name = name.substr(0, colon);
  if (colon != std::string::npos) model.memory = name.substr(colon + 1);
  model = without_missing_options(model);
  return entry;
}

std::int64_t size_of_model(const RunOptions& run, Match match) {
  const ModelInfo info = model_info(run);
  return match == Match::flops ? info.flops_a_sample : info.parameters;
}

/// Scales hidden and slot size together until the model is as large as the goal, as nearly as even sizes allow. Sizes
/// grow with the scale, so that halving an interval finds it.
void match_size(RunOptions& run, Match match, std::int64_t goal) {
  const ModelSizes given = sizes_of(run.model);
  const std::int64_t shared = std::lcm(std::int64_t{4}, std::max(1, run.model.sizes.heads.value_or(1)));  // by heads
  const auto scaled = [&](std::int64_t quarter_steps) {
    RunOptions candidate = run;
    candidate.model.sizes.hidden = std::max<std::int64_t>(4, given.hidden * quarter_steps / 32 / 4 * 4);
    if (run.model.sizes.slot_size)  // not of a text, whose slots have the hidden size
      candidate.model.sizes.slot_size = std::max(shared, given.slot_size * quarter_steps / 32 / shared * shared);
    return candidate;
  };
  std::int64_t low = 1, high = 32 * 16;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (size_of_model(scaled(middle), match) <= goal ? low : high) = middle;
  }
  const auto miss = [&](std::int64_t hidden) { return std::abs(size_of_model(scaled(hidden), match) - goal); };
  run = scaled(miss(low) <= miss(high) ? low : high);
}

/// The name with a hyphen for what a file should not have in its name: "relational-rnn-gated".
std::string file_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == ' ' || c == '/' || c == '@'; }, '-');
  return name;
}

/// Throws ValueError for a model that is there twice, with the same memory and learning rate.
void check_differ(const std::vector<Entry>& entries) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    const auto is_same = [&](const Entry& other) {
      return file_name(other.name) == file_name(entry->name) ||
             (full_name(other.run.model) == full_name(entry->run.model) && other.learning_rate == entry->learning_rate);
    };
    if (const auto other = std::find_if(entries.begin(), entry, is_same); other != entry)
      throw ValueError(text("compare: ", other->name, " and ", entry->name,
                            " are the same model; leave one out, or give it a learning rate of its own (",
                            full_name(entry->run.model), "@0.002)"));
  }
}

/// The options of the models by name, the sizes of all but the first matched to it.
std::vector<Entry> entries_of(const CompareOptions& options) {
  std::vector<Entry> entries;
  std::vector<ModelSpec> models;
  for (const std::string& name : options.models) {
    entries.push_back(entry_of(options, name));
    entries.back().run = prepare(entries.back().run).options;  // a wrong name is found at once
    models.push_back(entries.back().run.model);
  }
  check_options_of_some("compare", models, options.run.model);
  check_differ(entries);
  if (options.match == Match::none || entries.empty()) return entries;
  const std::int64_t goal = size_of_model(entries.front().run, options.match);
  for (std::size_t k = 1; k < entries.size(); ++k) match_size(entries[k].run, options.match, goal);
  return entries;
}

/// The steps and the batch of the task's recipe, where none are given: the same for every model.
FitOptions with_budget(const RunOptions& run) {
  FitOptions fit = run.fit;
  const Recipe recipe = recipe_for(run.task);
  fit.batch = fit.batch.value_or(recipe.batch);
  if (!fit.steps && fit.minutes == 0) fit.steps = recipe.steps;
  return fit;
}

class Comparing {
 public:
  Comparing(const CompareOptions& options, const std::vector<Entry>& entries) : entries_(entries) {
    if (entries.empty()) throw ValueError("compare: there is no model; name one or more");
    if (options.seeds < 1)
      throw ValueError(text("compare: ", options.seeds, " seeds were asked for; ask for 1 or more"));
    comparison_.options = options;
    const FitOptions budget = with_budget(options.run);
    for (Entry& entry : entries_) {
      entry.run.fit = budget;
      Run run = prepare(entry.run);
      entry.run = run.options;  // with the recipe's numbers where none were chosen
      if (!comparison_.run) comparison_.run = std::move(run);
    }
    for (const std::string& remark : comparison_.run->task->remarks()) options.tell(remark);
    comparison_.options.run = entries_.front().run;
    const Baselines baselines = comparison_.run->task->baselines();
    comparison_.threshold = options.threshold.value_or((baselines.trivial + baselines.ceiling.value_or(0)) / 2);
  }

  Comparison run() {
    for (Entry& entry : entries_) comparison_.results.push_back(untrained(entry));
    choose_learning_rates();
    train_all();
    for (ModelResult& result : comparison_.results) summarise_runs(result);
    return std::move(comparison_);
  }

 private:
  static ModelResult untrained(const Entry& entry) {
    const RunOptions& run = entry.run;
    const ModelInfo info = model_info(run);
    return {.name = entry.name,
            .hidden = run.model.sizes.hidden.value_or(0),
            .parameters = info.parameters,
            .flops_a_sample = info.flops_a_sample,
            .form = run.model.form,
            .optimizer = *run.fit.optimizer,
            .schedule = *run.fit.schedule};
  }

  /// The run of an entry with this seed.
  static NamedRun run_of(const Entry& entry, std::uint64_t seed) {
    NamedRun run{.name = text(file_name(entry.name), "-seed-", seed), .options = entry.run};
    run.options.fit.seed = seed;
    run.options.fit.progress.title = text(entry.name, ", seed ", seed);
    return run;
  }

  /// The rate of each entry: its own, the only one, or the best of those that are tried.
  void choose_learning_rates() {
    const std::vector<double>& rates = comparison_.options.learning_rates;
    std::vector<NamedRun> trials;
    for (Entry& entry : entries_) {
      if (entry.learning_rate)
        entry.run.fit.learning_rate = entry.learning_rate;
      else if (rates.size() == 1)
        entry.run.fit.learning_rate = rates.front();
      else
        for (const double rate : rates) trials.push_back(trial_of(entry, rate));
    }
    const std::vector<RunResult> tried = trials.empty() ? std::vector<RunResult>() : comparison_.options.train(trials);
    auto next = tried.begin();
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      std::optional<double>& chosen = entries_[k].run.fit.learning_rate;
      if (!entries_[k].learning_rate && rates.size() > 1) {
        for (const double rate : rates) comparison_.results[k].tried.emplace_back(rate, validation_loss(*next++));
        chosen =
            std::ranges::min_element(comparison_.results[k].tried, {}, [](const auto& of) { return of.second; })->first;
      }
      comparison_.results[k].learning_rate = *chosen;
    }
  }

  static NamedRun trial_of(const Entry& entry, double rate) {
    NamedRun run = run_of(entry, tuning_seed);
    run.name = text(file_name(entry.name), "-rate-", rate);
    run.options.fit.learning_rate = rate;
    run.options.fit.progress.title = text(entry.name, ", learning rate ", rate);
    return run;
  }

  /// Infinite if the training diverged.
  static double validation_loss(const RunResult& result) {
    return result.divergence.empty() ? result.fit.validation.loss : std::numeric_limits<double>::infinity();
  }

  /// Trains every entry with every seed.
  void train_all() {
    std::vector<NamedRun> runs;
    for (const Entry& entry : entries_)
      for (std::int64_t seed = 0; seed < comparison_.options.seeds; ++seed) {
        runs.push_back(run_of(entry, static_cast<std::uint64_t>(seed)));
        runs.back().may_diverge = &entry != &entries_.front();  // the others are compared with the first
      }
    std::vector<RunResult> trained = comparison_.options.train(runs);
    auto next = trained.begin();
    for (ModelResult& result : comparison_.results)
      for (std::int64_t seed = 0; seed < comparison_.options.seeds; ++seed) add_run(result, seed, std::move(*next++));
  }

  /// Notes what came of a run; of one that diverged, only why.
  void add_run(ModelResult& result, std::int64_t seed, RunResult run) {
    if (!run.divergence.empty()) {
      result.failures.push_back(text("seed ", seed, ": ", without_function(run.divergence)));
      return;
    }
    result.runs.push_back(std::move(run.fit));
    result.values.push_back(result.runs.back().test.metric);
    result.of_first.push_back(comparison_.results.front().values[static_cast<std::size_t>(seed)]);
    note_threshold(result, result.runs.back());
  }

  static void summarise_runs(ModelResult& result) {
    const bool has_runs = !result.runs.empty();
    result.value = has_runs ? summarise(result.values) : of_no_numbers;
    result.against_first = has_runs ? summarise_differences(result.values, result.of_first) : of_no_numbers;
    for (const FitResult& fit : result.runs) result.seconds += fit.seconds / static_cast<double>(result.runs.size());
  }

  void note_threshold(ModelResult& result, const FitResult& run) const {
    const bool lower_is_better = !more_is_better(comparison_.run->task->metric());
    for (const Metrics& metrics : run.history) {
      if (lower_is_better ? metrics.validation.metric > comparison_.threshold
                          : metrics.validation.metric < comparison_.threshold)
        continue;
      result.seconds_to_threshold.push_back(metrics.seconds);
      result.samples_to_threshold.push_back(static_cast<double>(metrics.step * samples_a_step()));
      return;
    }
  }
  std::int64_t samples_a_step() const {
    return *comparison_.options.run.fit.batch * comparison_.options.run.fit.accumulate;
  }

  std::vector<Entry> entries_;
  Comparison comparison_;
};

}  // namespace

Comparison compare(const CompareOptions& options) { return compare(options, entries_of(options)); }

Comparison compare(const CompareOptions& options, const std::vector<Entry>& entries) {
  return Comparing(options, entries).run();
}

}  // namespace retrace
