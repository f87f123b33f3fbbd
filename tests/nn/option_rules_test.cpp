// Options of optimisers, schedules, averages and clips are refused where they are given, by one rule for each kind, in
// an error that names the class, the option, its value and the rule.
#include <gtest/gtest.h>

#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <retrace/core/files/safetensors.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Values that break a rule, and values that keep it.
struct RuleCase {
  std::string rule;
  std::vector<double> wrong, right;
};
const RuleCase rate{"a number of 0 or more", {-0.1, not_a_number, infinite, -infinite}, {0, 0.5, 1e30}};
const RuleCase decay{"from 0 to below 1", {-0.1, 1, 1.5, not_a_number, infinite}, {0, 0.99}};
const RuleCase part{"from 0 to 1", {-0.1, 1.5, not_a_number}, {0, 0.25, 1}};
const RuleCase length{"above 0", {0, -1}, {1, 7}};
const RuleCase count{"a number of 0 or more", {-1}, {0, 1}};
const RuleCase limit{"above 0", {0, -1, not_a_number, -infinite}, {0.1, infinite}};

/// An option of a class, and how it is given.
struct OptionRow {
  std::string owner, option;
  RuleCase values;
  std::function<void(double)> give;
};
using Rows = std::vector<OptionRow>;

NamedTensor weight() { return {"w", Parameter(ones({2}))}; }

/// The option of an optimiser's second group.
template <class Any, class Options, class Number> auto group_with(Number Options::*option) {
  return [option](double value) {
    Options options;
    options.*option = static_cast<Number>(value);
    Any(std::vector<ParameterGroup<Options>>{{{weight()}, {}}, {{weight()}, options}});
  };
}

/// The options that an optimiser has, by their names.
template <class Any, class Options> void add_optimizer(Rows& rows, const std::string& owner) {
  const auto add = [&]<class Number>(const char* name, const RuleCase& values, Number Options::*option) {
    rows.push_back({owner, name, values, group_with<Any>(option)});
  };
  add("lr", rate, &Options::lr);
  if constexpr (requires { &Options::momentum; }) add("momentum", decay, &Options::momentum);
  if constexpr (requires { &Options::alpha; }) add("alpha", decay, &Options::alpha);
  if constexpr (requires { &Options::b1; }) add("b1", decay, &Options::b1);
  if constexpr (requires { &Options::b2; }) add("b2", decay, &Options::b2);
  if constexpr (requires { &Options::eps; }) add("eps", rate, &Options::eps);
  if constexpr (requires { &Options::weight_decay; }) add("weight_decay", rate, &Options::weight_decay);
  if constexpr (requires { &Options::min_side; }) add("min_side", length, &Options::min_side);
}

/// An option of a schedule that is called for step 0 or a metric of 0.
template <class Schedule, class Number>
void add(Rows& rows, const char* owner, const char* name, const RuleCase& values, Number Schedule::*option,
         const Schedule& schedule = {}) {
  rows.push_back({owner, name, values, [=](double value) {
                    Schedule changed = schedule;
                    changed.*option = static_cast<Number>(value);
                    changed(0);
                  }});
}

template <class Schedule> void add_phases(Rows& rows, const char* owner) {
  add(rows, owner, "base", rate, &Schedule::base);
  const RuleCase part_of_base{"from 0 to 1", {-1, 1.5, not_a_number}, {0, 0.5, 1}};
  add(rows, owner, "min", part_of_base, &Schedule::min, {.base = 1});
  add(rows, owner, "steps", length, &Schedule::steps);
  const RuleCase part_of_steps{"from 0 to 10", {-1, 11}, {0, 1, 10}};
  add(rows, owner, "warm_up", part_of_steps, &Schedule::warm_up, {.base = 1, .steps = 10});
}

template <class Schedule> void add_step(Rows& rows, const char* owner) {
  rows.push_back({owner, "step", count, [](double value) { Schedule()(static_cast<std::int64_t>(value)); }});
}

