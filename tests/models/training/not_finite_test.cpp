// A training whose numbers stop being finite says where, and leaves its last good checkpoint alone.
#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/not_finite.h>
#include <retrace/models/training/training.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/module/names.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/temporary_folder.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>

namespace retrace {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<NotFinite> search(const Tensor& x, Tensor (*loss_of)(const Tensor&)) {
  Names names;
  names.add(x.watch(), "scores");
  Tape tape({.keep = true});
  const Tensor loss = loss_of(x);
  return first_not_finite(tape, loss, names);
}

TEST(NotFinite, TheFirstOverflowIsNamedWithOpTensorIndexAndValue) {
  const std::optional<NotFinite> found = search(tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 800.0}}, f64),
                                                [](const Tensor& x) { return sum(exp(x * 2.0) * 0.5); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, "exp");
  EXPECT_EQ(found->record, 1) << "not the product or the sum behind it, which are infinite, too";
  EXPECT_EQ(found->tensor, "%1");
  EXPECT_EQ(found->index, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(found->value, infinity);
  EXPECT_EQ(to_text(*found),
            "record 1, exp, is the first with a number that is not finite: its output %1 [2, 3] is inf at [1, 2], "
            "computed from x = %0 (from 2 to 1.6e+03)");
}

TEST(NotFinite, AnInputIsNamedByItsName) {
  const std::optional<NotFinite> found =
      search(tensor({1.0, std::nan(""), 3.0}, f64), [](const Tensor& x) { return sum(tanh(x)); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tensor, "scores");
  EXPECT_EQ(found->role, "its input x");
  EXPECT_EQ(found->index, (std::vector<std::int64_t>{1}));
  EXPECT_NE(to_text(*found).find("scores [3] is nan at [1]"), std::string::npos) << to_text(*found);
}

TEST(NotFinite, AGradientIsNamedWhereTheForwardIsFinite) {
  const std::optional<NotFinite> found =
      search(tensor({4.0, 0.0}, f64), [](const Tensor& x) { return sum(sqrt(x) * 3.0); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, "sqrt");
  EXPECT_EQ(found->role, "the gradient of its input x");
  EXPECT_EQ(found->tensor, "scores");
  EXPECT_EQ(found->index, (std::vector<std::int64_t>{1}));
  EXPECT_NE(to_text(*found).find("computed from the gradient of %0 (from 3 to 3)"), std::string::npos)
      << to_text(*found);
}

TEST(NotFinite, WhatAMaskHidesDoesNotCountButALogarithmOfZeroDoes) {
  const auto masked_softmax = [](const Tensor& x) {
    return softmax(masked_fill(x + causal_mask(2, f64), tensor({{0.0, 0.0}, {1.0, 0.0}}).to(i64), -infinity));
  };
  static const auto masked = masked_softmax;
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}, f64);
  EXPECT_FALSE(search(x, [](const Tensor& scores) { return sum(square(masked(scores))); }));
  const std::optional<NotFinite> found = search(x, [](const Tensor& scores) { return sum(log(masked(scores))); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, "log");
  EXPECT_EQ(found->value, -infinity);
}

TEST(NotFinite, AFiniteComputationHasNone) {
  EXPECT_FALSE(search(tensor({1.0, 2.0}, f64), [](const Tensor& x) { return mean(exp(x)); }));
}

/// Its answers grow without bounds once a weight is large.
struct Explosive {
  Linear input, out;

  Explosive(const ModelSizes& sizes, Random& random) : input(sizes.input, 4, random), out(4, sizes.output, random) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "explosive");
    return out(exp(input(mean(x, 1))));
  }
  void visit(auto&& see) const { see("input", input), see("out", out); }
};

/// The samples of a task, which are much too large from the `large_from`-th batch on.
class GrowingTask final : public Task {
 public:
  static constexpr std::int64_t batch_size = 4;

  explicit GrowingTask(std::int64_t large_from, std::atomic<bool>* stop = nullptr)
      : Task("growing", TaskKind::regression), large_from_(large_from), stop_(stop) {}
  std::int64_t input_size() const override { return drawn_.input_size(); }
  std::int64_t sequence_length() const override { return drawn_.sequence_length(); }
  std::int64_t output_size() const override { return 1; }
  Baselines baselines() const override { return drawn_.baselines(); }

 private:
  void fill(Random& random, const Batch& batch) const override {
    const Batch drawn = drawn_.sample(random, batch.x.dim(0));
    copy_values(drawn.y, batch.y);
    const bool is_large = batch.x.dim(0) == batch_size && ++batches_ >= large_from_;
    if (stop_ != nullptr && batches_ == large_from_ - 1) *stop_ = true;
    copy_values(is_large ? drawn.x * 1e6 : drawn.x, batch.x);
  }

