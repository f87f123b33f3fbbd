// Samples of a user's file together with their answers.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/tasks/csv_columns.h>
#include <retrace/models/tasks/sample_file.h>

namespace retrace {

/// Samples and their answers.
struct AnsweredSamples {
  FileSamples samples;
  Tensor y;                               // labels (i64) or numbers (f64): see Dataset
  std::vector<std::string> words = {};    // of a column of classes: those that occur, by label
  std::vector<std::string> remarks = {};  // what the user should know of the columns, a line each
};

/// Reads the columns of a .csv file. Throws what read_csv, sequence_lines and in_sequences throw; FileError, in the
/// name of `function`, for lines of a sequence with different answers.
AnsweredSamples read_answered_csv(const std::string& function, const SampleSource& source, const CsvColumns& columns,
                                  char separator, std::int64_t features);

/// Reads samples x [N, T, I] (or [N, T * I]) and answers y: the arrays x and y of a .npz file, or x of a .npy file and
/// y of another, which the options `label` (classes, integers) or `target` (numbers) name. Throws what read_npz and
/// read_npy throw; ValueError, in the name of `function`, for options that arrays do not have.
AnsweredSamples read_answered_arrays(const std::string& function, const SampleSource& source,
                                     const TaskOptions& options);

}  // namespace retrace
