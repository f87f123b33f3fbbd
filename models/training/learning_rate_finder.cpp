#include <retrace/core/base/subnormals.h>
#include <retrace/models/training/learning_rate_finder.h>
#include <retrace/models/training/trainer.h>
#include <retrace/nn/optim/number_range.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace retrace {
namespace {

/// Puts the weights back as they were when it was made.
class WeightsKeeper {
 public:
  explicit WeightsKeeper(const std::vector<NamedTensor>& weights) : weights_(weights) {
    for (const NamedTensor& weight : weights) kept_.push_back(weight.tensor.clone());
  }
  WeightsKeeper(const WeightsKeeper&) = delete;
  WeightsKeeper& operator=(const WeightsKeeper&) = delete;
  ~WeightsKeeper() {
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      copy_values(kept_[k], weights_[k].tensor);
      weights_[k].tensor.zero_grad();
    }
  }

 private:
  const std::vector<NamedTensor>& weights_;
  Tensors kept_;
};

void check_search(const LearningRateSearch& search) {
  const auto fail = [](const auto&... words) { throw ValueError(text("find_learning_rate: ", words...)); };
  if (!(search.lowest > 0 && search.highest > search.lowest && std::isfinite(search.highest)))
    fail("the rate goes from ", search.lowest, " to ", search.highest, "; it has to rise from a number above 0");
  if (search.steps < 2) fail("steps is ", search.steps, "; it has to be 2 or more");
  check_number("find_learning_rate", "smoothing", search.smoothing, from_0_to_below_1);
  check_number("find_learning_rate", "stop_at", search.stop_at, {1, above_0.max, NumberRange::Open::min});
}

double rate_of_step(const LearningRateSearch& search, std::int64_t step) {
  const double part = static_cast<double>(step) / static_cast<double>(search.steps - 1);
  return search.lowest * std::pow(search.highest / search.lowest, part);
}

}  // namespace

LearningRateCurve find_learning_rate(Training& training, const LearningRateSearch& search) {
  check_search(search);
  if (training.weights().empty())
    throw ValueError("find_learning_rate: the model has no parameters; name them in its visit()");
  const DtypeScope scope(training.weights().front().tensor.dtype());
  const SubnormalsScope flushed(Subnormals::flushed);
  const WeightsKeeper keeper(training.weights());
  LearningRateCurve curve;
  const std::int64_t delay = std::llround(search.smoothing / (1 - search.smoothing));  // of the average
  double average = 0, weight = 0, lowest = 0;
  const std::atomic<bool>* stop = training.options().stop;
  const auto stopped = [&] { return of_first(training.options().ranks, stop != nullptr && stop->load()); };
  for (std::int64_t step = 0; step < search.steps && !stopped(); ++step) {
    const double rate = rate_of_step(search, step);
    double loss = 0;
    try {
      loss = training.step_at(rate).loss;
    } catch (const DivergenceError&) {
      if (curve.points.empty()) throw;
      break;
    } catch (const Stopped&) {  // by a step in shards, which changed nothing
      break;
    }
    average = search.smoothing * average + (1 - search.smoothing) * loss;
    weight = search.smoothing * weight + (1 - search.smoothing);
    const double smoothed = average / weight;
    curve.points.push_back({rate, loss, smoothed});
    if (step == 0 || smoothed < lowest) {
      lowest = smoothed;
      curve.suggested = rate_of_step(search, std::max<std::int64_t>(step - delay, 0)) / 10;
    }
    if (lowest > 0 && smoothed > search.stop_at * lowest) break;
  }
  return curve;
}

LearningRateCurve find_learning_rate(const SequenceModel& model, const Task& task, const FitOptions& options,
                                     const LearningRateSearch& search) {
  Trainer trainer(model, task, options);
  return find_learning_rate(trainer, search);
}

}  // namespace retrace
