#include <retrace/models/data/split.h>
#include <retrace/models/tasks/dataset.h>
#include <retrace/models/tasks/dataset_checks.h>
#include <retrace/models/tasks/sample_file.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

// all_rows [N, T, ...] with `filling` in the rows after the end of each sample.
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
  if (samples < 3)
    throw ValueError(
        text("Dataset: ", task, ": ", samples, " samples cannot be split; training, validation and test need 3"));
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

TaskKind kind_of(const Tensor& y) { return y.dtype() == i64 ? TaskKind::classification : TaskKind::regression; }

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

Batch samples_at(const Batch& samples, const Tensor& positions) {
  return {take(samples.x, positions), take(samples.y, positions),
          samples.lengths.defined() ? take(samples.lengths, positions) : Tensor()};
}

/// Those at these positions; by default "x[12]" for sample 12.
std::vector<std::string> places_at(const std::vector<std::string>& places, const Tensor& positions) {
  std::vector<std::string> own;
  for (const std::int64_t sample : positions.values<std::int64_t>())
    own.push_back(places.empty() ? text("x[", sample, "]") : places[static_cast<std::size_t>(sample)]);
  return own;
}

/// Whether a model would see numbers far from 0 and 1.
bool is_far_from_1(const Normaliser& scales) {
  constexpr double far = 10;
  const auto is_far = [](double value) { return std::abs(value) > far; };
  return std::ranges::any_of(scales.shift, is_far) || std::ranges::any_of(scales.scale, is_far);
}

}  // namespace

Dataset::Dataset(std::string_view name, const PaddedBatch& x, const Tensor& y, DatasetOptions options)
    : Dataset(name, x.values, y, (options.lengths = x.lengths, options)) {}

Dataset::Dataset(std::string_view name, const Tensor& x, const Tensor& y, const DatasetOptions& options)
    : SampleTask(name, kind_of(y), options.format.value_or(SampleFormat{})),
      buckets_(options.buckets),
      has_format_(options.format || options.normalise),
      remarks_(options.remarks) {
  const NoTape unrecorded;
  check_shapes(name, x, y);
  check_lengths_of(name, x, options);
  format_.answers_each_row = answers_each_row(y) && y.dim(1) > 1;
  const Batch samples = without_padding(x, y, options.lengths);
  check_numbers(name, samples.x, samples.y);
  const std::int64_t classes = options.classes != 0 ? options.classes : std::ssize(format_.words);
  format_.outputs = kind() == TaskKind::classification ? count_classes(name, samples.y, classes) : samples.y.dim(-1);
  format_.steps = x.dim(1), format_.features = x.dim(2), format_.different_lengths = options.lengths.defined();
  name_targets();
  const Parts parts = share_out(name, y, options);
  const auto in_order = [&](const Tensor& positions) {
    return options.lengths.defined() ? by_length(positions, options.lengths) : positions;
  };
  const Tensor test = in_order(parts.test);
  train_ = samples_at(samples, in_order(parts.train));
  held_out_ = {samples_at(samples, in_order(parts.validation)), samples_at(samples, test),
               places_at(options.places, test)};
  measure(options.normalise);
}

Dataset::Dataset(std::string_view name, const SampleFormat& format, const FileSamples& samples, const Tensor& y)
    : SampleTask(name, kind_of(y), format), buckets_(1), has_format_(true) {
  const NoTape unrecorded;
  if (samples.x.dim(0) < 1) throw ValueError(text("Dataset: ", name, ": there is no sample to test on"));
  check_steps(text("Dataset: ", name), samples, format);
  check_shapes(name, samples.x, y);
  if (kind_of(y) != kind_of(format))
    throw DtypeError(text("Dataset: ", name, ": y", y.shape(), " is ", y.dtype(), ", and the model answers with ",
                          format.targets.empty() ? "classes" : "numbers"));
  held_out_.test = without_padding(samples.x, y, samples.lengths);
  held_out_.test_places = places_at(samples.places, arange(0, y.dim(0), 1, i64));
  const Tensor& answers = held_out_.test.y;
  check_numbers(name, held_out_.test.x, answers);
  if (kind() == TaskKind::classification)
    count_classes(name, answers, format.outputs);
  else if (answers.dim(-1) != format.outputs)
    throw ShapeError(text("Dataset: ", name, ": y", y.shape(), " must have ", format.outputs, " numbers, as the data ",
                          "that the model was trained on"));
  scale(held_out_.test);
}

