#include <retrace/models/study/expression/input.h>

#include <retrace/core/base/printable.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/study/expression/tokens.h>
#include <retrace/models/study/expression/value.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace retrace {
namespace {

using expressions::List;
using expressions::Token;
using expressions::Value;

constexpr std::string_view forms =
    "give a shape (q=4x8: random numbers), numbers (q=[[1, 2], [3, 4]]), integers (ids=[0, 2]i64) or a file (q=x.npy)";

/// "4x8"; nothing if it is not of this form.
std::optional<Shape> shape_in(std::string_view written) {
  std::vector<std::int64_t> extents;
  for (std::size_t begin = 0; begin <= written.size();) {
    const std::size_t end = std::min(written.find('x', begin), written.size());
    std::int64_t extent = 0;
    const auto [rest, error] = std::from_chars(written.data() + begin, written.data() + end, extent);
    if (error != std::errc() || rest != written.data() + end || extent < 0) return std::nullopt;
    extents.push_back(extent);
    begin = end + 1;
  }
  return Shape(extents);
}

/// Reads [[1, -2.5], [nan, inf]].
class NumbersReader {
 public:
  NumbersReader(std::string_view source, std::size_t begin) : source_(source), tokens_(expressions::tokens_of(source)) {
    while (tokens_[at_].place.begin < begin) ++at_;
  }

  Value value(int depth = 0) {
    if (depth > max_rank) fail(text("a tensor has up to ", max_rank, " axes"));
    if (!accept("[")) return {number()};
    List list;
    while (!is_sign("]")) {
      list.items.push_back(value(depth + 1));
      if (!accept(",")) break;
    }
    if (!accept("]")) fail("a comma or ] should stand here");
    return {std::move(list)};
  }
  /// The dtype after the numbers, and then nothing more.
  Dtype dtype(Dtype otherwise) {
    const bool whole = tokens_[at_].text == "i64";
    if (whole) ++at_;
    if (tokens_[at_].kind != Token::Kind::end) fail("nothing but i64 may follow the numbers");
    return whole ? i64 : otherwise;
  }
  [[noreturn]] void fail(std::string_view message) const {
    throw ExpressionError(text("--input: ", message, "; ", forms), source_, tokens_[at_].place);
  }

 private:
  double number() {
    const double sign = accept("-") ? -1 : 1;
    const Token& token = tokens_[at_];
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::sign) fail("a number should stand here");
    double result = token.number;
    if (token.kind == Token::Kind::name) {
      if (token.text != "nan" && token.text != "inf") fail(text("'", token.text, "' is no number"));
      result = token.text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    }
    ++at_;
    return sign * result;
  }
  bool is_sign(std::string_view sign) const {
    return tokens_[at_].kind == Token::Kind::sign && tokens_[at_].text == sign;
  }
  bool accept(std::string_view sign) {
    if (!is_sign(sign)) return false;
    ++at_;
    return true;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

bool is_name(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !word.empty() && is_letter(word.front()) &&
         std::ranges::all_of(word, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Tensor numbers_in(std::string_view source, std::size_t begin, Dtype dtype) {
  NumbersReader reader(source, begin);
  const Value value = reader.value();
  const Dtype of_numbers = reader.dtype(dtype);
  try {
    return expressions::tensor_of_numbers(value, of_numbers);
  } catch (const Error& error) {
    throw ExpressionError(text("--input: ", error.what()), source, {begin, source.size()});
  }
}

}  // namespace

NamedTensor parse_input(std::string_view source, std::uint64_t seed, Dtype dtype) {
  const std::size_t equals = source.find('=');
  const std::string_view name = source.substr(0, equals);
  if (equals == source.npos || !is_name(name))
    throw ExpressionError(text("--input: a name (letters, digits and _) and = should begin this; ", forms), source,
                          {0, equals == source.npos ? source.size() : equals});
  const std::string_view written = source.substr(equals + 1);
  Tensor x;
  if (const std::optional<Shape> shape = shape_in(written)) {
    x = Random(seed).stream(name).normal(*shape, dtype);
  } else if (written.ends_with(".npy")) {
    x = read_npy(std::string(written));
    if (x.dtype() != i64) x = x.to(dtype);
  } else {
    x = numbers_in(source, equals + 1, dtype);
  }
  return {std::string(name), x.named(name)};
}

}  // namespace retrace
