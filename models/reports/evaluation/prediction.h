// A sample and what a model answered to it.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/tasks/task.h>

namespace retrace {

struct Prediction {
  Example example;
  TaskKind kind;
  std::vector<std::int64_t> given;           // of a classification: the likeliest label of each answer
  std::vector<std::vector<double>> outputs;  // of each answer: probabilities of the labels, or numbers

  /// Whether something is asked there.
  bool counts(std::int64_t answer) const { return kind == TaskKind::regression || example.label(answer) != no_answer; }
  /// 1 for a right label, 0 for a wrong one; the mean squared error of numbers.
  double score(std::int64_t answer) const;
  /// Over the answers that count: the sum of the scores, and how many they are.
  double total() const;
  std::int64_t counted() const;
  /// Any label wrong; any error at all.
  bool failed() const;

  /// The answer that was asked for, and the one given, in the task's words: of several, all in a row.
  std::string expected_words(const Task& task) const;
  std::string given_words(const Task& task) const;
  /// What the model held the right labels, or those that it gave, to be: the product over the answers.
  double probability_of_expected() const;
  double probability_of_given() const;
};

/// The samples of a batch with the output of a model, [B, O] or [B, A, O].
std::vector<Prediction> answered(const Task& task, const Batch& batch, const Tensor& output);

}  // namespace retrace
