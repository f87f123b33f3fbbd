#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/nn/optim/adafactor.h>
#include <retrace/nn/optim/muon.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/nn/optim/schedules.h>

#include <algorithm>
#include <cmath>

namespace retrace {

namespace {

/// The weights by group; the last list is of those in none.
std::vector<std::vector<NamedTensor>> sorted_by_group(const std::vector<NamedTensor>& weights,
                                                      const std::vector<FitGroup>& groups) {
  std::vector<std::vector<NamedTensor>> lists(groups.size() + 1);
  for (const NamedTensor& weight : weights) {
    const auto names_it = [&](const FitGroup& group) { return weight.name.find(group.names) != std::string::npos; };
    lists[static_cast<std::size_t>(std::ranges::find_if(groups, names_it) - groups.begin())].push_back(weight);
  }
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (lists[k].empty())
      throw ValueError(text("fit: no parameter is in the group '", groups[k].names,
                            "'; it takes those whose names contain this and that no group before it took"));
  return lists;
}

template <class Chosen, class Options>
std::unique_ptr<AnyOptimizer> in_groups(const std::vector<NamedTensor>& weights, const FitOptions& fit,
                                        Options options) {
  options.lr = 1;
  options.weight_decay = fit.weight_decay;
  auto lists = sorted_by_group(weights, fit.groups);
  std::vector<ParameterGroup<Options>> result;
  for (std::size_t k = 0; k < fit.groups.size(); ++k) {
    Options its = options;
    its.lr = fit.groups[k].rate;
    its.weight_decay = fit.groups[k].weight_decay.value_or(its.weight_decay);
    result.push_back({std::move(lists[k]), its});
  }
  result.push_back({std::move(lists.back()), options});
  return std::make_unique<Chosen>(result);
}

}  // namespace

std::unique_ptr<AnyOptimizer> make_optimizer(const std::vector<NamedTensor>& weights, const FitOptions& options) {
  const std::string& name = options.optimizer.value();
  if (name == "adafactor") return in_groups<Adafactor>(weights, options, AdafactorOptions{});
  if (name == "adam") return in_groups<Adam>(weights, options, AdamOptions{.b2 = *options.b2});
  if (name == "adamw") return in_groups<AdamW>(weights, options, AdamOptions{.b2 = *options.b2});
  if (name == "lion") return in_groups<Lion>(weights, options, LionOptions{});
  if (name == "muon") return in_groups<Muon>(weights, options, MuonOptions{.b2 = *options.b2});
  if (name == "nadam") return in_groups<NAdam>(weights, options, NAdamOptions{.b2 = *options.b2});
  if (name == "radam") return in_groups<RAdam>(weights, options, RAdamOptions{.b2 = *options.b2});
  if (name == "rmsprop") return in_groups<RmsProp>(weights, options, RmsPropOptions{});
  if (name == "sgd") return in_groups<Sgd>(weights, options, SgdOptions{.momentum = 0.9});
  throw ValueError(unknown_name("fit", "optimizer", name, optimizer_names()));
}

double learning_rate_at(std::int64_t step, const FitOptions& options) {
  const std::int64_t steps = options.steps.value();
  const double base = options.learning_rate.value();
  const std::string& schedule = options.schedule.value();
  const std::int64_t warm_up = std::llround(options.warm_up * static_cast<double>(steps));
  const WarmUpCosine cosine{.base = base, .warm_up = warm_up, .steps = steps};
  if (step < warm_up || schedule == "cosine") return cosine(step);
  const std::int64_t since = step - warm_up, length = std::max<std::int64_t>(1, steps - warm_up);
  const double left = 1 - static_cast<double>(since) / static_cast<double>(length);
  if (schedule == "constant") return base;
  if (schedule == "linear") return base * left;
  if (schedule == "trapezoid") return base * std::min(1.0, 5 * left);
  if (schedule == "steps") return StepDecay{.base = base, .every = std::max<std::int64_t>(length / 5, 1)}(since);
  throw ValueError(unknown_name("fit", "schedule", schedule, schedule_names()));
}

}  // namespace retrace
