#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/nn/optimizers.h>
#include <retrace/nn/schedules.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace retrace {

std::span<const std::string_view> optimizer_names() {
  static constexpr std::array<std::string_view, 4> names{"adam", "adamw", "rmsprop", "sgd"};
  return names;
}

std::span<const std::string_view> schedule_names() {
  static constexpr std::array<std::string_view, 5> names{"cosine", "linear", "trapezoid", "steps", "constant"};
  return names;
}

std::unique_ptr<AnyOptimizer> make_optimizer(const std::vector<NamedTensor>& weights, const FitOptions& options) {
  const AdamOptions adam{.b2 = options.b2, .weight_decay = options.weight_decay};
  if (options.optimizer == "adam") return std::make_unique<Adam>(weights, adam);
  if (options.optimizer == "adamw") return std::make_unique<AdamW>(weights, adam);
  if (options.optimizer == "rmsprop") return std::make_unique<RmsProp>(weights);
  if (options.optimizer == "sgd")
    return std::make_unique<Sgd>(weights, SgdOptions{.momentum = 0.9, .weight_decay = options.weight_decay});
  throw ValueError(unknown_name("fit", "optimizer", options.optimizer, optimizer_names()));
}

double learning_rate_at(std::int64_t step, const FitOptions& options) {
  const std::int64_t steps = options.steps.value();
  const double base = options.learning_rate.value();
  const std::string& schedule = options.schedule.value();
  const std::int64_t warm_up = std::llround(options.warm_up * static_cast<double>(steps));
  const WarmUpCosine cosine{.base = base, .warm_up = warm_up, .steps = steps};
  if (step < warm_up || schedule == "cosine") return cosine(step);
  const std::int64_t since = step - warm_up, length = steps - warm_up;
  const double left = 1 - static_cast<double>(since) / static_cast<double>(length);
  if (schedule == "constant") return base;
  if (schedule == "linear") return base * left;
  if (schedule == "trapezoid") return base * std::min(1.0, 5 * left);
  if (schedule == "steps") return StepDecay{.base = base, .every = std::max<std::int64_t>(length / 5, 1)}(since);
  throw ValueError(unknown_name("fit", "schedule", schedule, schedule_names()));
}

}  // namespace retrace
