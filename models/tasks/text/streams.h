// The streams in which a batch reads a text.
#pragma once

#include <retrace/models/tasks/task.h>
#include <retrace/models/tasks/text/text_data.h>

namespace retrace {

/// Tokens as `rows` contiguous streams of N = ceil((n - 1) / rows) tokens: row b reads tokens b N to (b + 1) N - 1, in
/// segments of `length` (the last of them may be shorter), and each token's answer is the one after it. So every token
/// but the first of the text is an answer exactly once. The ids have to outlive the streams.
class Streams {
 public:
  /// Throws ValueError for less than 2 tokens, or less than 1 row or a length below 1.
  Streams(TokenIds ids, std::int64_t rows, std::int64_t length);

  /// The number of segments in a pass over the text.
  std::int64_t segments() const { return (steps_ + length_ - 1) / length_; }
  /// A segment by its number, from 0; it continues the one before: x and y [rows, up to `length`], y no_answer where a
  /// row has ended.
  Batch segment(std::int64_t number) const;

 private:
  TokenIds ids_;
  std::int64_t rows_, length_, steps_;
};

/// The number of streams in which a text is read to test on it.
std::int64_t streams_of_test(TokenIds ids);
/// Throws ValueError for a text that does not fill one segment of each row, or leaves nothing to test on.
void check_length(const TextData& data, std::int64_t rows, std::int64_t length);

}  // namespace retrace
