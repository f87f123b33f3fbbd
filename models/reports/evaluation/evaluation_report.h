// The report on a trained model: `retrace eval`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/attention_example.h>
#include <retrace/models/reports/evaluation/attention_heads.h>
#include <retrace/models/reports/evaluation/categories.h>
#include <retrace/models/reports/evaluation/classes.h>
#include <retrace/models/reports/evaluation/failures.h>
#include <retrace/models/reports/evaluation/memory_use.h>
#include <retrace/models/reports/evaluation/text_test.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/stored_run.h>

namespace retrace {

struct ReportOptions {
  std::optional<std::int64_t> samples = {};  // if not given, as many as the training's test had
  std::optional<std::uint64_t> seed = {};    // if not given, the training's own, whose test samples it draws again
  std::int64_t failures = 5;                 // that are shown; of a text, passages
  std::int64_t examples = 3;                 // whose attention is shown
  std::optional<KeepLearningOptions> keep_learning = {};  // of a text: also test a model that goes on learning
};

struct Report {
  std::string path, task, model, memory_kind;  // memory_kind: of a relational-rnn
  TaskOptions task_options;
  TaskKind kind = TaskKind::classification;
  Metric measure = Metric::accuracy;
  std::int64_t parameters = 0;
  std::int64_t step = 0;  // of a checkpoint; 0 for the weights of a finished training
  std::uint64_t seed = 0;
  std::int64_t samples = 0;
  std::string input = {};       // another file than the training's, whose samples these are
  bool held_out = false;        // the samples are held out by the task; the seed then has no effect
  bool as_in_training = false;  // exactly the samples of the training's test
  Evaluation evaluation;
  Estimate metric;  // its value and confidence interval
  Baselines baselines;
  ClassTable classes = {};  // of a classification of held-out samples
  std::vector<CategoryTable> categories = {};
  Estimate of_every_difficulty = {};  // as many samples of Task::of_every_difficulty(), if the task has it
  std::vector<CategoryTable> of_every_difficulty_categories = {};
  std::int64_t failure_count = 0;  // samples
  std::vector<Failure> failures = {};
  std::optional<TextTest> text = {};
  std::optional<MemoryUse> memory = {};  // of a model with slots, over the first samples
  bool memory_at_one_length = false;     // of samples of different lengths: over those of the most frequent one
  std::vector<AttentionExample> examples = {};
  std::optional<AttentionOfSample> attention = {};  // of a model with attention, for one of the first samples
};

/// Tests the model on samples of its task, which `ranks` share: each then has the whole report, the same as one process
/// (a text is read by every rank). Throws ValueError for less than one sample, and for options that a text, or
/// another task, does not have; and FileError if the model's loss is not finite.
Report make_report(const StoredRun& run, const ReportOptions& options = {}, Communicator* ranks = nullptr);

/// For a terminal.
std::string to_text(const Report& report);
/// One JSON object; null for numbers that are not finite.
std::string to_json(const Report& report);
/// The tables and the failures as a self-contained page.
std::string report_page(const Report& report);
/// A self-contained page. Of a model with slots: the attention of the examples step by step, the row to remember marked
/// in red, as in figure 3 of the relational memory core's paper; and the slots over time. Of any model with attention:
/// the weights of every layer and head, and the gradients of the loss with respect to them. Nothing for a model that
/// has neither.
std::optional<std::string> attention_page(const Report& report);

}  // namespace retrace
