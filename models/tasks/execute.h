// What does this program print? It is read character by character (Zaremba and Sutskever, "Learning to execute", 2014).
#pragma once

#include <span>

#include <retrace/models/tasks/program.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// addition: sums. control: conditions and loops. loops: those alone, to learn what is hard about both.
/// algebra_control: sums, differences and conditions, the default of the code that Santoro et al. published with
/// "Relational recurrent neural networks" (2018). full: all five ops. The last three are digits to memorise and print
/// unchanged, backwards, or twice.
enum class ProgramKind { addition, control, loops, algebra_control, full, copy, reverse, twice };

/// The kind of the programs and their difficulty.
struct ExecuteOptions {
  ProgramKind program = ProgramKind::addition;
  std::int64_t length = 5;   // digits of a number, or digits to memorise
  std::int64_t nesting = 2;  // ops of a program; without effect on digits to memorise
  // To begin with an easier lesson for a model of the same sizes:
  std::int64_t current_length = 0;   // up to length; 0: length
  std::int64_t current_nesting = 0;  // up to nesting; 0: nesting
  double mix = 0;  // the fraction of a batch, its last samples, of random length and nesting, from 1 up to the task's
};

/// A program and the end mark '!', one character per row, one-hot, after zero rows that make all programs as long as
/// the longest. Then zero rows, which are answered by the digits of its result, the most significant first, and by
/// nothing more (no_answer). The result of an expression is its value as in Python, modulo 10^(length + 1) and never
/// negative:
///   a+b, a-b, a*b, aifb<celsed (or >), x=afor[n]x+=b (a + n b, n from 1 to 9)
/// where a, from the second op on, is the expression before it, in parentheses; all other operands have `length`
/// digits. These are the programs, and the digits that count, of the code that Santoro et al. published.
/// I = 29 characters, A = length + 1 (memorised: length, twice: 2 length), O = 10 classes.
class Execute final : public Task {
 public:
  static constexpr std::string_view characters = "0123456789!+-*<>()[]=xifelsor";  // of the rows
  static constexpr std::string_view answers = "0123456789";

  /// Throws ValueError for a length or nesting below 1, for current ones beyond them, for numbers too long to be exact:
  /// length (nesting + 1) digits above 37 or length above 17.
  explicit Execute(const ExecuteOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "program, length, nesting";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return std::ssize(characters); }
  std::int64_t sequence_length() const override { return program_length_ + 1 + answer_length(); }
  std::int64_t answer_length() const override;
  std::int64_t output_size() const override { return std::ssize(answers); }
  /// The trivial answer, the most common character of each position, is simulated.
  Baselines baselines() const override;
  /// The paper's combined strategy: numbers of one digit more in each lesson, then the same with one op more; and half
  /// of every batch is of all lengths and nestings, so that what is learned for short numbers is of use for long ones.
  std::vector<Lesson> lessons() const override;
  /// The program's outermost operation, the two outermost ones ("for around +"), its nesting, the digits of its
  /// numbers, and the position in the output.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::string describe_label(std::int64_t label) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;
  std::unique_ptr<Task> of_every_difficulty() const override;

 private:
  struct Draw;

  bool is_memorised() const { return options_.program >= ProgramKind::copy; }
  /// The number of samples of the current length and nesting among `samples`; the others have any.
  std::int64_t current_among(std::int64_t samples) const;
  void draw(Random& random, bool is_current, Draw& to) const;
  void draw_digits(Random& random, std::int64_t length, Draw& to) const;
  void fill(Random& random, const Batch& batch) const override;

  ExecuteOptions options_;
  std::span<const ProgramOp> ops_;
  std::int64_t program_length_;  // of the longest one, without '!'
};

/// The names of the kinds, in their order: algebra_control is "algebra-control", and twice is "double". program_kind
/// throws ValueError for any other name.
std::span<const std::string_view> program_names();
ProgramKind program_kind(std::string_view name);

}  // namespace retrace
