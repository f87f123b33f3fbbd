// A text to train on: its parts, and the streams in which a batch reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <retrace/core/tensor.h>
#include <retrace/models/tasks/text/vocabulary.h>

namespace retrace {

/// Tokens as numbers.
using TokenIds = std::span<const std::int32_t>;

/// A text as ids. Its last 5 % are for the test, the 5 % before them for validation, the rest for training.
struct TextData {
  Vocabulary vocabulary;
  std::vector<std::int32_t> ids;

  TokenIds training() const { return TokenIds(ids).first(ids.size() - 2 * held_out()); }
  TokenIds validation() const { return TokenIds(ids).last(2 * held_out()).first(held_out()); }
  TokenIds test() const { return TokenIds(ids).last(held_out()); }

 private:
  std::size_t held_out() const { return ids.size() / 20; }
};

/// `name` stands for the text in errors. Throws ValueError if the text is not UTF-8.
TextData make_text_data(std::string_view utf8, TokenKind kind, std::string_view name);
/// Reads a file. Throws FileError if it cannot be read or is not UTF-8.
TextData read_text(const std::string& path, TokenKind kind);
/// 16 hexadecimal digits (FNV-1a, 64 bits): equal for equal ids.
std::string fingerprint(TokenIds ids);

/// The next token where a row of a batch has ended, which is ignored by losses and metrics.
inline constexpr std::int64_t no_token = -1;

/// Tokens as `rows` contiguous streams of N = ceil((n - 1) / rows) tokens: row b reads tokens b N to (b + 1) N - 1, in
/// segments of `length` (the last of them may be shorter), and each token's answer is the one after it. So every token
/// but the first of the text is an answer exactly once. The ids have to outlive the streams.
class Streams {
 public:
  /// Throws ValueError for less than 2 tokens, or less than 1 row or a length below 1.
  Streams(TokenIds ids, std::int64_t rows, std::int64_t length);

  struct Segment {
    Tensor in, next;  // [rows, up to `length`], i64; no_token where a row has ended
  };
  /// The number of segments in a pass over the text.
  std::int64_t segments() const { return (steps_ + length_ - 1) / length_; }
  /// A segment by its number, from 0; it continues the one before.
  Segment segment(std::int64_t number) const;

 private:
  TokenIds ids_;
  std::int64_t rows_, length_, steps_;
};

}  // namespace retrace
