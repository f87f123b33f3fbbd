#include <retrace/core/base/error.h>
#include <retrace/models/data/inflate.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/data/pad.h>
#include <retrace/models/tasks/csv_columns.h>
#include <retrace/models/tasks/sample_file.h>
#include <retrace/models/tasks/sample_format.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace retrace {
namespace {

FileSamples read_csv_samples(const SampleSource& source, const std::string& who, const SampleFormat& format) {
  if (format.columns.empty())
    throw ValueError(text(who,
                          ": the model was not trained on a .csv file, and its columns have no names; give a .npy ",
                          "file of shape [samples, ", format.steps, ", ", format.features, "]"));
  CsvOptions options{.separator = separator_of(who, source.path, format.separator), .columns = format.columns};
  if (!format.sequence.empty()) {
    options.columns.push_back(format.sequence);
    options.words = {format.sequence};
  }
  const Csv csv = source.read_csv(options);
  check_numbers(who, csv);
  const SequenceLines lines = sequence_lines(who, csv, format.sequence);
  const Tensor numbers = slice(csv.values, {all, range(0, std::ssize(format.columns))});
  return in_sequences(who, numbers, lines, format.features);
}

std::optional<SampleFileKind> kind_of_ending(const std::string& ending) {
  if (ending == ".csv" || ending == ".tsv") return SampleFileKind::csv;
  if (ending == ".npy") return SampleFileKind::npy;
  if (ending == ".npz") return SampleFileKind::npz;
  return std::nullopt;
}

bool is_on_a_disk(const std::string& path) {
  if (path == standard_input || path.starts_with("/dev/")) return false;
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  return type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::character &&
         type != std::filesystem::file_type::socket;
}

}  // namespace

std::string ending_of(const std::string& path) {
  std::string name = path;
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return std::filesystem::path(name).extension().string();
}

SampleSource sample_source(const std::string& function, const std::string& path) {
  if (const auto kind = kind_of_ending(ending_of(path))) return {path, *kind};
  if (is_on_a_disk(path))
    throw ValueError(text(function, ": ", path, ": a file of samples ends in .csv, .tsv, .npy or .npz (or packed, in ",
                          ".csv.gz and so on); rename or convert it"));
  SampleSource source{path, SampleFileKind::csv, read_plain_or_gzip(path, text(function, ": ", path))};
  if (source.content->starts_with("\x93NUMPY")) source.kind = SampleFileKind::npy;
  if (source.content->starts_with("PK\x03\x04"))
    throw ValueError(
        text(function, ": ", path, ": a .npz file is read by its name only; give it, or the array by ", "numpy.save"));
  return source;
}

Csv SampleSource::read_csv(const CsvOptions& options) const {
  return content ? parse_csv(*content, path, options) : retrace::read_csv(path, options);
}

Tensor SampleSource::read_array() const {
  if (kind == SampleFileKind::npz) return read_npz(path, "x");
  return content ? parse_npy(*content, path) : read_npy(path);
}

SequenceLines sequence_lines(const std::string& function, const Csv& csv, const std::string& column) {
  const std::int64_t lines = csv.values.dim(0);
  const auto line_of = [&csv](std::int64_t line) { return csv.lines[static_cast<std::size_t>(line)]; };
  SequenceLines result;
  if (column.empty()) {
    result.lengths.assign(static_cast<std::size_t>(lines), 1);
    for (std::int64_t line = 0; line < lines; ++line) result.places.push_back(text("line ", line_of(line)));
    return result;
  }
  const Tensor labels = csv.labels(column);
  const auto ids = labels.values<std::int64_t>();
  const std::vector<std::string>& words = csv.words.at(column);
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
    result.places.push_back(text("sequence ", name, ", lines ", line_of(first), " to ", line_of(line)));
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
  const bool fit = numbers.rank() == 3 ||
                   (numbers.rank() == 2 && features >= 1 && numbers.dim(1) >= 1 && numbers.dim(1) % features == 0);
  if (!fit)
    throw ShapeError(text(function, ": x", numbers.shape(),
                          " must be [samples, steps, features], or [samples, numbers] ", "with a multiple of ",
                          features, " numbers"));
  return numbers.rank() == 3 ? numbers : reshape(numbers, {numbers.dim(0), numbers.dim(1) / features, features});
}

FileSamples in_sequences(const std::string& function, const Tensor& numbers, const SequenceLines& sequences,
                         std::int64_t features) {
  const std::int64_t count = std::ssize(sequences.lengths), width = numbers.dim(1);
  FileSamples samples;
  if (!sequences.differ()) {
    const std::int64_t length = count > 0 ? sequences.lengths.front() : 1;
    samples.x = in_steps(function, reshape(numbers, {count, length * width}), features);
  } else {
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
    samples = {.x = padded.values, .lengths = padded.lengths};
  }
  samples.names = sequences.names, samples.places = sequences.places;
  return samples;
}

void check_steps(const std::string& function, const FileSamples& samples, const SampleFormat& format) {
  const Tensor& x = samples.x;
  const bool differ = samples.lengths.defined(), may_differ = format.different_lengths;
  const bool fit = may_differ ? x.dim(1) <= format.steps : x.dim(1) == format.steps && !differ;
  if (fit && x.dim(2) == format.features) return;
  throw ShapeError(text(function, ": x", x.shape(), differ ? ", of different lengths," : "", " must be [samples, ",
                        may_differ ? "1 to " : "", format.steps, ", ", format.features,
                        "], as the data that the model was trained on"));
}

FileSamples read_samples(const std::string& path, const SampleFormat& format) {
  const std::string who = text("read_samples: ", path);
  const NoTape unrecorded;
  const SampleSource source = sample_source("read_samples", path);
  FileSamples samples = source.kind == SampleFileKind::csv
                            ? read_csv_samples(source, who, format)
                            : FileSamples{.x = in_steps(who, source.read_array().to(f64), format.features)};
  check_steps(who, samples, format);
  return samples;
}

}  // namespace retrace
