// Sequences of different lengths, from pad() to a trained model: padding changes no bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include <retrace/models/data/pad.h>
#include <retrace/models/networks/different_lengths.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/fit.h>
#include <retrace/nn/nn.h>
#include "../../compare.h"

namespace retrace {
namespace {

constexpr std::int64_t features = 3, outputs = 2;

Tensors sequences(Random& random, const std::vector<std::int64_t>& lengths) {
  Tensors result;
  for (const std::int64_t length : lengths) result.push_back(random.normal({length, features}));
  return result;
}

std::unique_ptr<SequenceModel> model_of(std::string_view name) {
  Random random(3);
  const ModelSizes sizes{.input = features, .hidden = 8, .output = outputs, .slot_size = 8, .slots = 2, .time = 20};
  return make_model(name, sizes, random);
}

// x with `more` rows of garbage behind those that pad() filled.
Tensor with_garbage(const PaddedBatch& batch, std::int64_t more) {
  const std::int64_t samples = batch.values.dim(0), time = batch.values.dim(1) + more;
  const Tensor x = full({samples, time, features}, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t b = 0; b < samples; ++b) {
    const std::int64_t own = batch.lengths.values<std::int64_t>()[static_cast<std::size_t>(b)];
    copy_values(slice(batch.values, {b, range(0, own)}), view(x, {own, features}, b * time * features));
  }
  return x;
}

class DifferentLengths : public testing::TestWithParam<std::string_view> {};

TEST_P(DifferentLengths, GiveTheBitsOfEachSequenceAlone) {
  Random random(1);
  const std::unique_ptr<SequenceModel> model = model_of(GetParam());
  const Tensors alone = sequences(random, {4, 9, 1, 4, 7});
  const PaddedBatch padded = pad(alone);
  const Tensor x = with_garbage(padded, 5);
  const Tensor y = answers_at_ends(*model, x, padded.lengths), rows = answers_to_all_rows(*model, x, padded.lengths);
  ASSERT_EQ(y.shape(), (Shape{5, outputs}));
  ASSERT_EQ(rows.shape(), (Shape{5, 14, outputs}));
  for (std::size_t b = 0; b < alone.size(); ++b) {
    const std::int64_t sample = static_cast<std::int64_t>(b), own = alone[b].dim(0);
    const Tensor one = unsqueeze(alone[b], 0);
    expect_near(slice(y, {range(sample, sample + 1)}), (*model)(one), 0);
    expect_near(slice(rows, {range(sample, sample + 1), range(0, own)}), model->answers(one, own), 0);
    EXPECT_EQ(max(abs(slice(rows, {sample, range(own, 14)}))).item(), 0);
  }
}

TEST_P(DifferentLengths, GiveTheSameGradientsForAnyPadding) {
  Random random(2);
  const std::unique_ptr<SequenceModel> model = model_of(GetParam());
  const PaddedBatch padded = pad(sequences(random, {3, 5, 5, 2}));
  const Tensor u = random.normal({4, outputs});
  Tensors first;
  for (const Tensor& x : {padded.values, with_garbage(padded, 7)}) {
    Tape tape;
    tape.backward(sum(answers_at_ends(*model, x, padded.lengths) * u));
    Tensors gradients;
    for (const NamedTensor& weight : parameters(*model)) {
      gradients.push_back(weight.tensor.has_grad() ? weight.tensor.grad().clone() : zeros_like(weight.tensor));
      weight.tensor.zero_grad();
    }
    if (first.empty()) {
      first = gradients;
      continue;
    }
    for (std::size_t k = 0; k < first.size(); ++k) expect_near(gradients[k], first[k], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DifferentLengths,
                         testing::Values("lstm", "gru", "rnn", "relational-rnn", "rmc", "attention"),
                         [](const auto& model) {
                           std::string name(model.param);
                           std::erase(name, '-');
                           return name;
                         });

// The label is the sign of the last row's first number, which padding would hide.
struct Signs {
  PaddedBatch x;
  Tensor last, each;  // labels [N], [N, T]
};
Signs signs(std::int64_t samples) {
  Random random(5);
  std::vector<std::int64_t> lengths;
  for (std::int64_t k = 0; k < samples; ++k) lengths.push_back(1 + random.integer(12));
  const Tensors all_rows = sequences(random, lengths);
  Signs result{pad(all_rows), empty({samples}, i64), full({samples, 12}, 1).to(i64)};
  for (std::int64_t k = 0; k < samples; ++k)
    for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(k)]; ++t) {
      const std::int64_t label = all_rows[static_cast<std::size_t>(k)].at({t, 0}) > 0 ? 1 : 0;
      result.last.mutable_values<std::int64_t>()[static_cast<std::size_t>(k)] = label;
      result.each.mutable_values<std::int64_t>()[static_cast<std::size_t>(k * 12 + t)] = label;
    }
  return result;
}

TEST(PaddedTask, IsLearnedWithOneAnswerPerSequenceAndOnePerRow) {
  const Signs data = signs(400);
  for (const Tensor& y : {data.last, data.each}) {
    const Dataset task("signs", data.x, y);
    const std::unique_ptr<SequenceModel> model = model_of("gru");
    const FitResult result = fit(*model, task, {.steps = 150, .batch = 32, .learning_rate = 1e-2});
    EXPECT_GT(result.test.metric, 0.9);
  }
}

TEST(PaddedTask, CountsTheAnswersThatSequencesHave) {
  const Signs data = signs(60);
  const Dataset task("signs", data.x, data.each);
  const std::unique_ptr<SequenceModel> model = model_of("lstm");
  const Batch test = task.held_out()->test;
  const Evaluation all_of_them = evaluate(*model, task, test);
  double loss = 0, right = 0, answers = 0;
  for (std::int64_t k = 0; k < test.size(); ++k) {
    const Batch one = test.sample(k);
    const double own = static_cast<double>(one.x.dim(1));
    EXPECT_EQ(one.y.dim(1), one.x.dim(1));
    loss += own * task_loss(task, answer(*model, task, one), one).item();
    right += own * task_metric(task, answer(*model, task, one), one.y);
    answers += own;
  }
  EXPECT_NEAR(all_of_them.loss, loss / answers, 1e-6);
  EXPECT_NEAR(all_of_them.metric, right / answers, 1e-9);
}

TEST(PaddedTask, MeasuresNumbersPerRowWithoutPadding) {
  Random random(6);
  const PaddedBatch x = pad(sequences(random, {2, 5, 3, 5, 1, 4, 2, 5, 3, 3}));
  Tensor y = random.normal({10, 5, outputs});
  y = where(unsqueeze(x.mask, 2), y, full({}, 1e6));  // behind the ends, something else
  const Dataset task("numbers", x, y);
  const std::unique_ptr<SequenceModel> model = model_of("rnn");
  const Batch test = task.held_out()->test;
  double squares = 0, numbers = 0;
  for (std::int64_t k = 0; k < test.size(); ++k) {
    const Batch one = test.sample(k);
    squares += sum(square(answer(*model, task, one) - one.y)).item();
    numbers += static_cast<double>(one.y.numel());
  }
  EXPECT_NEAR(evaluate(*model, task, test).metric, squares / numbers, 1e-5);
  EXPECT_LT(task.baselines().trivial, 10);
}

TEST(PaddedTask, DrawsBatchesOfSimilarLengthsWithEverySampleEquallyLikely) {
  const Signs data = signs(210);
  const Dataset task("signs", data.x, data.last, {.buckets = 6});
  Random random(7);
  std::map<double, int> seen;
  const int batches = 600;
  for (int k = 0; k < batches; ++k) {
    const Batch batch = task.sample(random, 16);
    const auto lengths = batch.lengths.values<std::int64_t>();
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    EXPECT_LE(*longest - *shortest, 4);
    for (std::int64_t b = 0; b < 16; ++b) ++seen[batch.x.at({b, 0, 0})];
  }
  const double expected = batches * 16.0 / static_cast<double>(task.train().size());
  EXPECT_EQ(std::ssize(seen), task.train().size());
  for (const auto& [first, count] : seen) EXPECT_NEAR(count, expected, 0.6 * expected);
}

TEST(PaddedTask, TrainsToTheSameBytesWithOtherPadding) {
  const Signs data = signs(100);
  const Tensor wider = pad(data.x.values, {{0, 0}, {0, 6}, {0, 0}});
  std::vector<double> losses;
  for (const Tensor& x : {data.x.values, wider}) {
    const Dataset task("signs", x, data.last, {.lengths = data.x.lengths});
    const std::unique_ptr<SequenceModel> model = model_of("rmc");
    const FitResult result = fit(*model, task, {.steps = 12, .batch = 8, .learning_rate = 1e-3});
    if (losses.empty()) losses = result.losses;
    EXPECT_EQ(losses, result.losses);
  }
}

TEST(PaddedTask, IsRegisteredFromPadAndRefusesLengthsThatDoNotFit) {
  const Signs data = signs(40);
  register_task("signs-of-different-lengths", data.x, data.last);
  EXPECT_TRUE(make_task("signs-of-different-lengths")->has_lengths());
  EXPECT_THROW(Dataset("x", data.x.values, data.last, {.lengths = indices({1, 2})}), ShapeError);
  EXPECT_THROW(Dataset("x", data.x.values, data.last, {.lengths = full({40}, 13).to(i64)}), IndexError);
  EXPECT_THROW(Dataset("x", data.x, data.last, {.buckets = 0}), ValueError);
  EXPECT_THROW(Dataset("x", data.x, slice(data.each, {all, range(0, 5)})), ShapeError);
  const std::unique_ptr<SequenceModel> model = model_of("lstm");
  EXPECT_THROW(answers_at_ends(*model, data.x.values, full({40}, 0).to(i64)), IndexError);
  EXPECT_THROW(answers_at_ends(*model, data.x.values, indices({1})), ShapeError);
}

TEST(StateAfter, KeepsTheMemoryOfASequenceThatHasEnded) {
  Random random(8);
  const RelationalMemoryCore core(features, random, {.slots = 2, .head_size = 4, .heads = 2});
  const Tensors alone = sequences(random, {2, 5, 3});
  const PaddedBatch padded = pad(alone);
  const auto read = [&](const Tensor& x, const Tensor& lengths) {
    Tensor memory = core.initial_memory(x.dim(0));
    for (std::int64_t t = 0; t < x.dim(1); ++t)
      memory = state_after(t, lengths, core(memory, at_step(x, t)).memory, memory);
    return memory;
  };
  const Tensor memory = read(padded.values, padded.lengths);
  for (std::int64_t b = 0; b < 3; ++b)
    expect_near(slice(memory, {range(b, b + 1)}), read(unsqueeze(alone[static_cast<std::size_t>(b)], 0), {}), 0);
  EXPECT_THROW(state_after(0, indices({1, 2}), memory, memory), ShapeError);
}

}  // namespace
}  // namespace retrace
