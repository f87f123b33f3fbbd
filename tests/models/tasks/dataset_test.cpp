#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/dataset.h>
#include <retrace/models/training/fit.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

#include <cmath>
#include <limits>
#include <set>

namespace retrace {
namespace {

constexpr std::int64_t samples = 40;

/// Every element of sample n is n, so that a row identifies its sample; [40, 2, 3].
Tensor numbered(Dtype dtype = f32) {
  const Tensor x = empty({samples, 2, 3}, dtype);
  dispatch_real(dtype, "test", [&](auto zero) {
    using T = decltype(zero);
    std::int64_t k = 0;
    for (T& value : x.mutable_values<T>()) value = static_cast<T>(static_cast<double>(k++ / 6));
  });
  return x;
}
/// n mod 4 for sample n.
Tensor labels() {
  std::vector<std::int64_t> result;
  for (std::int64_t n = 0; n < samples; ++n) result.push_back(n % 4);
  return indices(std::span<const std::int64_t>(result), {samples});
}

std::set<double> which(const Tensor& x) {
  std::set<double> result;
  for (std::int64_t row = 0; row < x.dim(0); ++row) result.insert(x.at({row, 0, 0}));
  return result;
}

TEST(Dataset, EverySampleIsInOnePart) {
  const Dataset data("data", numbered(), labels());
  const HeldOut held_out = *data.held_out();
  EXPECT_EQ(data.train().x.dim(0), 28);
  EXPECT_EQ(held_out.validation.x.dim(0), 4);
  EXPECT_EQ(held_out.test.x.dim(0), 8);
  std::set<double> all_of_them;
  for (const Batch& part : {data.train(), held_out.validation, held_out.test}) {
    all_of_them.merge(which(part.x));
    for (std::int64_t row = 0; row < part.x.dim(0); ++row)
      EXPECT_EQ(part.y.at({row}), std::fmod(part.x.at({row, 0, 0}), 4)) << "a label goes with its sample";
  }
  EXPECT_EQ(all_of_them.size(), static_cast<std::size_t>(samples));
}

TEST(Dataset, BatchesAreDrawnFromTheSamplesToTrainOn) {
  const Dataset data("data", numbered(), labels());
  Random random(5), same(5);
  const Batch batch = data.sample(random, 500);  // more than the data has
  EXPECT_EQ(batch.x.shape(), (Shape{500, 2, 3}));
  EXPECT_EQ(which(batch.x), which(data.train().x)) << "each is drawn sooner or later, and no other";
  for (std::int64_t row = 0; row < 500; ++row) EXPECT_EQ(batch.y.at({row}), std::fmod(batch.x.at({row, 1, 2}), 4));
  EXPECT_EQ(difference(batch.x, data.sample(same, 500).x), 0);
}

TEST(Dataset, SizesAndKindsComeFromTheTensors) {
  const Dataset classes("data", numbered(), labels());
  EXPECT_EQ(classes.kind(), TaskKind::classification);
  EXPECT_EQ(classes.input_size(), 3);
  EXPECT_EQ(classes.sequence_length(), 2);
  EXPECT_EQ(classes.output_size(), 4);
  EXPECT_EQ(Dataset("data", numbered(), labels(), {.classes = 9}).output_size(), 9);
  const Dataset numbers("data", numbered(), zeros({samples, 5}));
  EXPECT_EQ(numbers.kind(), TaskKind::regression);
  EXPECT_EQ(numbers.output_size(), 5);
  EXPECT_EQ(Dataset("data", numbered(), zeros({samples})).output_size(), 1);
  EXPECT_EQ(std::string(Dataset(std::string("a name of its own"), numbered(), labels()).name()), "a name of its own");
}

TEST(Dataset, PartsDependOnTheSeedOfTheDataAlone) {
  const auto test_of = [](std::uint64_t seed) {
    return which(Dataset("data", numbered(), labels(), {.seed = seed}).held_out()->test.x);
  };
  EXPECT_EQ(test_of(1), test_of(1));
  EXPECT_NE(test_of(1), test_of(2));
}

TEST(Dataset, BatchesHaveTheDefaultDtype) {
  Random random;
  const DtypeScope scope(f64);
  EXPECT_EQ(Dataset("data", numbered(f32), zeros({samples}, f32)).sample(random, 2).x.dtype(), f64);
  const DtypeScope narrow(f32);
  EXPECT_EQ(Dataset("data", numbered(f64), zeros({samples}, f64)).sample(random, 2).y.dtype(), f32);
}

TEST(Dataset, BaselinesOfLabels) {
  std::vector<std::int64_t> mostly_two(samples, 2);
  for (std::size_t n = 0; n < 4; ++n) mostly_two[n] = 0;
  const Dataset data("data", numbered(), indices(std::span<const std::int64_t>(mostly_two), {samples}));
  const Baselines baselines = data.baselines();
  double twos = 0;
  for (const std::int64_t label : data.held_out()->test.y.values<std::int64_t>()) twos += label == 2 ? 1 : 0;
  EXPECT_EQ(baselines.trivial, twos / 8);
  EXPECT_DOUBLE_EQ(baselines.chance, 1.0 / 3);
  EXPECT_EQ(baselines.ceiling, 1);
  EXPECT_FALSE(baselines.original.has_value());
}

TEST(Dataset, BaselinesOfNumbers) {
  const Dataset data("data", numbered(f64), slice(numbered(f64), {all, 0, range(0, 1)}));
  double center = 0, error = 0, other = 0;
  const auto& train = data.train().y;
  const Tensor test = data.held_out()->test.y;
  for (const double y : train.values<double>()) center += y / 28;
  for (const double y : test.values<double>()) {
    error += (y - center) * (y - center) / 8;
    for (const double answer : train.values<double>()) other += (y - answer) * (y - answer) / 8 / 28;
  }
  EXPECT_NEAR(data.baselines().trivial, error, 1e-10);
  EXPECT_NEAR(data.baselines().chance, other, 1e-10);
  EXPECT_EQ(data.baselines().ceiling, 0);
}

TEST(Dataset, NumbersThatAreNotScaledAreShownAndPointedOut) {
  const Tensor x = numbered(f64) + 1e9, y = slice(x, {all, 0, range(0, 1)});
  const Dataset plain("data", x, y);
  ASSERT_EQ(plain.remarks().size(), 1u);
  EXPECT_NE(plain.remarks()[0].find("DatasetOptions{.normalise = Normalisation::standard}"), std::string::npos);
  const Example sample(plain.held_out()->test.part(0, 1), 0);
  EXPECT_EQ(plain.describe_numbers(sample.numbers()), text(1000000000 + std::int64_t(sample.numbers()[0] - 1e9)));
  EXPECT_EQ(Dataset("data", x, y, {.normalise = Normalisation::standard}).remarks().size(), 0u);
  EXPECT_EQ(Dataset("data", numbered() * 0.1, labels()).remarks().size(), 0u);
}

TEST(Dataset, SamplesOfTheTestHaveTheirPlaces) {
  const Dataset data("data", numbered(), labels());
  const HeldOut held_out = *data.held_out();
  for (std::int64_t k = 0; k < held_out.test.size(); ++k)
    EXPECT_EQ(held_out.test_places[static_cast<std::size_t>(k)], text("x[", held_out.test.x.at({k, 0, 0}), "]"));
}

/// The label is the sign of the first feature of the last row.
TEST(Dataset, FitLearnsItAndTestsOnWhatItHasNotSeen) {
  Random random(2);
  const Tensor x = random.normal({300, 4, 2});
  std::vector<std::int64_t> signs;
  for (std::int64_t n = 0; n < 300; ++n) signs.push_back(x.at({n, 3, 0}) > 0 ? 1 : 0);
  const Dataset data("signs", x, indices(std::span<const std::int64_t>(signs), {300}));
  const auto train = [&] {
    Random weights(1);
    const auto model = make_model("gru", {.input = 2, .hidden = 8, .output = 2}, weights);
    const FitResult result =
        fit(*model, data, {.steps = 150, .batch = 32, .learning_rate = 1e-2, .validate_every = 50});
    EXPECT_EQ(result.test.metric, evaluate(*model, data, data.held_out()->test).metric);
    EXPECT_EQ(result.validation.loss, evaluate(*model, data, data.held_out()->validation).loss);
    return result;
  };
  const FitResult result = train();
  EXPECT_GT(result.test.metric, 0.9);
  EXPECT_NEAR(std::round(result.test.metric * 60), result.test.metric * 60, 1e-9)
      << "each of the 60 test samples counts once";
  EXPECT_EQ(result.losses, train().losses);
}

TEST(Dataset, FitTrainsOnNumbersInDoublePrecision) {
  const Tensor y = slice(numbered(f32), {all, 0, range(0, 2)}) * 0.1;
  const Dataset data("numbers", numbered(f32) * 0.1, y);
  std::unique_ptr<SequenceModel> model;
  {
    const DtypeScope scope(f64);
    Random weights(1);
    model = make_model("rnn", {.input = 3, .hidden = 6, .output = 2}, weights);
  }
  const FitResult result = fit(*model, data, {.steps = 30, .batch = 100, .learning_rate = 1e-2});
  EXPECT_LT(result.losses.back(), result.losses.front());
  EXPECT_GT(result.test.metric, 0);
}

TEST(Dataset, EvaluateTakesEveryGivenSampleOnce) {
  const Dataset data("data", numbered(), labels());
  Random weights(1), random(3);
  const auto model = make_model("rnn", {.input = 3, .hidden = 6, .output = 4}, weights);
  const Batch many = data.sample(random, 300);  // more than one portion
  const Tensor answers = (*model)(many.x);
  const Evaluation evaluation = evaluate(*model, data, many);
  EXPECT_NEAR(evaluation.loss, cross_entropy(answers, many.y).item(), 1e-5);
  EXPECT_NEAR(evaluation.metric, task_metric(data, answers, many.y), 1e-12);
  EXPECT_THROW(evaluate(*model, data, Batch{zeros({0, 2, 3}), indices(std::span<const std::int64_t>(), {0})}),
               ValueError);
}

TEST(Dataset, TheSmallestHasOneSampleAPart) {
  const Dataset data("data", zeros({3, 1, 1}), zeros({3}));
  EXPECT_EQ(data.train().x.dim(0), 1);
  Random random;
  EXPECT_EQ(data.sample(random, 8).x.dim(0), 8) << "a batch larger than the data";
  EXPECT_THROW(Dataset("data", zeros({2, 1, 1}), zeros({2})), ValueError);
  EXPECT_THROW(Dataset("data", zeros({0, 1, 1}), zeros({0})), ValueError);
}

TEST(Dataset, TensorsAndOptionsWithoutMeaningAreRefused) {
  const Tensor x = numbered(), y = labels();
  EXPECT_THROW(Dataset("data", y, y), DtypeError);
  EXPECT_THROW(Dataset("data", x, x.to(dual)), DtypeError);
  EXPECT_THROW(Dataset("data", zeros({samples, 6}), y), ShapeError);
  EXPECT_THROW(Dataset("data", zeros({samples, 0, 3}), y), ShapeError);
  EXPECT_THROW(Dataset("data", x, zeros({samples - 1})), ShapeError);
  EXPECT_THROW(Dataset("data", x, zeros({samples, 3, 2})), ShapeError);  // neither one per sample nor one per row
  EXPECT_THROW(Dataset("data", x, reshape(y, {samples, 1})), ShapeError);
  EXPECT_THROW(Dataset("data", x, zeros({samples, 0})), ShapeError);
  EXPECT_THROW(Dataset("data", x, y, {.classes = 3}), IndexError);
  EXPECT_THROW(Dataset("data", x, y, {.classes = -1}), ValueError);
  EXPECT_THROW(Dataset("data", x, full({samples}, 1e15, i64)), IndexError) << "no model has so many classes";
  EXPECT_THROW(Dataset("data", x, full({samples}, -1, i64)), IndexError);
  EXPECT_THROW(Dataset("data", x, full({samples}, std::nan(""))), ValueError);
  EXPECT_THROW(Dataset("data", x * std::numeric_limits<double>::infinity(), y), ValueError);
  EXPECT_THROW(Dataset("data", x, y, {.test_part = 1}), ValueError);
  EXPECT_THROW(Dataset("data", x, y, {.validation_part = -0.1}), ValueError);
  EXPECT_THROW(Dataset("data", x, y, {.validation_part = 0.5, .test_part = 0.5}), ValueError);
  EXPECT_THROW(Dataset("data", x, y, {.test_part = std::nan("")}), ValueError);
  EXPECT_THROW(Dataset("data", Tensor(), y), ValueError);
}

}  // namespace
}  // namespace retrace
