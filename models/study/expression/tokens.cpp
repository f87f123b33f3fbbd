#include <retrace/core/base/printable.h>
#include <retrace/models/study/expression/tokens.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace retrace::expressions {
namespace {

constexpr std::string_view signs = "+-*/@()[],;=.:";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t end_of_character(std::string_view source, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < source.size() && (static_cast<unsigned char>(source[end]) & 0xC0) == 0x80) ++end;
  return end;
}

/// The remedy for a sign that other languages have.
std::string_view remedy_for(char c) {
  switch (c) {
    case '^':
      return "write pow(x, 2)";
    case '{':
    case '}':
      return "lists have square brackets: reshape(x, [2, 3])";
    case '\'':
      return "write transpose(x)";
    case '<':
    case '>':
      return "nothing is compared here; where(condition, a, b) takes an i64 input as its condition";
    default:
      return "an expression has names, numbers, + - * / @, brackets, commas, = and ;";
  }
}

Token number_at(std::string_view source, std::size_t begin) {
  Token token{.kind = Token::Kind::number};
  const char* first = source.data() + begin;
  const auto [rest, error] = std::from_chars(first, source.data() + source.size(), token.number);
  const std::size_t end = begin + static_cast<std::size_t>(rest - first);
  token.text = source.substr(begin, end - begin);
  token.place = {begin, end};
  if (error == std::errc::result_out_of_range)
    throw ExpressionError(text("expression: ", token.text, " is too large or too small for an f64"), source,
                          token.place);
  return token;
}

Token name_at(std::string_view source, std::size_t begin) {
  std::size_t end = begin;
  while (end < source.size() && (is_letter(source[end]) || is_digit(source[end]))) ++end;
  return {.kind = Token::Kind::name, .text = source.substr(begin, end - begin), .place = {begin, end}};
}

Token quoted_at(std::string_view source, std::size_t begin) {
  const std::size_t close = source.find('"', begin + 1);
  if (close == source.npos)
    throw ExpressionError("expression: this quote is never closed; put another one after the text", source,
                          {begin, begin + 1});
  return {
      .kind = Token::Kind::quoted, .text = source.substr(begin + 1, close - begin - 1), .place = {begin, close + 1}};
}

}  // namespace

std::vector<Token> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < source.size()) {
    const char c = source[at];
    if (is_blank(c)) {
      ++at;
      continue;
    }
    const bool begins_fraction = c == '.' && at + 1 < source.size() && is_digit(source[at + 1]);
    if (is_digit(c) || begins_fraction)
      tokens.push_back(number_at(source, at));
    else if (is_letter(c))
      tokens.push_back(name_at(source, at));
    else if (c == '"')
      tokens.push_back(quoted_at(source, at));
    else if (signs.find(c) != signs.npos)
      tokens.push_back({.kind = Token::Kind::sign, .text = source.substr(at, 1), .place = {at, at + 1}});
    else {
      const TextPart place{at, end_of_character(source, at)};
      throw ExpressionError(
          text("expression: '", printable(source.substr(at, place.end - at)), "' means nothing here; ", remedy_for(c)),
          source, place);
    }
    at = tokens.back().place.end;
  }
  tokens.push_back({.kind = Token::Kind::end, .text = {}, .place = {source.size(), source.size()}});
  return tokens;
}

}  // namespace retrace::expressions
