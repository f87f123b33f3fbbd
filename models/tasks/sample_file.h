// The parts of a user's file that samples are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/tasks/sample_format.h>

namespace retrace {

/// The ending of a file's name in small letters, without that of a packed file: ".csv" of "x.CSV.gz".
std::string ending_of(const std::string& path);

/// The kinds of files that samples come from.
enum class SampleFileKind { csv, npy, npz };
/// A file of samples. What is no file on a disk, standard input ("-") or a pipe, can be read only once: its content is
/// then here, and says which kind it is. So is that of a file that was read already.
struct SampleSource {
  std::string path;
  SampleFileKind kind;
  std::optional<std::string> content = {};

  Csv read_csv(const CsvOptions& options) const;
  /// The samples x of an array.
  Tensor read_array() const;
};
/// Throws ValueError, in the name of `function`, for a name of another ending and for another content.
SampleSource sample_source(const std::string& function, const std::string& path);

/// Lines of a .csv file that make up sequences.
struct SequenceLines {
  std::vector<std::int64_t> lengths = {};  // N: lines of each
  std::vector<std::string> names = {};     // words of the column; empty: a line is a sequence
  std::vector<std::string> places = {};    // N: where they are, in words

  bool differ() const;  // whether not all have the same length
};
/// The sequences that a column of words tells apart; without a column, each line is one. Throws FileError, in the name
/// of `function`, for one whose lines do not follow each other.
SequenceLines sequence_lines(const std::string& function, const Csv& csv, const std::string& column);
/// The sequences of numbers [lines, ...] in steps of I features: x [N, T, I], and lengths where they differ. Throws
/// ShapeError, in the name of `function`, if the numbers of a sequence do not make such steps, and for sequences of
/// different lengths if a line is not a step.
FileSamples in_sequences(const std::string& function, const Tensor& numbers, const SequenceLines& sequences,
                         std::int64_t features);

/// Throws ValueError, in the name of `function`, with the line and the column of a number that is not finite.
void check_numbers(const std::string& function, const Csv& csv);

/// Samples of an array: numbers [N, ...] as [N, T, I], where I features divide the numbers of a sample. Throws
/// ShapeError, in the name of `function`, if they do not.
Tensor in_steps(const std::string& function, const Tensor& numbers, std::int64_t features);

/// Throws ShapeError, in the name of `function`, unless each sequence has the steps that a format has.
void check_steps(const std::string& function, const FileSamples& samples, const SampleFormat& format);

}  // namespace retrace
