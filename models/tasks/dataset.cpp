#include <retrace/models/data/split.h>
#include <retrace/models/tasks/dataset.h>
#include <retrace/nn/module.h>
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

bool answers_each_row(const Tensor& y) { return y.rank() == (y.dtype() == i64 ? 2 : 3); }

void check_lengths_of(std::string_view task, const Tensor& x, const DatasetOptions& options) {
  const Tensor& lengths = options.lengths;
  if (!lengths.defined()) return;
  if (lengths.dtype() != i64 || lengths.shape() != Shape{x.dim(0)})
    throw ShapeError(text("Dataset: ", task, ": lengths", lengths.shape(), " of dtype ", lengths.dtype(),
                          " must be i64, one per sample of x", x.shape()));
  const auto values = lengths.values<std::int64_t>();
  for (std::size_t sample = 0; sample < values.size(); ++sample)
    if (values[sample] < 1 || values[sample] > x.dim(1))
      throw IndexError(text("Dataset: ", task, ": sample ", sample, " has ", values[sample], " rows; x", x.shape(),
                            " has room for 1 to ", x.dim(1)));
  if (options.buckets < 1) throw ValueError(text("Dataset: ", task, ": ", options.buckets, " buckets; give 1 or more"));
}

// all_rows [N, T, ...] with `filling` in the rows behind the end of each sample.
Tensor without_padding(const Tensor& all_rows, const Tensor& lengths, double filling) {
  if (!lengths.defined()) return all_rows;
  const Tensor result = all_rows.clone();
  const std::int64_t time = all_rows.dim(1),
                     width = all_rows.numel() / std::max<std::int64_t>(1, all_rows.dim(0) * time);
  const auto length = lengths.values<std::int64_t>();
  dispatch_any(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto elements = result.mutable_values<T>();
    for (std::int64_t sample = 0; sample < all_rows.dim(0); ++sample) {
      const std::int64_t own = length[static_cast<std::size_t>(sample)];
      const auto first = elements.begin() + (sample * time + own) * width;
      std::fill(first, first + (time - own) * width, static_cast<T>(filling));
    }
  });
  return result;
}

// The rows that are no padding, [M, ...] of all_rows [N, T, ...].
Tensor own_rows(const Tensor& all_rows, const Tensor& lengths) {
  const std::int64_t samples = all_rows.dim(0), time = all_rows.dim(1);
  std::vector<std::int64_t> rows;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const std::int64_t own =
        lengths.defined() ? lengths.values<std::int64_t>()[static_cast<std::size_t>(sample)] : time;
    for (std::int64_t t = 0; t < own; ++t) rows.push_back(sample * time + t);
  }
  const Tensor flat = reshape(all_rows, all_rows.shape().erased(0).replaced(0, samples * time));
  return take(flat, indices(std::span<const std::int64_t>(rows), {std::ssize(rows)}));
}

void check_shapes(std::string_view task, const Tensor& x, const Tensor& y) {
  if (x.dtype() != f32 && x.dtype() != f64)
    throw DtypeError(text("Dataset: ", task, ": x", x.shape(), " is ", x.dtype(), "; convert it to f32 or f64"));
  if (y.dtype() == dual)
    throw DtypeError(text("Dataset: ", task, ": y", y.shape(), " is dual; labels are i64, numbers f32 or f64"));
  if (x.rank() != 3 || x.dim(1) < 1 || x.dim(2) < 1)
    throw ShapeError(text("Dataset: ", task, ": x", x.shape(), " must be [samples, time, features]; reshape it"));
  const bool has_rank = y.rank() == 1 || (y.rank() == 2 && y.dtype() != i64 && y.dim(1) > 0) ||
                        (answers_each_row(y) && y.dim(1) == x.dim(1) && y.dim(-1) > 0);
  if (!has_rank || y.dim(0) != x.dim(0))
    throw ShapeError(text("Dataset: ", task, ": y", y.shape(), " must be labels [", x.dim(0), "] (i64) or numbers [",
                          x.dim(0), ", outputs], one per sample of x", x.shape(), ", or [", x.dim(0), ", ", x.dim(1),
                          "] or [", x.dim(0), ", ", x.dim(1), ", outputs], one per row"));
  if (x.dim(0) < 3)
    throw ValueError(
        text("Dataset: ", task, ": ", x.dim(0), " samples cannot be split; training, validation and test need 3"));
}

void check_numbers(std::string_view task, const Tensor& x, const Tensor& y) {
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
    if ((values[sample] < 0 && !(labels.rank() == 2 && values[sample] == no_answer)) || values[sample] >= bound)
      throw IndexError(text("Dataset: ", task, ": the label of sample ",
                            static_cast<std::int64_t>(sample) / (labels.numel() / labels.dim(0)), " is ",
                            values[sample], "; labels count from 0 to ", bound - 1));
  return classes > 0 ? classes : std::max<std::int64_t>(0, *std::ranges::max_element(values)) + 1;
}

