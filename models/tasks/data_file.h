// The task "data": a file of the user's.
#pragma once

#include <memory>
#include <string_view>

#include <retrace/models/tasks/dataset.h>

namespace retrace {

/// The samples of a file as a task. A .csv or .tsv file has a header, and each line is a sample, or, with the option
/// `sequence`, a step of the sequence that this column names: lines of one sequence follow each other and agree in
/// their answer. Lengths may differ. The answers are the classes in the column `label` (words or numbers), or
/// the numbers in the columns `target`; columns that `ignore` names, and those without a name, are left out, and all
/// others are numbers of x. With `features`, a line is a sequence itself: steps of so many numbers. A .npz file has the
/// arrays x [N, T, I] (or [N, T * I]) and y [N], i64 from 0 for classes, or [N] or [N, O] of floats, or [N, T] or
/// [N, T, O] with an answer for each step; of .npy files, `data` has x, and `label` or `target` y. Numbers are
/// normalised to mean 0 and variance 1 over the samples to train on.
class DataFile {
 public:
  static constexpr std::string_view option_names = "data, label, target, sequence, features, ignore, separator";
  /// Throws ValueError for options that are missing or do not fit, FileError for a file that cannot be read, and what
  /// Dataset throws.
  static std::unique_ptr<Task> make(const TaskOptions& options);
};

/// A task of that format without samples: it has the sizes and the words of a Dataset, and nothing to train on.
std::unique_ptr<Task> task_without_samples(std::string_view name, const SampleFormat& format);

/// The samples and answers of another file, all to test on: of a .csv file those columns that the format and `label` of
/// the options name, or the arrays x and y of a .npz file. Throws what DataFile::make throws, and ValueError for a
/// class that the format does not have. Of a text, the file is one in the same tokens.
std::unique_ptr<Task> task_on_file(std::string_view name, const SampleFormat& format, const TaskOptions& options,
                                   const std::string& path);

}  // namespace retrace