Rows optimizer_rows() {
  Rows rows;
  add_optimizer<Sgd, SgdOptions>(rows, "SgdOptions");
  add_optimizer<RmsProp, RmsPropOptions>(rows, "RmsPropOptions");
  add_optimizer<Adagrad, AdagradOptions>(rows, "AdagradOptions");
  add_optimizer<Adam, AdamOptions>(rows, "AdamOptions");
  add_optimizer<AdamW, AdamOptions>(rows, "AdamOptions");
  add_optimizer<NAdam, NAdamOptions>(rows, "NAdamOptions");
  add_optimizer<RAdam, RAdamOptions>(rows, "RAdamOptions");
  add_optimizer<Lion, LionOptions>(rows, "LionOptions");
  add_optimizer<Adafactor, AdafactorOptions>(rows, "AdafactorOptions");
  add_optimizer<Muon, MuonOptions>(rows, "MuonOptions");
  return rows;
}

Rows schedule_rows() {
  Rows rows;
  add(rows, "StepDecay", "base", rate, &StepDecay::base);
  add(rows, "StepDecay", "gamma", part, &StepDecay::gamma);
  add(rows, "StepDecay", "every", length, &StepDecay::every);
  add(rows, "MultiStepDecay", "base", rate, &MultiStepDecay::base);
  add(rows, "MultiStepDecay", "gamma", part, &MultiStepDecay::gamma);
  add_phases<WarmUpCosine>(rows, "WarmUpCosine");
  add_phases<LinearDecay>(rows, "LinearDecay");
  add(rows, "InverseSqrt", "base", rate, &InverseSqrt::base);
  add(rows, "InverseSqrt", "warm_up", length, &InverseSqrt::warm_up);
  const RuleCase part_of_base{"from 0 to 1", {-1, 1.5, not_a_number}, {0, 0.5, 1}};
  const RuleCase growth{"a number of 1 or more", {0, -1}, {1, 2}};
  add(rows, "WarmRestarts", "base", rate, &WarmRestarts::base);
  add(rows, "WarmRestarts", "min", part_of_base, &WarmRestarts::min, {.base = 1});
  add(rows, "WarmRestarts", "period", length, &WarmRestarts::period);
  add(rows, "WarmRestarts", "growth", growth, &WarmRestarts::growth);
  add(rows, "Cyclic", "base", rate, &Cyclic::base);
  add(rows, "Cyclic", "min", part_of_base, &Cyclic::min, {.base = 1});
  add(rows, "Cyclic", "rise", length, &Cyclic::rise);
  add(rows, "Cyclic", "fall", length, &Cyclic::fall);
  add(rows, "Cyclic", "shrink", part, &Cyclic::shrink);
  add(rows, "Cyclic", "gamma", part, &Cyclic::gamma);
  add(rows, "OneCycle", "base", rate, &OneCycle::base);
  add(rows, "OneCycle", "steps", length, &OneCycle::steps);
  add(rows, "OneCycle", "rise", part, &OneCycle::rise);
  add(rows, "OneCycle", "rise", {"from 0 to 0.5", {-0.1, 0.6}, {0.5}}, &OneCycle::rise,
      {.base = 1, .three_phases = true});
  add(rows, "OneCycle", "start_divisor", {"a number of 1 or more", {0.5, 0, -1, not_a_number}, {1, 25}},
      &OneCycle::start_divisor);
  add(rows, "OneCycle", "end_divisor", limit, &OneCycle::end_divisor);
  add_step<StepDecay>(rows, "StepDecay");
  add_step<WarmUpCosine>(rows, "WarmUpCosine");
  add_step<LinearDecay>(rows, "LinearDecay");
  add_step<InverseSqrt>(rows, "InverseSqrt");
  add_step<MultiStepDecay>(rows, "MultiStepDecay");
  add_step<WarmRestarts>(rows, "WarmRestarts");
  add_step<Cyclic>(rows, "Cyclic");
  add_step<OneCycle>(rows, "OneCycle");
  add(rows, "ReduceOnPlateau", "base", rate, &ReduceOnPlateau::base);
  add(rows, "ReduceOnPlateau", "factor", decay, &ReduceOnPlateau::factor);
  add(rows, "ReduceOnPlateau", "patience", count, &ReduceOnPlateau::patience);
  add(rows, "ReduceOnPlateau", "threshold", rate, &ReduceOnPlateau::threshold);
  add(rows, "ReduceOnPlateau", "cooldown", count, &ReduceOnPlateau::cooldown);
  add(rows, "ReduceOnPlateau", "min", rate, &ReduceOnPlateau::min);
  return rows;
}

