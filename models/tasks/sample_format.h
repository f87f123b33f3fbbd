// How the samples of a user's file are written, and what a model that was trained on them has to know to answer others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <retrace/models/data/normalise.h>
#include <retrace/models/tasks/text/vocabulary.h>

namespace retrace {

class JsonFields;
class JsonObject;

/// The format of samples x [N, T, I] and of their answers.
struct SampleFormat {
  std::vector<std::string> columns = {};  // of a .csv file: the numbers of a line, in this order; empty: not from one
  std::string sequence = {};              // its column that tells sequences apart; empty: a line is a sample
  std::string separator = {};             // of its columns, as --separator has it; empty: that of the file's ending
  std::int64_t steps = 1;                 // T, of the longest sequence
  bool different_lengths = false;         // whether others may be shorter
  std::int64_t features = 1;              // I
  std::vector<std::string> words = {};    // of a classification: its classes, by label
  std::vector<std::string> targets = {};  // of a regression: the names of its numbers
  std::int64_t outputs = 1;               // O: the number of classes, or of numbers
  bool answers_each_row = false;          // whether each row has an answer, not only the last one
  std::optional<Normaliser> x = {};       // that the model sees, of the file's x
  std::optional<Normaliser> y = {};       // of a regression: that the model answers with, of the file's numbers
  std::optional<TokenKind> tokens = {};   // of a text, whose vocabulary `words` are
  std::string test_fingerprint = {};      // of a text: of the tokens to test on; empty: there are none

  /// The word of a class; its number where there are no words.
  std::string describe_label(std::int64_t label) const;
};

/// The format as the object "format" in the description of a stored model.
JsonObject to_json(const SampleFormat& format);
/// Reads the members of "format"; nothing if there is no such object. Throws ValueError for one that is missing or of
/// another type.
std::optional<SampleFormat> sample_format_in(const JsonFields& fields);

/// Sequences of a file.
struct FileSamples {
  Tensor x;                              // [N, T, I], f64, as in the file; zeros after the end of a sequence
  Tensor lengths = {};                   // [N] (i64), the steps of each; undefined: all have T
  std::vector<std::string> names = {};   // of the sequences; empty: they have none
  std::vector<std::string> places = {};  // of each: "line 12", "sequence r7, lines 12 to 14"; empty: its number
};

/// Reads the samples of a file that is written as the format says: of a .csv or .tsv file its columns, and no others; a
/// .npy file, or the array x of a .npz file, of shape [N, T, I] or [N, T * I]; each but .npz also packed as x.gz. "-"
/// is standard input, with lines or the bytes of a .npy file. Throws FileError for a file that cannot be read;
/// ValueError for a file of another kind, a column that it does not have and a number of a .csv file that is not
/// finite; ShapeError for an array of another shape, for a sequence longer than T, and for one that is shorter unless
/// lengths may differ.
FileSamples read_samples(const std::string& path, const SampleFormat& format);

}  // namespace retrace
