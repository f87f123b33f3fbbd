// Text as the numbers of its characters or words, and back.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

/// Characters are Unicode code points. Words are separated by spaces and tabs; the end of a line is also a word.
enum class TokenKind { characters, words };
constexpr std::string_view name_of(TokenKind kind) { return kind == TokenKind::words ? "words" : "characters"; }

/// The token for words that a vocabulary leaves out.
inline constexpr std::string_view unknown_word = "<unk>";

/// The number of tokens of a text that check_utf8 accepts.
std::int64_t count_tokens(std::string_view utf8, TokenKind kind);

/// Tokens and their ids: 0 to size() - 1, in the order of their bytes.
class Vocabulary {
 public:
  /// Tokens in any order, each once; for words, unknown_word is added.
  Vocabulary(TokenKind kind, std::vector<std::string> tokens);
  /// The vocabulary of a text: all characters, or the most frequent words, at most `limit`, among its first `first`
  /// words.
  static Vocabulary of(std::string_view utf8, TokenKind kind, std::int64_t first, std::size_t limit = 10000);

  TokenKind kind() const { return kind_; }
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  /// The id of a token, if it has one.
  std::optional<std::int32_t> find(std::string_view token) const;

  /// A word that is left out becomes unknown_word. Throws ValueError for a character that is not known.
  std::vector<std::int32_t> encode(std::string_view utf8) const;
  /// Encodes likewise; an error names the text by `name`, and the line.
  std::vector<std::int32_t> encode(std::string_view utf8, std::string_view name) const;
  /// Words are separated by a space, except at the end of a line.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  /// Throws what refuse(token, position) gives for a character that is not known.
  std::vector<std::int32_t> ids_of(std::string_view utf8, const auto& refuse) const;

  TokenKind kind_;
  std::vector<std::string> tokens_;  // sorted
};

}  // namespace retrace