Rows other_rows() {
  const auto resume_with = [](double steps, double lr) {
    const auto whole = static_cast<std::int64_t>(steps);
    Sgd({weight()}).resume({.steps = whole, .updates = {whole}, .learning_rates = {lr}});
  };
  return {
      {"Ema", "the decay", decay, [](double value) { Ema({weight()}, {.decay = value}); }},
      {"clip_norm", "the limit", limit, [](double value) { clip_norm(Tensors{weight().tensor}, value); }},
      {"clip_value", "the limit", limit, [](double value) { clip_value(Tensors{weight().tensor}, value); }},
      {"set_learning_rate", "the learning rate", rate, [](double lr) { Adam({weight()}).set_learning_rate(lr); }},
      {"set_learning_rate", "the learning rate", rate, [](double lr) { Adam({weight()}).set_learning_rate(lr, 0); }},
      {"scale_learning_rates", "the factor", rate, [](double by) { Adam({weight()}).scale_learning_rates(by); }},
      {"resume", "the learning rate", rate, [=](double lr) { resume_with(1, lr); }},
      {"resume", "the number of steps", count, [=](double steps) { resume_with(steps, 1); }}};
}

void expect_rules(const Rows& rows) {
  for (const OptionRow& row : rows) {
    for (const double value : row.values.wrong) {
      const std::string message = message_of([&] { row.give(value); });
      const std::string want = text(row.owner, ": ", row.option, " is ", value, "; it has to be ", row.values.rule);
      EXPECT_TRUE(message.starts_with(want)) << message << "\ninstead of: " << want;
    }
    for (const double value : row.values.right)
      EXPECT_EQ(message_of([&] { row.give(value); }), nothing_thrown) << row.owner << ": " << row.option;
  }
}

TEST(OptionRules, OfEveryOptimizer) { expect_rules(optimizer_rows()); }
TEST(OptionRules, OfEverySchedule) { expect_rules(schedule_rows()); }
TEST(OptionRules, OfAveragesClipsAndRatesThatAreSet) { expect_rules(other_rows()); }

/// WarmUpCosine(100, 1500) would say nothing of its numbers, and mean a rate of 100.
TEST(OptionRules, ASchedulesOptionsAreNotGivenInParentheses) {
  static_assert(!std::is_constructible_v<StepDecay, double, double>);
  static_assert(!std::is_constructible_v<WarmUpCosine, int, int>);
  static_assert(!std::is_constructible_v<LinearDecay, int, int>);
  static_assert(!std::is_constructible_v<InverseSqrt, double>);
  static_assert(!std::is_constructible_v<OneCycle, double, int>);
  static_assert(!std::is_constructible_v<ReduceOnPlateau, double, double>);
  expect_error<ValueError>(
      [] {
        WarmUpCosine{100, 1500}(0);
      },
      "WarmUpCosine: min is 1500; it has to be from 0 to 100, at most base");
}

TEST(OptionRules, AnErrorSaysWhatToGiveInstead) {
  expect_error<ValueError>([] { Adam({weight()}, {.b1 = 1}); },
                           "AdamOptions: b1 is 1; it has to be from 0 to below 1, such as 0.9");
  expect_error<ValueError>([] { StepDecay{.base = 1, .every = 0}(0); },
                           "StepDecay: every is 0; it has to be above 0, such as 1000; gamma 1 never decays");
  expect_error<ValueError>([] { InverseSqrt{.base = 1, .warm_up = 0}(0); },
                           "InverseSqrt: warm_up is 0; it has to be above 0, and 1 is no warm-up");
}

