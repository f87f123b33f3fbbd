#include <retrace/models/data/split.h>
#include <retrace/models/tasks/dataset.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::int64_t max_classes = 1'000'000;

void check_finite(std::string_view task, const char* role, const Tensor& numbers) {
  const Tensor wide = numbers.to(f64);
  const auto values = wide.values<double>();
  const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (wrong == values.end()) return;
  const std::int64_t sample = (wrong - values.begin()) / (numbers.numel() / numbers.dim(0));
  throw ValueError(text("Dataset: ", task, ": ", role, " of sample ", sample, " has ", *wrong,
                        "; remove the sample or fill in a number"));
}

void check_samples(std::string_view task, const Tensor& x, const Tensor& y) {
  if (x.dtype() != f32 && x.dtype() != f64)
    throw DtypeError(text("Dataset: ", task, ": x", x.shape(), " is ", x.dtype(), "; convert it to f32 or f64"));
  if (y.dtype() == dual)
    throw DtypeError(text("Dataset: ", task, ": y", y.shape(), " is dual; labels are i64, numbers f32 or f64"));
  if (x.rank() != 3 || x.dim(1) < 1 || x.dim(2) < 1)
    throw ShapeError(text("Dataset: ", task, ": x", x.shape(), " must be [samples, time, features]; reshape it"));
  const bool has_rank = y.rank() == 1 || (y.rank() == 2 && y.dtype() != i64 && y.dim(1) > 0);
  if (!has_rank || y.dim(0) != x.dim(0))
    throw ShapeError(text("Dataset: ", task, ": y", y.shape(), " must be labels [", x.dim(0), "] (i64) or numbers [",
                          x.dim(0), ", outputs], one per sample of x", x.shape()));
  if (x.dim(0) < 3)
    throw ValueError(
        text("Dataset: ", task, ": ", x.dim(0), " samples cannot be split; training, validation and test need 3"));
  check_finite(task, "x", x);
  if (y.dtype() != i64) check_finite(task, "y", y);
}

std::int64_t count_classes(std::string_view task, const Tensor& labels, std::int64_t classes) {
  const auto values = labels.values<std::int64_t>();
  if (classes < 0 || classes > max_classes)
    throw ValueError(text("Dataset: ", task, ": ", classes, " classes; give 1 to ", max_classes,
                          ", or 0 for the largest label + 1"));
  const std::int64_t bound = classes > 0 ? classes : max_classes;
  for (std::size_t sample = 0; sample < values.size(); ++sample)
    if (values[sample] < 0 || values[sample] >= bound)
      throw IndexError(text("Dataset: ", task, ": the label of sample ", sample, " is ", values[sample],
                            "; labels count from 0 to ", bound - 1));
  return classes > 0 ? classes : *std::ranges::max_element(values) + 1;
}

Tensor as_answers(const Tensor& y) { return y.dtype() != i64 && y.rank() == 1 ? reshape(y, {y.dim(0), 1}) : y; }

/// Positions of the samples of each part.
struct Parts {
  Tensor train, validation, test;
};

double part_of(std::int64_t count, std::int64_t samples) {
  return static_cast<double>(count) / static_cast<double>(samples);
}

Parts share_out(std::string_view task, const Tensor& y, const DatasetOptions& options) {
  const std::int64_t samples = y.dim(0);
  const auto count = [&](double part, const char* name) {
    if (!(part >= 0 && part < 1))
      throw ValueError(
          text("Dataset: ", task, ": ", name, " is ", part, "; it is a fraction of the samples, from 0 to below 1"));
    return std::max<std::int64_t>(1, std::llround(part * static_cast<double>(samples)));
  };
  const std::int64_t validation = count(options.validation_part, "validation_part");
  const std::int64_t test = count(options.test_part, "test_part");
  if (validation + test >= samples)
    throw ValueError(text("Dataset: ", task, ": ", validation, " samples for the validation and ", test,
                          " for the test of ", samples, " leave none to train on; make the parts smaller"));
  Random random = Random(options.seed).stream("parts");
  if (options.stratified && y.dtype() == i64) {
    const Split tested = stratified_split(y, part_of(test, samples), random);
    const Split rest = stratified_split(take(y, tested.train), part_of(validation, samples - test), random);
    return {.train = take(tested.train, rest.train), .validation = take(tested.train, rest.test), .test = tested.test};
  }
  const std::vector<std::int64_t> order = random.permutation(samples);
  const Tensor positions = indices(std::span<const std::int64_t>(order), {samples});
  const Tensors parts = split(positions, {test, validation, samples - test - validation});
  return {.train = parts[2], .validation = parts[1], .test = parts[0]};
}

