// Of every optimiser, average, plateau and generator, every member of the state is saved: a loop that goes on from a
// file equals the uninterrupted one in each of its steps, whichever step the file is of.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

constexpr int all_steps = 12;

struct SmallNet {
  Linear in, out;
  explicit SmallNet(Random& random) : in(16, 17, random), out(17, 2, random) {}
  Tensor operator()(const Tensor& x, Random& random) const { return out(dropout(tanh(in(x)), 0.3, &random)); }
  void visit(auto&& see) const { see("in", in), see("out", out); }
};

using MakeOptimizer = std::function<std::unique_ptr<AnyOptimizer>(const SmallNet&)>;
template <class Any, class Options> MakeOptimizer with(const Options& options) {
  return [options](const SmallNet& net) { return std::make_unique<Any>(decay_groups(net, options)); };
}
template <class Any, class Options> MakeOptimizer without_decay(const Options& options) {
  return [options](const SmallNet& net) { return std::make_unique<Any>(net, options); };
}

/// The metrics that a plateau sees, one a step: with gains, ties, losses within the threshold and NaN.
struct PlateauCase {
  const char* name;
  ReduceOnPlateau plateau;
  std::vector<double> metrics;
};

const std::vector<PlateauCase>& plateaus() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  static const std::vector<PlateauCase> cases{
      {"patience", {.base = 1, .factor = 0.5, .patience = 2}, {5, 6, 6, 4, 4, 4, 4, 4, 4, 4, 3, 3}},
      {"cooldown", {.base = 1, .factor = 0.5, .patience = 0, .cooldown = 3}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
      {"best", {.base = 1, .factor = 0.5, .patience = 1, .threshold = 0.2}, {9, 8, 7, 7, 6, 6, 5, 5, 4.5, 4, 4, 2}},
      {"first", {.base = 1, .factor = 0.5, .patience = 1}, {nan, nan, nan, inf, inf, 7, 7, 7, -1, 1, 1, 1}},
      {"negative", {.base = 1, .factor = 0.5, .patience = 1}, {-1, -2, -1, -1, -3, -3, -2, -2, -4, -4, -4, -4}},
      {"higher",
       {.base = 1, .factor = 0.5, .patience = 1, .better = Better::higher, .cooldown = 1, .min = 0.2},
       {1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3}}};
  return cases;
}

class SavedLoop {
 public:
  SavedLoop(const MakeOptimizer& make, const PlateauCase& plateau)
      : optimizer_(make(net_)), plateau_(plateau.plateau), metrics_(plateau.metrics) {}

  /// One step; the part `in` is frozen for the first four.
  void step() {
    if (optimizer_->steps() < 4)
      freeze(net_.in);
    else
      unfreeze(net_.in);
    Tape tape;
    const Tensor loss = mean(square(net_(random_.normal({4, 16}), random_) - 1));
    tape.backward(loss);
    clip_norm(net_, 1);
    optimizer_->step();
    fast_.update(), slow_.update();
    optimizer_->scale_learning_rates(plateau_(metrics_[static_cast<std::size_t>(count_++)]));
    total_ += loss.item();
  }

  TrainingParts parts() {
    return {.parameters = parameters(net_),
            .optimizers = {optimizer_.get()},
            .averages = {&fast_, &slow_},
            .plateaus = {&plateau_},
            .randoms = {&random_},
            .numbers = {&count_, &total_}};
  }

  /// Everything that the next steps depend on.
  std::string standing() const {
    std::vector<NamedTensor> tensors = parameters(net_);
    const auto add = [&](const std::vector<NamedTensor>& more) {
      tensors.insert(tensors.end(), more.begin(), more.end());
    };
    for (const OptimizerSlot& slot : optimizer_->slots()) add(slot.state);
    add(fast_.averages()), add(slow_.averages());
    Random copy = random_;
    const std::vector<double> numbers{optimizer_->learning_rate(), plateau_.rate(), total_};
    tensors.push_back({"numbers", tensor(numbers, Shape{3}, f64)});
    return text(weights_hash(tensors), " ", copy.bits(), " ", count_);
  }

 private:
  Random random_{7};
  SmallNet net_{random_};
  std::unique_ptr<AnyOptimizer> optimizer_;
  Ema fast_{net_, {.decay = 0.5}}, slow_{net_, {.decay = 0.99, .rising = true}};
  ReduceOnPlateau plateau_;
  std::vector<double> metrics_;
  std::int64_t count_ = 0;
  double total_ = 0;
};

