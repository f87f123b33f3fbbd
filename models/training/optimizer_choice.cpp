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
  const std::int64_t warm_up = std::llround(options.warm_up * static_cast<double>(options.steps));
  const WarmUpCosine cosine{.base = options.learning_rate, .warm_up = warm_up, .steps = options.steps};
  if (step < warm_up || options.schedule == "cosine") return cosine(step);
  const std::int64_t since = step - warm_up, length = options.steps - warm_up;
  const double left = 1 - static_cast<double>(since) / static_cast<double>(length);
  if (options.schedule == "constant") return options.learning_rate;
  if (options.schedule == "linear") return options.learning_rate * left;
  if (options.schedule == "trapezoid") return options.learning_rate * std::min(1.0, 5 * left);
  if (options.schedule == "steps")
    return StepDecay{.base = options.learning_rate, .every = std::max<std::int64_t>(length / 5, 1)}(since);
  throw ValueError(unknown_name("fit", "schedule", options.schedule, schedule_names()));
}

}  // namespace retrace
