// A training with dropout: the masks depend on the seed and the step alone, and fall in training steps alone.
#include <gtest/gtest.h>
#include <retrace/core/base/parallel.h>
#include <retrace/models/training/fit.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

class DropoutTraining : public testing::Test {
 protected:
  std::unique_ptr<SequenceModel> make(const std::string& name, double dropout) const {
    Random weights = Random(1).stream("weights");
    return make_model(name,
                      {.input = task_->input_size(),
                       .hidden = 8,
                       .output = task_->output_size(),
                       .slot_size = 8,
                       .slots = 2,
                       .time = task_->sequence_length(),
                       .form = {.dropout = dropout}},
                      weights);
  }
  FitResult train(const std::string& name, double dropout, const FitOptions& options) {
    model_ = make(name, dropout);
    return fit(*model_, *task_, options);
  }
  std::string hash() const { return weights_hash(*model_); }

  const std::unique_ptr<Task> task_ = make_task("recall", {});
  FitOptions options_{
      .steps = 12, .batch = 8, .accumulate = 2, .validate_every = 5, .validation_samples = 64, .test_samples = 64};
  std::unique_ptr<SequenceModel> model_;
};

TEST_F(DropoutTraining, DependsOnTheSeedAndNotOnThreads) {
  for (const char* name : {"lstm", "attention", "rmc", "relational-rnn"}) {
    const FitResult one = train(name, 0.3, options_);
    const std::string expected = hash();
    const int before = threads();
    set_threads(3);
    const FitResult again = train(name, 0.3, options_);
    set_threads(before);
    EXPECT_EQ(hash(), expected) << name;
    EXPECT_EQ(again.losses, one.losses) << name;
    EXPECT_NE(train(name, 0, options_).losses, one.losses) << name;
  }
}

TEST_F(DropoutTraining, IsResumedToTheSameBits) {
  const TemporaryFolder folder;
  options_.checkpoint = folder / "checkpoint.safetensors";
  options_.checkpoint_seconds = 0;
  for (const char* name : {"lstm", "attention"}) {
    const FitResult whole = train(name, 0.3, options_);
    const std::string expected = hash();
    for (const std::int64_t last : {1, 5, 7}) {
      FitOptions options = options_;
      options.on_step = [&](const FitStep& step) { return step.step == last ? FitAction::stop : FitAction::go_on; };
      train(name, 0.3, options);
      options = options_;
      options.resume = true;
      const FitResult rest = train(name, 0.3, options);
      EXPECT_EQ(static_cast<std::int64_t>(rest.losses.size()), *options_.steps - last);
      EXPECT_EQ(hash(), expected) << name << " stopped after " << last;
      EXPECT_EQ(rest.test.loss, whole.test.loss) << name;
    }
  }
}

/// Answers from the last row, and notes the first draw of the generator of each call; -1 without one.
struct Probe {
  Linear out;
  std::shared_ptr<std::vector<double>> draws;

  Probe(const Task& task, std::shared_ptr<std::vector<double>> noted, Random& random)
      : out(task.input_size(), task.output_size(), random), draws(std::move(noted)) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    draws->push_back(random == nullptr ? -1 : random->uniform());
    return out(slice(x, {all, x.dim(1) - 1}));
  }
  void visit(auto&& see) const { see("out", out); }
};

/// With one mask for several batches, what it drops would learn from none of them.
TEST_F(DropoutTraining, EveryBatchHasAGeneratorOfItsOwnAndNoEvaluationHasOne) {
  const auto drawn = [&](std::uint64_t seed) {
    const auto draws = std::make_shared<std::vector<double>>();
    Random weights(1);
    SequenceModelOf<Probe> model(*task_, draws, weights);
    options_.seed = seed;
    fit(model, *task_, options_);
    return *draws;
  };
  const std::vector<double> first = drawn(0), other = drawn(1);
  const std::int64_t evaluations = std::ranges::count(first, -1.0);
  EXPECT_EQ(std::ssize(first) - evaluations, 24) << "12 steps of 2 batches";
  EXPECT_EQ(evaluations, 5) << "before the first step, after steps 5, 10 and 12, and the test";
  std::set<double> different(first.begin(), first.end());
  different.insert(other.begin(), other.end());
  EXPECT_EQ(different.size(), 49U) << "24 of each seed, and -1";
}

}  // namespace
}  // namespace retrace
