#include <retrace/models/data/npz.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/sample_file.h>
#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

std::vector<std::string> separated(const std::optional<std::string>& names) {
  std::vector<std::string> result;
  if (!names || names->empty()) return result;
  for (std::size_t begin = 0; begin <= names->size();) {
    const std::size_t end = std::min(names->find(',', begin), names->size());
    result.push_back(names->substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// The columns with numbers of x: those that have no other role.
std::vector<std::string> number_columns(const std::string& path, const std::vector<std::string>& with_roles) {
  std::vector<std::string> columns;
  for (std::string& name : read_csv_header(path))
    if (std::ranges::find(with_roles, name) == with_roles.end()) columns.push_back(std::move(name));
  if (columns.empty()) throw ValueError(text("data: ", path, ": no column is left for the numbers of x"));
  return columns;
}

/// One answer per sequence, of the numbers [lines, O].
Tensor answers_of(const std::string& path, const Tensor& lines, const SequenceLines& sequences) {
  const auto values = lines.values<double>();
  const auto width = static_cast<std::size_t>(lines.dim(1));
  std::vector<std::int64_t> firsts;
  std::int64_t line = 0;
  for (std::size_t k = 0; k < sequences.lengths.size(); ++k) {
    firsts.push_back(line);
    const auto first = values.subspan(static_cast<std::size_t>(line) * width, width);
    for (const std::int64_t end = line + sequences.lengths[k]; line < end; ++line)
      if (!std::ranges::equal(first, values.subspan(static_cast<std::size_t>(line) * width, width)))
        throw FileError(text("data: ", path, ": the lines of the sequence '", sequences.names[k],
                             "' have different answers; a sequence has one, in all of its lines"));
  }
  return take(lines, indices(std::span<const std::int64_t>(firsts), {std::ssize(firsts)}));
}

struct Roles {
  std::vector<std::string> label, target, sequence, ignored;

  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto* some : {&label, &target, &sequence, &ignored})
      names.insert(names.end(), some->begin(), some->end());
    return names;
  }
};

/// Throws ValueError if a column that is to be ignored is not in the file, or has another role.
void check_ignored(const std::string& path, const Roles& roles) {
  if (roles.ignored.empty()) return;
  const std::vector<std::string> header = read_csv_header(path);
  const std::vector<std::string_view> columns(header.begin(), header.end());
  for (const std::string& name : roles.ignored) {
    if (std::ranges::find(columns, name) == columns.end())
      throw ValueError(unknown_name(text("data: ", path, ": --ignore"), "column", name, columns));
    for (const auto* used : {&roles.label, &roles.target, &roles.sequence})
      if (std::ranges::find(*used, name) != used->end())
        throw ValueError(
            text("data: ", path, ": the column '", name, "' is ignored and used; leave it out of one list"));
  }
}

Roles roles_in(const std::string& path, const TaskOptions& options) {
  Roles roles{.label = {}, .target = separated(options.target), .sequence = {}, .ignored = separated(options.ignore)};
  if (options.label) roles.label = {*options.label};
  if (options.sequence) roles.sequence = {*options.sequence};
  if (roles.label.empty() == roles.target.empty()) {
    std::string columns;
    for (const std::string& name : read_csv_header(path)) columns += (columns.empty() ? "" : ", ") + name;
    throw ValueError(text("data: ", path, ": give --label COLUMN for classes, or --target COLUMNS for numbers, of the ",
                          "columns ", columns));
  }
  check_ignored(path, roles);
  return roles;
}

std::unique_ptr<Task> from_csv(const std::string& path, const TaskOptions& options) {
  const Roles roles = roles_in(path, options);
  SampleFormat format{.columns = number_columns(path, roles.all()), .sequence = options.sequence.value_or("")};
  CsvOptions wanted{.words = roles.label, .columns = format.columns};
  wanted.words.insert(wanted.words.end(), roles.sequence.begin(), roles.sequence.end());
  for (const auto* some : {&roles.label, &roles.target, &roles.sequence})
    wanted.columns.insert(wanted.columns.end(), some->begin(), some->end());
  const Csv csv = read_csv(path, wanted);
  check_numbers(text("data: ", path), csv);
  const SequenceLines sequences = sequence_lines(text("data: ", path), csv, format.sequence);
  const auto width = std::ssize(format.columns), answers = std::ssize(roles.label) + std::ssize(roles.target);
  const FileSamples samples = in_sequences(text("data: ", path), slice(csv.values, {all, range(0, width)}), sequences,
                                           options.features.value_or(width));
  const Tensor y = answers_of(path, slice(csv.values, {all, range(width, width + answers)}), sequences);
  if (!roles.label.empty()) format.words = csv.words.at(roles.label.front());
  format.targets = roles.target;
  return std::make_unique<Dataset>(
      "data", samples.x, roles.label.empty() ? y : reshape(y, {y.dim(0)}).to(i64),
      DatasetOptions{
          .lengths = samples.lengths, .stratified = true, .normalise = Normalisation::standard, .format = format});
}

std::unique_ptr<Task> from_npz(const std::string& path, const TaskOptions& options) {
  if (options.label || options.target || options.sequence || options.ignore)
    throw ValueError(text("data: ", path,
                          ": --label, --target, --sequence and --ignore name columns of a .csv file; an ",
                          ".npz file has the arrays x and y"));
  const Tensor numbers = read_npz(path, "x").to(f64), y = read_npz(path, "y");
  const std::int64_t width = numbers.rank() == 2 ? numbers.dim(1) : 1;
  return std::make_unique<Dataset>(
      "data", in_steps(text("data: ", path), numbers, options.features.value_or(width)),
      y.dtype() == i64 ? y : y.to(f64),
      DatasetOptions{.stratified = true, .normalise = Normalisation::standard, .format = SampleFormat{}});
}

/// See task_without_samples.
class FormatTask final : public Task {
 public:
  FormatTask(std::string_view name, const SampleFormat& format)
      : Task(name, format.targets.empty() ? TaskKind::classification : TaskKind::regression), format_(format) {}
  std::int64_t input_size() const override { return format_.features; }
  std::int64_t sequence_length() const override { return format_.steps; }
  std::int64_t output_size() const override { return format_.outputs; }
  bool has_lengths() const override { return format_.different_lengths; }
  Baselines baselines() const override { return {}; }
  const SampleFormat* format() const override { return &format_; }
  std::string describe_label(std::int64_t label) const override { return format_.describe_label(label); }

 private:
  void fill(Random&, const Batch&) const override {
    throw ValueError(text(name(), ": the file of the samples was not read; there are none"));
  }

  SampleFormat format_;
};

}  // namespace

std::unique_ptr<Task> DataFile::make(const TaskOptions& options) {
  if (!options.data) throw ValueError("data: there is no file to learn from; give --data FILE, a .csv or .npz file");
  const NoTape unrecorded;
  switch (kind_of_sample_file("data", *options.data)) {
    case SampleFileKind::csv:
      return from_csv(*options.data, options);
    case SampleFileKind::npz:
      return from_npz(*options.data, options);
    case SampleFileKind::npy:
      break;
  }
  throw ValueError(
      text("data: ", *options.data, ": a .npy file has one array, and a training needs two: samples x ",
           "[N, T, I] or [N, I], and their answers y [N] (integers from 0 are classes, floats are numbers); ",
           "save both by numpy.savez(\"data.npz\", x=x, y=y), and give --data data.npz"));
}

std::unique_ptr<Task> task_without_samples(std::string_view name, const SampleFormat& format) {
  return std::make_unique<FormatTask>(name, format);
}

}  // namespace retrace
