// A text to train on: its parts, and the streams in which a batch reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/formats/option_rows.h>
#include <retrace/models/tasks/text/vocabulary.h>

namespace retrace {

/// Tokens as numbers.
using TokenIds = std::span<const std::int32_t>;

/// The files of a training on text, in UTF-8.
struct TextSource {
  std::string file = {};
  std::optional<TokenKind> tokens = {};  // if not given, characters
  std::string validation_file = {};      // if not given, a part of `file` is held out
  std::string test_file = {};            // likewise

  /// If not given, characters.
  TokenKind kind() const { return tokens.value_or(TokenKind::characters); }
};

/// The options of a TextSource.
OptionRows<TextSource> text_option_rows();

/// A text as ids. Its last 5 % are for the test, the 5 % before them for validation, the rest for training; a part that
/// has a text of its own is not taken from this one.
struct TextData {
  Vocabulary vocabulary;
  std::vector<std::int32_t> ids;
  std::optional<std::vector<std::int32_t>> own_validation = {};  // of a text of its own
  std::optional<std::vector<std::int32_t>> own_test = {};

  TokenIds training() const { return TokenIds(ids).first(ids.size() - for_validation() - for_test()); }
  TokenIds validation() const {
    return own_validation ? TokenIds(*own_validation) : TokenIds(ids).subspan(training().size(), for_validation());
  }
  TokenIds test() const { return own_test ? TokenIds(*own_test) : TokenIds(ids).last(for_test()); }

 private:
  std::size_t for_validation() const { return own_validation ? 0 : ids.size() / 20; }
  std::size_t for_test() const { return own_test ? 0 : ids.size() / 20; }
};

/// The vocabulary of words is that of the training part, that of characters that of the whole text. `name` stands for
/// the text in errors. Throws ValueError if the text is not UTF-8.
TextData make_text_data(std::string_view utf8, TokenKind kind, std::string_view name);
/// Reads the files of a training; the vocabulary, if it is not given, is that of the first. Throws FileError if one
/// cannot be read, is not UTF-8 or has a character that the vocabulary lacks.
TextData read_text(const TextSource& source, const std::optional<Vocabulary>& vocabulary = {});
/// Reads a text in the tokens of a vocabulary. Throws likewise.
std::vector<std::int32_t> read_tokens(const std::string& path, const Vocabulary& vocabulary);
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