void expect_resumable(const std::string& name, const MakeOptimizer& make, const PlateauCase& plateau) {
  const TemporaryFolder folder;
  const auto file_of = [&](int step) { return folder / ("step" + std::to_string(step)); };
  SavedLoop whole(make, plateau);
  std::vector<std::string> expected;
  for (int step = 0; step < all_steps; ++step) {
    save_training(file_of(step), whole.parts());
    whole.step();
    expected.push_back(whole.standing());
  }
  for (int from = 0; from < all_steps; ++from) {
    SavedLoop rest(make, plateau);
    load_training(file_of(from), rest.parts());
    for (int step = from; step < all_steps; ++step) {
      rest.step();
      ASSERT_TRUE(rest.standing() == expected[static_cast<std::size_t>(step)])
          << name << ": saved after " << from << " steps, step " << step << " differs";
    }
  }
}

TEST(ResumedLoops, OfEveryOptimizerEqualTheUninterruptedOneInEachStep) {
  const std::vector<std::pair<const char*, MakeOptimizer>> optimizers{
      {"Sgd", with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true})},
      {"RmsProp", with<RmsProp>(RmsPropOptions{.momentum = 0.9, .weight_decay = 0.1, .centered = true})},
      {"Adagrad", with<Adagrad>(AdagradOptions{.lr = 0.1, .weight_decay = 0.1})},
      {"Adam", with<Adam>(AdamOptions{.lr = 0.1, .b2 = 0.5, .weight_decay = 0.1, .amsgrad = true})},
      {"AdamW", with<AdamW>(AdamOptions{.lr = 0.1, .weight_decay = 0.1})},
      {"NAdam", with<NAdam>(NAdamOptions{.lr = 0.1, .weight_decay = 0.1})},
      {"RAdam", with<RAdam>(RAdamOptions{.lr = 0.1, .b2 = 0.5, .weight_decay = 0.1})},
      {"Adafactor", with<Adafactor>(AdafactorOptions{.lr = 0.1, .weight_decay = 0.1})},
      {"Lion", with<Lion>(LionOptions{.lr = 0.01, .weight_decay = 0.1})},
      {"Muon", with<Muon>(MuonOptions{.lr = 0.1, .weight_decay = 0.1})}};
  for (const auto& [name, make] : optimizers) expect_resumable(name, make, plateaus().front());
}

TEST(ResumedLoops, OfEveryPlateauEqualTheUninterruptedOneInEachStep) {
  const MakeOptimizer sgd = without_decay<Sgd>(SgdOptions{.lr = 0.1});
  for (const PlateauCase& plateau : plateaus()) expect_resumable(plateau.name, sgd, plateau);
}

/// So that the metrics above show each member: the rate at a step depends on it.
TEST(ResumedLoops, EveryMemberOfAPlateauMattersInOneOfTheCases) {
  using State = ReduceOnPlateau::State;
  const std::vector<std::pair<const char*, std::function<void(State&)>>> losses{
      {"scale", [](State& state) { state.scale = 1; }},
      {"best", [](State& state) { state.best = 0; }},
      {"has_best", [](State& state) { state.has_best = false; }},
      {"without_gain", [](State& state) { state.without_gain = 0; }},
      {"cooldown_left", [](State& state) { state.cooldown_left = 0; }}};
  const auto rates = [](const PlateauCase& of, std::size_t at, const std::function<void(State&)>& lose) {
    ReduceOnPlateau plateau = of.plateau;
    std::vector<double> result;
    for (std::size_t step = 0; step < of.metrics.size(); ++step) {
      if (step == at) lose(plateau.state);
      result.push_back(plateau(of.metrics[step]));
    }
    return result;
  };
  for (const auto& [member, lose] : losses) {
    bool matters = false;
    for (const PlateauCase& plateau : plateaus())
      for (std::size_t at = 1; at < plateau.metrics.size(); ++at)
        matters = matters || rates(plateau, at, lose) != rates(plateau, at, [](State&) {});
    EXPECT_TRUE(matters) << member;
  }
}

/// The number of updates of a parameter, the steps and the rates are in the standing of an optimiser alone.
TEST(ResumedLoops, AStandingComesBackAsItWas) {
  Random random(3);
  const SmallNet net(random);
  Adam adam(decay_groups(net, AdamOptions{.lr = 0.5})), other(decay_groups(net, AdamOptions{.lr = 0.25}));
  adam.resume({.steps = 9, .updates = {1, 2, 3, 4}, .learning_rates = {0.125, 2}});
  other.resume(adam.standing());
  EXPECT_EQ(other.steps(), 9);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(other.slots()[k].updates, static_cast<std::int64_t>(k + 1));
  EXPECT_EQ(other.learning_rate(0), 0.125);
  EXPECT_EQ(other.learning_rate(1), 2);
}

}  // namespace
}  // namespace retrace
