// The answers of a trained model to samples of a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <retrace/models/training/stored_run.h>

namespace retrace {

/// Answers to N samples, A each.
struct Answers {
  std::string path;                   // of the model's file
  std::string task;                   // that it was trained on
  TaskKind kind;                      // whether it answers with labels or numbers
  std::vector<std::string> samples;   // the names of the sequences, or numbers from 1
  std::int64_t answers_a_sample = 1;  // A
  std::vector<std::string> outputs;   // the O classes in words, or the names of the O numbers
  std::vector<std::int64_t> labels;   // of a classification: the most likely class of each answer, [N * A]
  std::vector<double> values;         // probabilities of the classes, or numbers in the units of the data, [N * A * O]
};

/// Answers the samples of a file (tasks/sample_format.h); of a text, with the most likely token after each of its own,
/// given those before. Normalised numbers are normalised as they were for the
/// training. `separator` is that of the columns, if it is not the training's. Throws what read_samples throws,
/// ValueError for numbers that are not finite, and FileError for a model whose answers are not.
Answers predict(const StoredRun& run, const std::string& file, const std::string& separator = {});

/// Lines with a header: sample, label, probability; of a regression: sample, and a number for each output; if a sample
/// has several answers, with the number of the answer from 1. With `probabilities`, one more column for each class.
std::string to_csv(const Answers& answers, bool probabilities);
/// One object: the model, the classes or outputs, and a list of answers with the numbers that to_csv writes.
std::string to_json(const Answers& answers);

}  // namespace retrace
