#include <retrace/models/training/fit_options.h>

#include <retrace/models/training/ranks/shard_sum.h>

#include <array>

namespace retrace {

OptionRows<FitOptions> fit_option_rows() {
  constexpr auto group = OptionGroup::training;
  static constexpr std::array rows{
      option<&FitOptions::learning_rate>("learning-rate", group, "peak learning rate (default: the task's)"),
      option<&FitOptions::schedule>(
          "schedule", group,
          "course of the learning rate: cosine, linear, trapezoid, steps or constant (default: the task's)",
          {.words = schedule_names}),
      option<&FitOptions::steps>("steps", group,
                                 "training steps (default: the task's, or as many as --minutes allows)"),
      option<&FitOptions::batch>("batch", group, "samples per batch (default: the task's)"),
      option<&FitOptions::accumulate>("accumulate", group, "batches per update"),
      option<&FitOptions::shards>(
          "shards", OptionGroup::options,
          "parts of a batch, a power of two, whose gradients are added in a fixed order: the same bytes on any number "
          "of ranks (default under mpirun: 8)"),
      option<&FitOptions::optimizer>("optimizer", group,
                                     "adafactor, adam, adamw, lion, muon, nadam, radam, rmsprop or sgd with momentum "
                                     "(default: the task's, mostly adam)",
                                     {.words = optimizer_names}),
      option<&FitOptions::b2>(
          "b2", group,
          "decay of the mean squared gradients, in adam, adamw, muon, nadam and radam (default: the task's)",
          {.range = from_0_to_below_1}),
      option<&FitOptions::weight_decay>("weight-decay", group, "weight decay", {.range = not_negative}),
      option<&FitOptions::warm_up>("warm-up", group, "fraction of the steps in which the learning rate rises",
                                   {.range = from_0_to_1}),
      option<&FitOptions::average>("average", group,
                                   "decay of a moving average of the weights, which is validated, tested and stored",
                                   {.range = from_0_to_below_1}),
      option<&FitOptions::specialise>("specialise", group,
                                      "weight of a loss that keeps each slot of a memory to topics of its own",
                                      {.range = not_negative}),
      option<&FitOptions::clip>("clip", group, "limit of the gradient norm"),
      option<&FitOptions::curriculum>("curriculum", group, "", {.no = "no easier lessons before the full task"}),
      option<&FitOptions::minutes>("minutes", group, "time limit, towards which the learning rate falls; 0: none",
                                   {.range = not_negative, .may_change = true}),
      option<&FitOptions::validate_every>("validate-every", group, "steps from one validation to the next"),
      option<&FitOptions::test_samples>("test-samples", group, "samples in the final test", {.may_change = true}),
      option<&FitOptions::patience>("patience", group, "limit of successive validations without a lower loss; 0: none",
                                    {.range = not_negative, .may_change = true}),
      option<&FitOptions::until>("until", group, "validation metric at which the training stops",
                                 {.range = any_number, .may_change = true})};
  return rows;
}

std::span<const std::string_view> optimizer_names() {
  static constexpr std::array<std::string_view, 9> names{"adafactor", "adam",  "adamw",   "lion", "muon",
                                                         "nadam",     "radam", "rmsprop", "sgd"};
  return names;
}

bool has_b2(std::string_view optimizer) {
  return optimizer.ends_with("adam") || optimizer == "adamw" || optimizer == "muon";
}

std::span<const std::string_view> schedule_names() {
  static constexpr std::array<std::string_view, 5> names{"cosine", "linear", "trapezoid", "steps", "constant"};
  return names;
}

FitOptions with_recipe(FitOptions options, const Recipe& recipe) {
  options.steps = options.steps.value_or(options.minutes > 0 ? no_limit : recipe.steps);
  options.batch = options.batch.value_or(recipe.batch);
  options.optimizer = options.optimizer.value_or(std::string(recipe.optimizer));
  options.learning_rate = options.learning_rate.value_or(recipe.learning_rate);
  options.schedule = options.schedule.value_or(std::string(recipe.schedule));
  if (options.ranks != nullptr) options.shards = options.shards.value_or(8);
  if (has_b2(*options.optimizer)) options.b2 = options.b2.value_or(recipe.b2);
  return options;
}

void check_options(const FitOptions& given) {
  const FitOptions options = with_recipe(given, fit_recipe);
  check_values("fit", given_options(fit_option_rows(), options));
  check_number("fit", "learning_rate", *options.learning_rate, any_number);
  check_number("fit", "validation_samples", options.validation_samples, above_0);
  check_number("fit", "checkpoint_seconds", options.checkpoint_seconds, not_negative);
  if (options.shards) check_shards("fit", *options.shards, options.ranks);
  if (options.shards && *options.batch < *options.shards)
    throw ValueError(text("fit: a batch of ", *options.batch, " cannot be cut into ", *options.shards,
                          " shards; choose a larger batch, or fewer shards"));
  for (const FitGroup& each : options.groups) {
    check_number("fit", "the rate of a group", each.rate, not_negative);
    check_number("fit", "the weight_decay of a group", each.weight_decay.value_or(0), not_negative);
  }
  if (options.b2 && !has_b2(*options.optimizer))
    throw ValueError(
        text("fit: ", *options.optimizer, " has no b2, which is for adam, adamw, muon, nadam and radam; leave it out"));
}

}  // namespace retrace