  Adding drawn_{{.length = 4}};
  std::int64_t large_from_;
  std::atomic<bool>* stop_;  // set before the first large batch
  mutable std::int64_t batches_ = 0;
};

class Diverging : public testing::Test {
 protected:
  struct Trained {
    std::string failure;  // the message of the error with which the training ended
    std::vector<double> losses;
  };
  Trained train(std::int64_t large_from, std::atomic<bool>* stop = nullptr) const {
    const GrowingTask task(large_from, stop);
    Random random(1);
    SequenceModelOf<Explosive> model(ModelSizes{.input = task.input_size(), .hidden = 4, .output = 1}, random);
    try {
      return {"", fit(model, task, options_).losses};
    } catch (const DivergenceError& error) {
      return {error.what(), {}};
    }
  }
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  TemporaryFolder folder_;
  FitOptions options_{.steps = 20,
                      .batch = GrowingTask::batch_size,
                      .accumulate = 2,
                      .learning_rate = 1e-3,
                      .validate_every = 5,
                      .validation_samples = 8,
                      .test_samples = 8};
};

TEST_F(Diverging, TheErrorNamesTheRecordByItsPath) {
  const std::string message = train(2 * 12 + 1).failure;
  EXPECT_TRUE(message.starts_with("fit: the loss of step 12 is ")) << message;
  EXPECT_NE(message.find(", exp in explosive, is the first with a number that is not finite: its output %"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(" [4, 4] is inf at ["), std::string::npos) << message;
  EXPECT_EQ(message.find("checkpoint"), std::string::npos) << "there is none";
}

TEST_F(Diverging, TheLastGoodCheckpointIsLeftAndGoesOnToTheSameEnd) {
  const std::vector<double> uninterrupted = train(never).losses;
  options_.checkpoint = folder_ / "checkpoint.safetensors";
  options_.checkpoint_seconds = 0;
  const std::string message = train(2 * 12 + 1).failure;
  EXPECT_TRUE(message.ends_with(options_.checkpoint + " is the last good checkpoint, of step 10")) << message;
  EXPECT_EQ(step_of_checkpoint(options_.checkpoint), 10);
  options_.resume = true;
  EXPECT_EQ(train(never).losses, (std::vector<double>{uninterrupted.begin() + 10, uninterrupted.end()}));
}

TEST_F(Diverging, TheFirstValidationWritesACheckpointHoweverSoonItIs) {
  options_.checkpoint = folder_ / "checkpoint.safetensors";
  options_.checkpoint_seconds = 1000;
  EXPECT_NE(train(2 * 12 + 1).failure.find("of step 5"), std::string::npos);
}

/// Stopped after a step that no validation has seen, with weights that have no finite loss.
TEST_F(Diverging, WeightsWithoutAFiniteLossReplaceNoCheckpoint) {
  options_.checkpoint = folder_ / "checkpoint.safetensors";
  options_.checkpoint_seconds = 0;
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  const std::string message = train(2 * 7 + 1, &stop).failure;
  EXPECT_TRUE(message.starts_with("fit: the loss after step 7 is ")) << message;
  EXPECT_EQ(step_of_checkpoint(options_.checkpoint), 5);
}

/// Its third loss overflows, which is known by the number of losses before it alone.
class ThirdOverflows final : public Training {
 public:
  explicit ThirdOverflows(const Parameter& w)
      : Training({{"layer.w", w}}, FitOptions{.steps = 9, .accumulate = 2}), w_(w) {}
  std::string description() const override { return "third"; }
  std::string_view metric() const override { return "mse"; }
  Evaluation validate() const override { return {}; }
  Evaluation test() const override { return {}; }

 private:
  Tensor loss_of(std::int64_t) override { return sum(exp(w_ * (++losses_ == 3 ? 1e4 : 1.0))); }
  void mark() override { marked_ = losses_; }
  void rewind() override { losses_ = marked_; }

  Tensor w_;
  int losses_ = 0, marked_ = 0;
};

TEST(NotFinite, TheSearchBeginsWhereTheFailingStepBegan) {
  const Parameter w(tensor({1.0, -1.0}));
  ThirdOverflows training(w);
  training.step();
  const std::vector<float> before{w.values<float>().begin(), w.values<float>().end()};
  try {
    training.step();
    FAIL() << "the third loss is infinite";
  } catch (const DivergenceError& error) {
    EXPECT_NE(std::string(error.what()).find("fit: the loss of step 1 is inf: record 1, exp, is the first"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find(" is inf at [0]"), std::string::npos) << error.what();
  }
  EXPECT_EQ((std::vector<float>{w.values<float>().begin(), w.values<float>().end()}), before);
  EXPECT_FALSE(w.has_grad()) << "the search leaves no gradients";
}

}  // namespace
}  // namespace retrace
