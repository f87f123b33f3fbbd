// A task: samples made on the fly from a generator, and the baselines for its results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/core/tensor/tensor.h>
#include <retrace/models/tasks/example.h>
#include <retrace/models/tasks/sample_format.h>
#include <retrace/models/tasks/task_options.h>

namespace retrace {

/// Whether labels y (i64), or numbers, have an axis of rows: an answer for each row of x.
bool answers_each_row(const Tensor& y);

/// Sequences x [B, T, I] of the default dtype and the answers after their last row: labels y [B] (i64) of a
/// classification, numbers y [B, O] of a regression. Where each of the last A > 1 rows has an answer: y [B, A] or [B,
/// A, O]. Of a text, x are ids [B, T] (i64). With lengths [B] (i64), sample b has lengths[b] rows, and what follows in
/// x is padding; its answer comes after its own last row, or, where A = T, each of its rows has one (labels no_answer
/// and numbers 0 follow).
struct Batch {
  Tensor x;
  Tensor y;
  Tensor lengths = {};  // undefined: all have T rows

  std::int64_t size() const { return x.dim(0); }
  /// Samples [first, first + count).
  Batch part(std::int64_t first, std::int64_t count) const;
  /// Sample k alone, as a copy without its padding: x [1, lengths[k], I].
  Batch sample(std::int64_t k) const;
};

/// The label of a row without an answer, which is ignored by losses and metrics.
inline constexpr std::int64_t no_answer = -1;

/// Whether answers are labels or numbers.
enum class TaskKind { classification, regression };
/// The metric on unseen samples. Of a text, with the mean loss -ln p: bits per character, loss / ln 2; perplexity of
/// words, e^loss. More is better for accuracy only.
enum class Metric { accuracy, mse, bits_per_character, perplexity };
/// "accuracy", "mse", "bpc", "perplexity".
constexpr std::string_view name_of(Metric metric) {
  constexpr std::string_view names[] = {"accuracy", "mse", "bpc", "perplexity"};
  return names[static_cast<int>(metric)];
}
constexpr bool more_is_better(Metric metric) { return metric == Metric::accuracy; }
/// The metric from the mean, over answers, of what is summed up for it: right answers, squared errors, -ln p.
double metric_of(Metric metric, double mean);

/// Results in the task's metric to compare a model with.
struct Baselines {
  /// A wrong strategy at which a training may stay for long.
  struct Shortcut {
    std::string_view answer;
    double value;
  };
  double chance = 0;                     // of an answer drawn evenly from all possible ones
  double trivial = 0;                    // of the best answer that needs no understanding ...
  std::string_view trivial_answer = {};  // ... and its description
  std::optional<double> ceiling = 0;     // of the best possible answer; nothing if it is unknown
  std::optional<double> original = {};   // the result of the original NumPy programs, if they had the task
  std::vector<Shortcut> shortcuts = {};  // other answers that are better than chance but wrong
};

/// The samples that a task of finite data holds out from training.
struct HeldOut {
  Batch validation;
  Batch test;
  std::vector<std::string> test_places = {};  // of the samples of the test, for reports: "line 12"; empty: no names
};

struct TextData;
class Task;
/// An easier version of a task, and the accuracy on its samples at which training moves on to the next one.
struct Lesson {
  std::unique_ptr<Task> task;
  double pass_at = 0.8;
  double own = 1;  // the leading fraction of a batch on which the lesson is graded; the rest previews later lessons
};

/// Samples made on the fly, their baselines, and how they are described in reports.
class Task {
 public:
  Task(std::string_view name, TaskKind kind) : name_(name), kind_(kind) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  std::string_view name() const { return name_; }
  TaskKind kind() const { return kind_; }
  virtual Metric metric() const { return kind_ == TaskKind::regression ? Metric::mse : Metric::accuracy; }
  virtual std::int64_t input_size() const = 0;              // I
  virtual std::int64_t sequence_length() const = 0;         // T, the row of the question included
  virtual std::int64_t output_size() const = 0;             // O: classes, or numbers to predict
  virtual std::int64_t answer_length() const { return 1; }  // A: the last rows that each have an answer
  /// The rows of the longest sample before its first answer.
  virtual std::int64_t input_length() const { return sequence_length() - answer_length(); }
  virtual bool has_lengths() const { return false; }  // whether T is the longest of different lengths
  virtual Baselines baselines() const = 0;
  /// Easier versions of the same sizes to train on first, in order. By default there are none.
  virtual std::vector<Lesson> lessons() const { return {}; }
  /// The samples to validate and to test on. Nothing if the task has unlimited samples: they are then drawn like those
  /// to train on, from generators of their own.
  virtual std::optional<HeldOut> held_out() const { return std::nullopt; }
  /// The text whose next tokens are the answers. Its parts are read in segments of T tokens, one after the other
  /// (text/streams.h). Null for every other task.
  virtual const TextData* text_data() const { return nullptr; }
  /// A hash of all samples of a task of finite data, in hexadecimal digits; empty for one that draws them.
  virtual std::string fingerprint() const { return {}; }
  /// How other samples of the task are read from files and answered in words; null if x is read as it is.
  virtual const SampleFormat* format() const { return nullptr; }

