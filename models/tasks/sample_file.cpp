#include <retrace/core/error.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/data/pad.h>
#include <retrace/models/tasks/sample_file.h>
#include <retrace/models/tasks/sample_format.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace retrace {
namespace {

/// Throws unless each sequence has the steps that the model was trained on.
void check_steps(const std::string& who, const FileSamples& samples, const SampleFormat& format) {
  const Tensor& x = samples.x;
  const bool differ = samples.lengths.defined(), may_differ = format.different_lengths;
  const bool fit = may_differ ? x.dim(1) <= format.steps : x.dim(1) == format.steps && !differ;
  if (fit && x.dim(2) == format.features) return;
  throw ShapeError(text(who, ": x", x.shape(), differ ? ", of different lengths," : "", " must be [samples, ",
                        may_differ ? "1 to " : "", format.steps, ", ", format.features,
                        "], as the data that the model was trained on"));
}

FileSamples read_csv_samples(const std::string& path, const std::string& who, const SampleFormat& format) {
  if (format.columns.empty())
    throw ValueError(text(who,
                          ": the model was not trained on a .csv file, and its columns have no names; give a .npy ",
                          "file of shape [samples, ", format.steps, ", ", format.features, "]"));
  CsvOptions options{.columns = format.columns};
  if (!format.sequence.empty()) {
    options.columns.push_back(format.sequence);
    options.words = {format.sequence};
  }
  const Csv csv = read_csv(path, options);
  check_numbers(who, csv);
  const SequenceLines lines = sequence_lines(who, csv, format.sequence);
  const Tensor numbers = slice(csv.values, {all, range(0, std::ssize(format.columns))});
  return in_sequences(who, numbers, lines, format.features);
}

}  // namespace

SampleFileKind kind_of_sample_file(const char* function, const std::string& path) {
  if (path.ends_with(".csv")) return SampleFileKind::csv;
  if (path.ends_with(".npy")) return SampleFileKind::npy;
  if (path.ends_with(".npz")) return SampleFileKind::npz;
  throw ValueError(text(function, ": ", path, ": a file of samples ends in .csv, .npy or .npz; rename or convert it"));
}

SequenceLines sequence_lines(const std::string& function, const Csv& csv, const std::string& column) {
  const std::int64_t lines = csv.values.dim(0);
  if (column.empty()) return {.lengths = std::vector<std::int64_t>(static_cast<std::size_t>(lines), 1)};
  const Tensor labels = csv.labels(column);
  const auto ids = labels.values<std::int64_t>();
  const std::vector<std::string>& words = csv.words.at(column);
  SequenceLines result;
  std::set<std::int64_t> seen;
  for (std::int64_t line = 0, first = 0; line < lines; ++line) {
    const std::int64_t id = ids[static_cast<std::size_t>(line)];
    const bool last = line + 1 == lines || ids[static_cast<std::size_t>(line + 1)] != id;
    if (!last) continue;
    const std::string& name = words[static_cast<std::size_t>(id)];
    if (!seen.insert(id).second)
      throw FileError(text(function, ": the lines of the sequence '", name, "' do not follow each other; sort them"));
    result.lengths.push_back(line + 1 - first);
    result.names.push_back(name);
    first = line + 1;
  }
  return result;
}

bool SequenceLines::differ() const {
  return std::ranges::any_of(lengths, [this](std::int64_t length) { return length != lengths.front(); });
}

void check_numbers(const std::string& function, const Csv& csv) {
  const auto values = csv.values.values<double>();
  const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (wrong == values.end()) return;
  const auto place = static_cast<std::size_t>(wrong - values.begin()), columns = csv.names.size();
  throw ValueError(text(function, ": line ", csv.lines[place / columns], ": the number in the column '",
                        csv.names[place % columns], "' is ", *wrong, "; remove the sample or fill in a number"));
}

Tensor in_steps(const std::string& function, const Tensor& numbers, std::int64_t features) {
  if (numbers.rank() == 3) return numbers;
  if (numbers.rank() != 2 || features < 1 || numbers.dim(1) < 1 || numbers.dim(1) % features != 0)
    throw ShapeError(text(function, ": x", numbers.shape(),
                          " must be [samples, steps, features], or [samples, numbers] ", "with a multiple of ",
                          features, " numbers"));
  return reshape(numbers, {numbers.dim(0), numbers.dim(1) / features, features});
}

FileSamples in_sequences(const std::string& function, const Tensor& numbers, const SequenceLines& sequences,
                         std::int64_t features) {
  const std::int64_t count = std::ssize(sequences.lengths), width = numbers.dim(1);
  if (!sequences.differ()) {
    const std::int64_t length = count > 0 ? sequences.lengths.front() : 1;
    return {.x = in_steps(function, reshape(numbers, {count, length * width}), features), .names = sequences.names};
  }
  if (features != width)
    throw ShapeError(text(function, ": sequences of different lengths have a line of ", width,
                          " numbers per step, not ", features, "; leave --features out"));
  Tensors rows;
  std::int64_t first = 0;
  for (const std::int64_t length : sequences.lengths) {
    rows.push_back(slice(numbers, {range(first, first + length)}));
    first += length;
  }
  const PaddedBatch padded = pad(rows);
  return {.x = padded.values, .lengths = padded.lengths, .names = sequences.names};
}

FileSamples read_samples(const std::string& path, const SampleFormat& format) {
  const std::string who = text("read_samples: ", path);
  const NoTape unrecorded;
  FileSamples samples;
  const SampleFileKind kind = kind_of_sample_file("read_samples", path);
  if (kind == SampleFileKind::csv)
    samples = read_csv_samples(path, who, format);
  else
    samples.x =
        in_steps(who, (kind == SampleFileKind::npy ? read_npy(path) : read_npz(path, "x")).to(f64), format.features);
  check_steps(who, samples, format);
  return samples;
}

}  // namespace retrace