/// The share of the test's labels that are the label which the samples to train on have most often.
double share_of_most_frequent(const Tensor& train, const Tensor& test, std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int64_t label : train.values<std::int64_t>()) ++counts[static_cast<std::size_t>(label)];
  const std::int64_t answer = std::ranges::max_element(counts) - counts.begin();
  const auto labels = test.values<std::int64_t>();
  return static_cast<double>(std::ranges::count(labels, answer)) / static_cast<double>(labels.size());
}

}  // namespace

Dataset::Dataset(std::string_view name, const Tensor& x, const Tensor& y, const DatasetOptions& options)
    : Task(name, y.dtype() == i64 ? TaskKind::classification : TaskKind::regression),
      has_format_(options.format || options.normalise),
      format_(options.format.value_or(SampleFormat{})) {
  const NoTape unrecorded;
  check_samples(name, x, y);
  const Tensor answers = as_answers(y);
  const std::int64_t classes = options.classes != 0 ? options.classes : std::ssize(format_.words);
  outputs_ = kind() == TaskKind::classification ? count_classes(name, y, classes) : answers.dim(1);
  const Parts parts = share_out(name, y, options);
  const auto rows = [&](const Tensor& positions) { return Batch{take(x, positions), take(answers, positions)}; };
  train_ = rows(parts.train);
  held_out_ = {.validation = rows(parts.validation), .test = rows(parts.test)};
  if (options.normalise) normalise(*options.normalise);
  complete_format();
}

void Dataset::normalise(Normalisation kind_of_scale) {
  format_.x = retrace::normalise(train_.x, kind_of_scale);
  if (kind() == TaskKind::regression) format_.y = retrace::normalise(train_.y, kind_of_scale);
  for (Batch* part : {&train_, &held_out_.validation, &held_out_.test}) {
    part->x = (*format_.x)(part->x);
    if (format_.y) part->y = (*format_.y)(part->y);
  }
}

void Dataset::complete_format() {
  format_.steps = sequence_length(), format_.features = input_size(), format_.outputs = outputs_;
  if (kind() == TaskKind::regression && std::ssize(format_.targets) != outputs_) {
    format_.targets.clear();
    for (std::int64_t k = 1; k <= outputs_; ++k) format_.targets.push_back(outputs_ == 1 ? "y" : text("y", k));
  }
}

std::string Dataset::describe_numbers(std::span<const double> answer) const {
  if (!format_.y) return written(answer);
  const Tensor units = format_.y->inverse(tensor(answer, {std::ssize(answer)}, f64));
  return written(units.values<double>());
}

Baselines Dataset::baselines() const {
  const Tensor &train = train_.y, &test = held_out_.test.y;
  if (kind() == TaskKind::classification)
    return {.chance = 1 / static_cast<double>(outputs_),
            .trivial = share_of_most_frequent(train, test, outputs_),
            .trivial_answer = "the most frequent label",
            .ceiling = 1};
  const NoTape unrecorded;
  const Tensor center = mean(train.to(f64), 0);
  const double error = mean(square(test.to(f64) - center)).item();
  const double spread = mean(square(train.to(f64) - center)).item();
  return {.chance = error + spread, .trivial = error, .trivial_answer = "the mean", .ceiling = 0};
}

void Dataset::fill(Random& random, const Batch& batch) const {
  const Tensor rows = random.integers({batch.x.dim(0)}, train_.x.dim(0));
  copy_values(take(train_.x, rows).to(batch.x.dtype()), batch.x);
  copy_values(take(train_.y, rows).to(batch.y.dtype()), batch.y);
}

}  // namespace retrace