  /// Remarks for the user about the data, a line each.
  virtual std::vector<std::string> remarks() const { return {}; }

  /// Makes this task, with the same I and O, for inputs of one length alone, to test how a model does on longer ones
  /// than it was trained on. Null if it has one length or makes no others; throws ValueError for a length that it
  /// cannot have.
  virtual std::unique_ptr<Task> of_length(std::int64_t /*length*/) const { return nullptr; }

  // For reports on samples that this task made. By default, they show numbers.

  /// The criteria by which samples differ in difficulty, with the values for this one and its answer of that number,
  /// from 0.
  virtual std::vector<Category> categories(const Example&, std::int64_t /*answer*/) const { return {}; }
  /// If all samples have the maximum difficulty, a task of the same sizes with easier ones among them.
  virtual std::unique_ptr<Task> of_every_difficulty() const { return nullptr; }
  /// A row in a few words; none for a row without content.
  virtual std::string describe_row(const Example& example, std::int64_t t) const { return written(example.row(t)); }
  /// The whole sample, the question included: by default a line per row with content, with its number from 1.
  virtual std::string describe(const Example& example) const;
  /// A class, and the numbers of an answer.
  virtual std::string describe_label(std::int64_t label) const { return std::to_string(label); }
  virtual std::string describe_numbers(std::span<const double> answer) const { return written(answer); }
  /// The row that has to be remembered to answer, if there is one: that of m, of the pair, of the last to take the
  /// ball.
  virtual std::optional<std::int64_t> row_to_remember(const Example&) const { return std::nullopt; }
  /// The subject of a row as a small number, to find slots that are used for one subject. -1: none.
  virtual std::int64_t topic(const Example&, std::int64_t /*t*/) const { return -1; }

  /// `count` samples whose rows are 0, and their answers not set.
  Batch unfilled(std::int64_t count) const;
  /// `count` independent samples. Throws ValueError for count < 1.
  Batch sample(Random& random, std::int64_t count) const;

 private:
  /// Fills the samples' rows, which are zero, and their answers.
  virtual void fill(Random& random, const Batch& batch) const = 0;

  std::string name_;
  TaskKind kind_;
};

/// The task of a file that TaskOptions::data names (data_file.h).
inline constexpr std::string_view data_task = "data";
/// The task of a file that TaskOptions::text names (text/text_task.h).
inline constexpr std::string_view text_task = "text";
/// The other names that make_task knows. The span holds until the next one is registered.
std::span<const std::string_view> task_names();
/// All of them.
std::vector<std::string_view> all_task_names();
/// The tasks of a collection.
std::vector<std::string_view> tasks_in(std::string_view collection);
/// Some names of tasks, "babi, recall and those of the zoo (retrace info zoo)".
std::string listed_tasks(std::span<const std::string_view> names = task_names());
/// A task by its name. Throws ValueError, with the nearest right name, for a task that is not known, and for an option
/// that it does not have.
std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options = {});

/// For register_task (tasks/recipes.h).
using TaskFactory = std::function<std::unique_ptr<Task>()>;
using TaskMaker = std::function<std::unique_ptr<Task>(const TaskOptions&)>;

}  // namespace retrace
