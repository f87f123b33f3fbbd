#include <retrace/core/base/error.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/formats/csv_field.h>
#include <retrace/models/tasks/answered_file.h>
#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

/// One answer per sequence, of the numbers [lines, O].
Tensor answers_of(const std::string& function, const Tensor& lines, const SequenceLines& sequences) {
  const auto values = lines.values<double>();
  const auto width = static_cast<std::size_t>(lines.dim(1));
  std::vector<std::int64_t> firsts;
  std::int64_t line = 0;
  for (std::size_t k = 0; k < sequences.lengths.size(); ++k) {
    firsts.push_back(line);
    const auto first = values.subspan(static_cast<std::size_t>(line) * width, width);
    for (const std::int64_t end = line + sequences.lengths[k]; line < end; ++line)
      if (!std::ranges::equal(first, values.subspan(static_cast<std::size_t>(line) * width, width)))
        throw FileError(text(function, ": the lines of the sequence '", sequences.names[k],
                             "' have different answers; a sequence has one, in all of its lines"));
  }
  return take(lines, indices(std::span<const std::int64_t>(firsts), {std::ssize(firsts)}));
}

/// Whether the numbers of a column are 0, 1, 2, ... or 1, 2, 3, ... from the first line to the last.
bool counts_lines(const Tensor& column) {
  const auto values = column.values<double>();
  if (values.size() < 3 || (values.front() != 0 && values.front() != 1)) return false;
  for (std::size_t line = 0; line < values.size(); ++line)
    if (values[line] != values.front() + static_cast<double>(line)) return false;
  return true;
}

/// Whether a name is a number with a decimal point.
bool is_fraction(const std::string& name) {
  return name.find('.') != std::string::npos && name.find_first_not_of("+-.0123456789eE") == std::string::npos;
}

/// Remarks about the columns from which these samples were read.
std::vector<std::string> remarks_on(const Csv& csv, const CsvColumns& columns, const AnsweredSamples& made) {
  constexpr std::size_t many = 20;
  std::vector<std::string> remarks;
  if (columns.has_nameless)
    remarks.emplace_back(
        "left out: the column without a name, by which pandas and R number the lines; to learn from it, name it");
  for (const std::string& name : columns.numbers)
    if (counts_lines(csv.column(name)))
      remarks.push_back(text("the column '", name,
                             "' counts the lines of the file; if it says nothing about a sample, ",
                             "leave it out: --ignore ", csv_field(name)));
  const auto fraction = std::ranges::find_if(columns.numbers, is_fraction);
  if (fraction != columns.numbers.end())
    remarks.push_back(text("a column is named '", *fraction,
                           "'; if that is a number of a sample, the file has no header: ",
                           "put a line with the names of the columns above it"));
  const auto samples = static_cast<std::size_t>(made.y.dim(0)), classes = made.words.size();
  if (classes > many && 2 * classes > samples)
    remarks.push_back(text("the column '", columns.label.front(), "' has ", classes, " classes in ", samples,
                           " samples; if it holds numbers to predict, give --target instead of --label"));
  return remarks;
}

}  // namespace

AnsweredSamples read_answered_csv(const std::string& function, const SampleSource& source, const CsvColumns& columns,
                                  char separator, std::int64_t features) {
  CsvOptions options{.separator = separator, .words = columns.label, .columns = columns.all()};
  options.words.insert(options.words.end(), columns.sequence.begin(), columns.sequence.end());
  const Csv csv = source.read_csv(options);
  check_numbers(function, csv);
  const SequenceLines sequences =
      sequence_lines(function, csv, columns.sequence.empty() ? "" : columns.sequence.front());
  const auto width = std::ssize(columns.numbers), answers = std::ssize(columns.label) + std::ssize(columns.target);
  AnsweredSamples result{
      .samples = in_sequences(function, slice(csv.values, {all, range(0, width)}), sequences, features),
      .y = answers_of(function, slice(csv.values, {all, range(width, width + answers)}), sequences)};
  if (!columns.label.empty()) {
    result.y = reshape(result.y, {result.y.dim(0)}).to(i64);
    result.words = csv.words.at(columns.label.front());
  }
  result.remarks = remarks_on(csv, columns, result);
  return result;
}

AnsweredSamples read_answered_arrays(const std::string& function, const SampleSource& source,
                                     const TaskOptions& options) {
  const bool in_one_file = source.kind == SampleFileKind::npz;
  if (options.sequence || options.ignore || options.separator || (in_one_file && (options.label || options.target)))
    throw ValueError(text(function,
                          ": --label, --target, --sequence, --ignore and --separator name columns of a .csv file; an ",
                          ".npz file has the arrays x and y"));
  if (!in_one_file && options.label.has_value() == options.target.has_value())
    throw ValueError(text(function, ": a .npy file has only the samples x; give the file of their answers, too: ",
                          "--label y.npy for classes (integers from 0), or --target y.npy for numbers"));
  const Tensor numbers = source.read_array().to(f64);
  const Tensor y =
      in_one_file ? read_npz(source.path, "y") : read_npy(options.label ? *options.label : *options.target);
  if (options.label && y.dtype() != i64)
    throw ValueError(text(function, ": --label ", *options.label,
                          ": the array has floats, and classes are integers from ",
                          "0; convert it with astype(int), or give --target for numbers"));
  const std::int64_t width = numbers.rank() == 2 ? numbers.dim(1) : 1;
  return {.samples = {.x = in_steps(function, numbers, options.features.value_or(width))},
          .y = y.dtype() == i64 && !options.target ? y : y.to(f64)};
}

}  // namespace retrace
