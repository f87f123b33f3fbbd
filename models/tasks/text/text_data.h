// A text to train on, and its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <retrace/models/tasks/task_options.h>

namespace retrace {

/// Tokens as numbers.
using TokenIds = std::span<const std::int32_t>;

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
/// Reads the files that the options name; the vocabulary, if it is not given, is that of the first. Throws ValueError
/// if there is none, FileError if one cannot be read, is not UTF-8 or has a character that the vocabulary lacks.
TextData read_text(const TaskOptions& options, const std::optional<Vocabulary>& vocabulary = {});
/// Reads a text in the tokens of a vocabulary. Throws likewise.
std::vector<std::int32_t> read_tokens(const std::string& path, const Vocabulary& vocabulary);
/// 16 hexadecimal digits (FNV-1a, 64 bits): equal for equal ids.
std::string fingerprint(TokenIds ids);

}  // namespace retrace
