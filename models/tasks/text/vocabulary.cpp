#include <retrace/core/base/error.h>
#include <retrace/core/base/utf8.h>
#include <retrace/models/tasks/text/vocabulary.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>

namespace retrace {
namespace {

/// see(token) for every token, in order.
template <class See> void for_each_token(std::string_view utf8, TokenKind kind, See&& see) {
  if (kind == TokenKind::characters) {
    for (std::size_t position = 0, count = 0; position < utf8.size(); position += count) {
      count = std::max<std::size_t>(utf8_length(utf8.substr(position)), 1);
      see(utf8.substr(position, count));
    }
    return;
  }
  constexpr std::string_view spaces = " \t\r", ends = " \t\r\n";
  for (std::size_t position = 0; (position = utf8.find_first_not_of(spaces, position)) != std::string_view::npos;) {
    const std::size_t end =
        utf8[position] == '\n' ? position + 1 : std::min(utf8.find_first_of(ends, position), utf8.size());
    see(utf8.substr(position, end - position));
    position = end;
  }
}

/// A character, between quotation marks unless it moves the cursor, and its code point.
std::string shown(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t point = first;
  if (character.size() > 1) point = first & (0x7fU >> character.size());
  for (const char byte : character.substr(1)) point = point << 6 | (static_cast<unsigned char>(byte) & 0x3fU);
  std::array<char, 9> digits;
  std::snprintf(digits.data(), digits.size(), "U+%04X", static_cast<unsigned>(point));
  return point < ' ' || point == 0x7f ? std::string(digits.data()) : text("'", character, "' (", digits.data(), ")");
}

using Counts = std::unordered_map<std::string_view, std::int64_t>;

/// The most frequent tokens; of two that are equally frequent, the one whose bytes come first.
std::vector<std::string> most_frequent(const Counts& counts, std::size_t limit) {
  std::vector<std::pair<std::string_view, std::int64_t>> order(counts.begin(), counts.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> result;
  for (const auto& [token, count] : order)
    if (result.size() < limit) result.emplace_back(token);
  return result;
}

}  // namespace

std::int64_t count_tokens(std::string_view utf8, TokenKind kind) {
  std::int64_t count = 0;
  for_each_token(utf8, kind, [&](std::string_view) { ++count; });
  return count;
}

Vocabulary::Vocabulary(TokenKind kind, std::vector<std::string> tokens) : kind_(kind), tokens_(std::move(tokens)) {
  if (kind == TokenKind::words) tokens_.emplace_back(unknown_word);
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
}

Vocabulary Vocabulary::of(std::string_view utf8, TokenKind kind, std::int64_t first, std::size_t limit) {
  const bool words = kind == TokenKind::words;
  Counts counts;
  std::int64_t seen = 0;
  for_each_token(utf8, kind, [&](std::string_view token) {
    if (!words || seen++ < first) ++counts[token];
  });
  return Vocabulary(kind, most_frequent(counts, words ? limit : counts.size()));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), token);
  if (found == tokens_.end() || *found != token) return std::nullopt;
  return static_cast<std::int32_t>(found - tokens_.begin());
}

std::vector<std::int32_t> Vocabulary::ids_of(std::string_view utf8, const auto& refuse) const {
  std::vector<std::int32_t> ids;
  const std::optional<std::int32_t> unknown = kind_ == TokenKind::words ? find(unknown_word) : std::nullopt;
  for_each_token(utf8, kind_, [&](std::string_view token) {
    std::optional<std::int32_t> id = find(token);
    if (!id) id = unknown;
    if (!id) throw refuse(token);
    ids.push_back(*id);
  });
  return ids;
}

std::vector<std::int32_t> Vocabulary::encode(std::string_view utf8) const {
  return ids_of(utf8, [&](std::string_view token) {
    return ValueError(text("encode: the character '", token, "' is not among the ", size(),
                           " of the text that the model was trained on; leave it out"));
  });
}

std::vector<std::int32_t> Vocabulary::encode(std::string_view utf8, std::string_view name) const {
  return ids_of(utf8, [&](std::string_view token) {
    const auto line = 1 + std::count(utf8.data(), token.data(), '\n');
    return ValueError(text(name, " has the character ", shown(token), " in line ", line, ", which is not among the ",
                           size(),
                           " of the text that the model is trained on; remove it, or train on a text that has "
                           "it"));
  });
}

std::string Vocabulary::decode(std::span<const std::int32_t> ids) const {
  std::string result;
  for (const std::int32_t id : ids) {
    const std::string& token = tokens_.at(static_cast<std::size_t>(id));
    if (kind_ == TokenKind::words && !result.empty() && result.back() != '\n' && token != "\n") result += ' ';
    result += token;
  }
  return result;
}

}  // namespace retrace