Batch Dataset::without_padding(const Tensor& x, const Tensor& y, const Tensor& lengths) const {
  const double filling = kind() == TaskKind::classification ? static_cast<double>(no_answer) : 0;
  return {retrace::without_padding(x, lengths, 0),
          format_.answers_each_row ? retrace::without_padding(y, lengths, filling) : as_answers(y), lengths};
}

void Dataset::measure(const std::optional<Normalisation>& wanted) {
  const Normalisation how = wanted.value_or(Normalisation::standard);
  const Normaliser x = retrace::normalise(own_rows(train_.x, train_.lengths), how);
  std::optional<Normaliser> y;
  if (kind() == TaskKind::regression) y = retrace::normalise(answers_of(train_), how);
  if (wanted) {
    format_.x = x, format_.y = y;
    for (Batch* part : {&train_, &held_out_.validation, &held_out_.test}) scale(*part);
    return;
  }
  x_spread_ = x.scale;
  if (y) y_spread_ = y->scale;
  if (is_far_from_1(x) || (y && is_far_from_1(*y)))
    remarks_.push_back(
        "numbers reach the model as they are, some of them far above 1; DatasetOptions{.normalise = "
        "Normalisation::standard} brings them to mean 0 and variance 1, as retrace train data does");
}

void Dataset::scale(Batch& part) const {
  if (format_.x) part.x = (*format_.x)(part.x);
  if (!format_.y) return;
  part.y = (*format_.y)(part.y);
  if (format_.answers_each_row) part.y = retrace::without_padding(part.y, part.lengths, 0);
}

void Dataset::name_targets() {
  if (kind() != TaskKind::regression || std::ssize(format_.targets) == format_.outputs) return;
  format_.targets.clear();
  for (std::int64_t k = 1; k <= format_.outputs; ++k)
    format_.targets.push_back(format_.outputs == 1 ? "y" : text("y", k));
}

Tensor Dataset::answers_of(const Batch& part) const {
  return format_.answers_each_row ? own_rows(part.y, part.lengths) : part.y;
}

std::string Dataset::fingerprint() const {
  std::vector<NamedTensor> samples;
  for (const Batch* part : {&train_, &held_out_.validation, &held_out_.test})
    for (const Tensor& tensor : {part->x, part->y, part->lengths})
      if (tensor.defined()) samples.push_back({to_text(tensor.shape()), tensor});
  return weights_hash(samples);
}

Baselines Dataset::baselines() const {
  const Tensor test = answers_of(held_out_.test), train = has_samples() ? answers_of(train_) : test;
  if (kind() == TaskKind::classification)
    return {.chance = 1 / static_cast<double>(format_.outputs),
            .trivial = share_of_most_frequent(train, test, format_.outputs),
            .trivial_answer = "the most frequent label",
            .ceiling = 1};
  const NoTape unrecorded;
  const Tensor center = mean(train.to(f64), 0);
  const double error = mean(square(test.to(f64) - center)).item();
  const double spread = mean(square(train.to(f64) - center)).item();
  return {.chance = error + spread, .trivial = error, .trivial_answer = "the mean", .ceiling = 0};
}

void Dataset::fill(Random& random, const Batch& batch) const {
  if (!has_samples()) throw ValueError(text(name(), ": its samples are for testing only; there are none to train on"));
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
