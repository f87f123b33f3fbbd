// The engine of the tasks whose rows hold symbols. It writes to batches what a task draws, and reads samples again.
#pragma once

#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// The sizes of a task on symbols.
struct SymbolSizes {
  std::int64_t shown = 0;    // symbols or pairs, before the answers
  std::int64_t rows;         // T
  std::int64_t keys;         // different keys of a row ...
  std::int64_t values = 0;   // ... and different values
  std::int64_t answers = 1;  // A
  std::int64_t classes;      // O
};

/// A sample: the key and the value of each row, and the answers of its last rows. -1, which is no_answer: none.
struct SymbolSample {
  Integers keys, values, answers;

  /// Without symbols and answers.
  void clear(std::int64_t rows, std::int64_t count_of_answers);
};

/// A row is one-hot(keys) | one-hot(values), where zeros stand for no key and no value. If there is one column, it is 1
/// for the key 1 and -1 for the key 0.
class SymbolTask : public Task {
 public:
  std::int64_t input_size() const final { return sizes_.keys + sizes_.values; }
  std::int64_t sequence_length() const final { return sizes_.rows; }
  std::int64_t output_size() const final { return sizes_.classes; }
  std::int64_t answer_length() const final { return sizes_.answers; }
  /// The key.
  std::int64_t topic(const Example& example, std::int64_t t) const final;
  std::int64_t value(const Example& example, std::int64_t t) const;
  const SymbolSizes& sizes() const { return sizes_; }
  /// The name and the first rows, with blanks between them or not.
  std::string on_a_line(const Example& example, std::int64_t rows, bool has_blanks) const;

 protected:
  /// Throws ShapeError or MemoryError for a sample that is larger than memory.
  SymbolTask(std::string_view name, const SymbolSizes& sizes);

 private:
  /// Draws sample `number` of a batch into `sample`, which holds the one before it, if there is one.
  virtual void draw(Random& random, std::int64_t number, SymbolSample& sample) const = 0;
  void fill(Random& random, const Batch& batch) const final;

  SymbolSizes sizes_;
};

/// "b" for "a b c" and 1.
std::string_view word(std::string_view words, std::int64_t number);

}  // namespace retrace