/// A rate that is refused leaves the one in effect, of every group.
TEST(OptionRules, ARefusedRateChangesNothing) {
  Adam adam({{{weight()}, {.lr = 0.25}}, {{weight()}, {.lr = 0.5}}});
  for (const double wrong : rate.wrong) {
    EXPECT_THROW(adam.set_learning_rate(wrong), ValueError);
    EXPECT_THROW(adam.set_learning_rate(wrong, 1), ValueError);
    EXPECT_THROW(adam.resume({.steps = 3, .updates = {3, 3}, .learning_rates = {1, wrong}}), ValueError);
    EXPECT_THROW(adam.scale_learning_rates(wrong), ValueError);
    EXPECT_EQ(adam.learning_rate(0), 0.25);
    EXPECT_EQ(adam.learning_rate(1), 0.5);
    EXPECT_EQ(adam.steps(), 0);
  }
}

TEST(OptionRules, AScaledRateThatOverflowsIsRefused) {
  Adam adam({{{weight()}, {.lr = 0.25}}, {{weight()}, {.lr = 100}}});
  EXPECT_THROW(adam.scale_learning_rates(1e307), ValueError);
  EXPECT_EQ(adam.learning_rate(0), 0.25);
}

/// Of a file that another version wrote, say. Nothing is changed then.
TEST(OptionRules, ARateInAFileIsRefusedBeforeAnythingIsChanged) {
  const TemporaryFolder folder;
  const std::string path = folder / "training";
  const NamedTensor saved = weight();
  Sgd sgd(std::vector<NamedTensor>{saved}, {.lr = 0.25, .momentum = 0.5});
  const TrainingParts parts{.parameters = {saved}, .optimizers = {&sgd}};
  save_training(path, parts);
  SafetensorsFile file = read_safetensors(path);
  file.tensors.at("optimizer.0.learning_rates").mutable_values<double>()[0] = not_a_number;
  write_safetensors(path, file.tensors, {{"retrace.optimizers", "sgd"}});
  saved.tensor.mutable_values<float>()[0] = 7;
  expect_error<ValueError>(
      [&] { load_training(path, parts); },
      text("load_training: ", path, ": a learning rate in the file is nan; it has to be a number of 0 or more"));
  EXPECT_EQ(saved.tensor.at({0}), 7);
  EXPECT_EQ(sgd.learning_rate(), 0.25);
}

TEST(OptionRules, NesterovNeedsAMomentumOutsideOfTheLearningRate) {
  EXPECT_THROW(Sgd({weight()}, {.nesterov = true}), ValueError);
  EXPECT_THROW(Sgd({weight()}, {.momentum = 0.9, .nesterov = true, .lr_inside = true}), ValueError);
  Sgd({weight()}, {.momentum = 0.9, .nesterov = true});
}

/// An optimiser of one's own may have options without rules.
struct OwnOptions {
  double lr = -1;
  bool allow_missing = false, allow_nonfinite = false, allow_unvisited = false;
  std::vector<const char*> state_names() const { return {}; }
};
class OwnOptimizer : public Optimizer<OwnOptions> {
 public:
  using Optimizer::Optimizer;

 private:
  void update(OptimizerSlot&, const OwnOptions&) override {}
};
TEST(OptionRules, OfAnOptimizerOfOnesOwnAreItsOwn) { EXPECT_EQ(OwnOptimizer({weight()}).learning_rate(), -1); }

template <class Schedule>
constexpr bool takes_bare_numbers =
    std::constructible_from<Schedule, int> || std::constructible_from<Schedule, int, int> ||
    std::constructible_from<Schedule, double, double, int, int>;

TEST(OptionRules, SchedulesTakeNoNumbersWithoutNames) {
  EXPECT_FALSE(takes_bare_numbers<StepDecay>);
  EXPECT_FALSE(takes_bare_numbers<WarmUpCosine>);
  EXPECT_FALSE(takes_bare_numbers<LinearDecay>);
  EXPECT_FALSE(takes_bare_numbers<InverseSqrt>);
  EXPECT_FALSE(takes_bare_numbers<MultiStepDecay>);
  EXPECT_FALSE(takes_bare_numbers<WarmRestarts>);
  EXPECT_FALSE(takes_bare_numbers<Cyclic>);
  EXPECT_FALSE(takes_bare_numbers<OneCycle>);
  EXPECT_FALSE(takes_bare_numbers<ReduceOnPlateau>);
}

}  // namespace
}  // namespace retrace
