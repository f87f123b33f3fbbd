// A sample and the answers of a model.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/tasks/task.h>

namespace retrace {

struct Prediction {
  Example example;
  TaskKind kind;
  std::vector<std::int64_t> given;           // of a classification: the most likely label of each answer
  std::vector<std::vector<double>> outputs;  // of each answer: probabilities of the labels, or numbers

  /// Whether the row has an answer.
  bool counts(std::int64_t answer) const { return kind == TaskKind::regression || example.label(answer) != no_answer; }
  /// 1 for a right label, 0 for a wrong one; the mean squared error of numbers.
  double score(std::int64_t answer) const;
  /// The sum of the scores over the answers that count, and their number.
  double total() const;
  std::int64_t counted() const;
  /// Whether any label is wrong, or any number differs.
  bool failed() const;

  /// The right answer, and the one given, in the task's words; several are joined.
  std::string expected_words(const Task& task) const;
  std::string given_words(const Task& task) const;
  /// The probability that the model gave to the right labels, or to its own: the product over the answers.
  double probability_of_expected() const;
  double probability_of_given() const;
};

/// A sample that was answered, in the task's words.
struct AnsweredSample {
  std::string input, expected, given;
  bool right = false;
  std::vector<std::string> rows = {};  // T
};
AnsweredSample in_words(const Task& task, const Prediction& sample);

/// The samples of a batch with the output of a model, [B, O] or [B, A, O].
std::vector<Prediction> answered(const Task& task, const Batch& batch, const Tensor& output);

}  // namespace retrace
