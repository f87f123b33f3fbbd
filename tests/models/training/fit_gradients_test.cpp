// The gradients of a training before anything that hides their size, as Adam and a clip do: plain descent with momentum
// against the same in a loop.
#include <gtest/gtest.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/training/fit.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::unique_ptr<SequenceModel> model_for(const Task& task) {
  Random random = Random(1).stream("weights");
  const ModelSizes sizes{
      .input = task.input_size(), .hidden = 6, .output = task.output_size(), .time = task.sequence_length()};
  return make_model("lstm", sizes, random);
}

/// w -= lr v with v = 0.9 v + g, as the program's sgd does; g is the gradient of one large batch, of the `accumulate`
/// batches of a step together. Returns the norms of g.
std::vector<double> descend(const SequenceModel& model, const Task& task, const FitOptions& options, double scale) {
  std::vector<double> norms;
  std::vector<std::vector<double>> velocities;
  for (std::int64_t step = 0; step < *options.steps; ++step) {
    Tensors x, y;
    for (std::int64_t part = 0; part < options.accumulate; ++part) {
      Random random =
          Random(options.seed).stream("batch").stream(static_cast<std::uint64_t>(step * options.accumulate + part));
      const Batch batch = task.sample(random, *options.batch);
      x.push_back(batch.x), y.push_back(batch.y);
    }
    Tape tape;
    tape.backward(scale * task_loss(task, answer(model, task, concat(x, 0)), concat(y, 0)));
    double squares = 0;
    std::size_t at = 0;
    for (const NamedTensor& weight : parameters(model)) {
      const auto g = weight.tensor.grad_values<double>();
      if (velocities.size() <= at) velocities.emplace_back(g.size(), 0.0);
      std::vector<double>& v = velocities[at++];
      const auto w = weight.tensor.mutable_values<double>();
      for (std::size_t k = 0; k < g.size(); ++k) {
        squares += g[k] * g[k];
        v[k] = 0.9 * v[k] + g[k];
        w[k] -= *options.learning_rate * v[k];
      }
      weight.tensor.zero_grad();
    }
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

void expect_the_same_descent(const Task& task, std::int64_t accumulate, double scale) {
  const std::string what = text(task.name(), ", ", accumulate, " batches, loss times ", scale);
  FitOptions options{.steps = 4,
                     .batch = 6,
                     .accumulate = accumulate,
                     .optimizer = "sgd",
                     .learning_rate = 0.05,
                     .schedule = "constant",
                     .warm_up = 0,
                     .clip = std::numeric_limits<double>::infinity(),
                     .curriculum = false,
                     .test_samples = 8};
  std::vector<double> norms;
  options.on_step = [&](const FitStep& step) { return norms.push_back(step.report.gradient_norm), FitAction::go_on; };
  if (scale != 1)
    options.measures.loss = [&](const Tensor& output, const Batch& batch) {
      return scale * task_loss(task, output, batch);
    };
  const auto model = model_for(task), by_hand = model_for(task);
  fit(*model, task, options);
  const std::vector<double> wanted = descend(*by_hand, task, options, scale);
  ASSERT_EQ(norms.size(), wanted.size()) << what;
  for (std::size_t k = 0; k < norms.size(); ++k)
    EXPECT_NEAR(norms[k], wanted[k], 1e-10 * wanted[k]) << what << ", " << k;
  const auto got = parameters(*model), want = parameters(*by_hand);
  for (std::size_t k = 0; k < got.size(); ++k)
    for (std::size_t element = 0; element < got[k].tensor.values<double>().size(); ++element)
      ASSERT_NEAR(got[k].tensor.values<double>()[element], want[k].tensor.values<double>()[element], 1e-11)
          << what << ": " << got[k].name;
}

TEST(FitGradients, AreTheMeanOverAllSamplesOfAStep) {
  const DtypeScope scope(f64);
  const SequenceTask pairs(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const Adding numbers({.length = 6});
  for (const std::int64_t accumulate : {1, 2, 5}) {
    expect_the_same_descent(pairs, accumulate, 1);
    expect_the_same_descent(numbers, accumulate, 1);
  }
  EXPECT_EQ(numbers.kind(), TaskKind::regression) << "or only one kind of loss is tested";
}

TEST(FitGradients, AreScaledAsALossOfOnesOwnIs) {
  const DtypeScope scope(f64);
  const SequenceTask pairs(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  for (const std::int64_t accumulate : {1, 3}) expect_the_same_descent(pairs, accumulate, 7);
}

}  // namespace
}  // namespace retrace