// Answers after the last row: labels [N], numbers [N, O].
Tensor as_answers(const Tensor& y) {
  if (y.dtype() != i64 && y.rank() == 1) return reshape(y, {y.dim(0), 1});
  return answers_each_row(y) ? reshape(y, y.shape().erased(1)) : y;  // sequences of one row
}

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
  if (options.stratified && answers_each_row(y))
    throw ValueError(text("Dataset: ", task, ": samples with an answer per row have no one label to stratify by"));
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
  for (const std::int64_t label : train.values<std::int64_t>())
    if (label != no_answer) ++counts[static_cast<std::size_t>(label)];
  const std::int64_t answer = std::ranges::max_element(counts) - counts.begin();
  const auto labels = test.values<std::int64_t>();
  const std::int64_t asked = std::ssize(labels) - std::ranges::count(labels, no_answer);
  return static_cast<double>(std::ranges::count(labels, answer)) / static_cast<double>(asked);
}

// `positions` in the order of the samples' lengths.
Tensor by_length(const Tensor& positions, const Tensor& lengths) {
  const auto length = lengths.values<std::int64_t>();
  const auto length_of = [&](std::int64_t sample) { return length[static_cast<std::size_t>(sample)]; };
  const Tensor result = positions.clone();
  const auto order = result.mutable_values<std::int64_t>();
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return length_of(a) < length_of(b); });
  return result;
}

}  // namespace

Dataset::Dataset(std::string_view name, const PaddedBatch& x, const Tensor& y, DatasetOptions options)
    : Dataset(name, x.values, y, (options.lengths = x.lengths, options)) {}

Dataset::Dataset(std::string_view name, const Tensor& x, const Tensor& y, const DatasetOptions& options)
    : Task(name, y.dtype() == i64 ? TaskKind::classification : TaskKind::regression),
      answers_each_row_(answers_each_row(y) && y.dim(1) > 1),
      buckets_(options.buckets),
      has_format_(options.format || options.normalise),
      format_(options.format.value_or(SampleFormat{})) {
  const NoTape unrecorded;
  check_shapes(name, x, y);
  check_lengths_of(name, x, options);
  const Tensor &lengths = options.lengths, rows_of_x = without_padding(x, lengths, 0);
  const double filling = kind() == TaskKind::classification ? static_cast<double>(no_answer) : 0;
  const Tensor answers = answers_each_row_ ? without_padding(y, lengths, filling) : as_answers(y);
  check_numbers(name, rows_of_x, answers);
  const std::int64_t classes = options.classes != 0 ? options.classes : std::ssize(format_.words);
  outputs_ = kind() == TaskKind::classification ? count_classes(name, answers, classes) : answers.dim(-1);
  const Parts parts = share_out(name, y, options);
  const auto rows = [&](const Tensor& positions) {
    if (!lengths.defined()) return Batch{take(rows_of_x, positions), take(answers, positions)};
    const Tensor sorted = by_length(positions, lengths);
    return Batch{take(rows_of_x, sorted), take(answers, sorted), take(lengths, sorted)};
  };
  train_ = rows(parts.train);
  held_out_ = {.validation = rows(parts.validation), .test = rows(parts.test)};
  if (options.normalise) normalise(*options.normalise);
  complete_format();
}

void Dataset::normalise(Normalisation kind_of_scale) {
  const Tensor& lengths = train_.lengths;
  format_.x = retrace::normalise(own_rows(train_.x, lengths), kind_of_scale);
  if (kind() == TaskKind::regression)
    format_.y = retrace::normalise(answers_each_row_ ? own_rows(train_.y, lengths) : train_.y, kind_of_scale);
  for (Batch* part : {&train_, &held_out_.validation, &held_out_.test}) {
    part->x = (*format_.x)(part->x);
    if (!format_.y) continue;
    part->y = (*format_.y)(part->y);
    if (answers_each_row_) part->y = without_padding(part->y, part->lengths, 0);
  }
}

void Dataset::complete_format() {
  format_.different_lengths = has_lengths();
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

std::string Dataset::fingerprint() const {
  std::vector<NamedTensor> samples;
  for (const Batch* part : {&train_, &held_out_.validation, &held_out_.test})
    for (const Tensor& tensor : {part->x, part->y, part->lengths})
      if (tensor.defined()) samples.push_back({to_text(tensor.shape()), tensor});
  return weights_hash(samples);
}

Baselines Dataset::baselines() const {
  const auto answers_of = [&](const Batch& part) {
    return answers_each_row_ ? own_rows(part.y, part.lengths) : part.y;
  };
  const Tensor train = answers_of(train_), test = answers_of(held_out_.test);
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
  const Tensor rows =
      has_lengths() ? rows_of_a_bucket(random, batch.size()) : random.integers({batch.size()}, train_.size());
  copy_values(take(train_.x, rows).to(batch.x.dtype()), batch.x);
  copy_values(take(train_.y, rows).to(batch.y.dtype()), batch.y);
  if (has_lengths()) copy_values(take(train_.lengths, rows), batch.lengths);
}

// A sample of the sorted ones says which bucket it is, so that each bucket is as likely as it is large.
Tensor Dataset::rows_of_a_bucket(Random& random, std::int64_t count) const {
  const std::int64_t samples = train_.size(), buckets = std::min(buckets_, samples);
  const std::int64_t bucket = random.integer(samples) * buckets / samples;
  const auto begin_of = [&](std::int64_t number) { return (number * samples + buckets - 1) / buckets; };
  const std::int64_t begin = begin_of(bucket), size = begin_of(bucket + 1) - begin;
  Tensor rows = random.integers({count}, size);
  for (std::int64_t& row : rows.mutable_values<std::int64_t>()) row += begin;
  return rows;
}

}  // namespace retrace
