// An expression that cannot be read or computed says what is wrong, and shows the place.
#include <gtest/gtest.h>
#include <retrace/models/study/expression/expression.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

#include <string>

namespace retrace {
namespace {

/// The error of reading the text, or of computing it at these inputs.
std::string error_of(const std::string& text, const std::vector<NamedTensor>& inputs = {}) {
  return message_of<ExpressionError>([&] { parse_expression(text)(inputs); });
}

/// The message, the expression and the caret at `column` with a mark of `length` characters.
std::string error(const std::string& message, const std::string& text, std::size_t column, std::size_t length = 1) {
  return message + "\n  " + text + "\n  " + std::string(column, ' ') + "^" + std::string(length - 1, '~');
}

const std::vector<NamedTensor>& matrices() {
  static const std::vector<NamedTensor> all{{"q", ones({4, 8}).named("q")}, {"k", ones({5, 8}).named("k")}};
  return all;
}

TEST(ExpressionErrors, SuggestTheNearestOp) {
  const std::string text = "1 + sofmax(matmul(q, k))";
  EXPECT_EQ(error_of(text), error("expression: there is no op named 'sofmax'; did you mean softmax", text, 4, 6));
}

TEST(ExpressionErrors, NameTheParametersOfAnOp) {
  EXPECT_EQ(error_of("sum(x, axs=1)"),
            error("expression: sum has no parameter 'axs'; did you mean axis: sum(x, axis=none, keepdims=false)",
                  "sum(x, axs=1)", 7, 3));
  EXPECT_EQ(error_of("2 * softmax()"),
            error("expression: softmax needs x: softmax(x, axis=-1, mask=none)", "2 * softmax()", 4, 7));
  EXPECT_EQ(error_of("matmul(q)"),
            error("expression: matmul needs b: matmul(a, b, transpose_a=false, transpose_b=false)", "matmul(q)", 0, 6));
  EXPECT_EQ(error_of("exp(x, 3)"), error("expression: exp has 1 parameter: exp(x)", "exp(x, 3)", 7));
  EXPECT_EQ(error_of("exp(x, x=y)"), error("expression: x is given twice: exp(x)", "exp(x, x=y)", 7));
  EXPECT_EQ(error_of("cumsum(axis=0, x)"),
            error("expression: an argument without a name cannot follow one with a name: cumsum(x, axis=-1)",
                  "cumsum(axis=0, x)", 15));
}

TEST(ExpressionErrors, SuggestTheNearestWord) {
  EXPECT_EQ(error_of("attention(q, k, v, causal=tru)"),
            error("expression: 'tru' is no choice here; did you mean true", "attention(q, k, v, causal=tru)", 26, 3));
  EXPECT_EQ(error_of("linear(x, w, activation=rely)"),
            error("expression: 'rely' is no choice here; did you mean relu", "linear(x, w, activation=rely)", 24, 4));
}

TEST(ExpressionErrors, TextsInQuotesAreForThoseWhoTakeThem) {
  const std::string open = "einsum(\"ij, [q])";
  EXPECT_EQ(error_of(open), error("expression: this quote is never closed; put another one after the text", open, 7));
  const std::string index = "q[\"first\"]";
  EXPECT_NE(error_of(index, {matrices()[0]}).find("a whole number, not 'first'"), std::string::npos)
      << error_of(index, {matrices()[0]});
  const std::string swapped = "einsum(q, [q])";
  EXPECT_NE(error_of(swapped, {matrices()[0]}).find("einsum: equation is a text in quotes, not a tensor [4, 8]"),
            std::string::npos)
      << error_of(swapped, {matrices()[0]});
  EXPECT_NE(error_of("\"q\" + 1"), "");
}

TEST(ExpressionErrors, PointAtWhatCannotBeRead) {
  EXPECT_EQ(error_of("softmax(x"), error("expression: there is no ) to close this bracket", "softmax(x", 7));
  EXPECT_EQ(error_of("(x + 1"), error("expression: there is no ) to close this bracket", "(x + 1", 0));
  EXPECT_EQ(error_of("reshape(x, [2, 3)"),
            error("expression: a comma or ] should stand before ')'", "reshape(x, [2, 3)", 16));
  EXPECT_EQ(error_of("x +"), error("expression: a value should stand before the end", "x +", 3));
  EXPECT_EQ(error_of(""), error("expression: a value should stand before the end", "", 0));
  EXPECT_EQ(error_of("x y"), error("expression: an operator or ; should stand before 'y'", "x y", 2));
  EXPECT_EQ(error_of("x)"), error("expression: an operator or ; should stand before ')'", "x)", 1));
  EXPECT_EQ(error_of("x;; y"), error("expression: a value should stand before ';'", "x;; y", 2));
  EXPECT_EQ(error_of("s ="), error("expression: a value should stand before the end", "s =", 3));
  EXPECT_EQ(error_of("x == y"), error("expression: a value should stand before '='", "x == y", 3));
  EXPECT_EQ(error_of("exp(, x)"), error("expression: a value should stand before ','", "exp(, x)", 4));
  EXPECT_EQ(error_of("x.1"), error("expression: an operator or ; should stand before '.1'", "x.1", 1, 2));
  EXPECT_EQ(error_of("x.[1]"), error("expression: the name of a result should follow the dot", "x.[1]", 2));
  EXPECT_EQ(error_of("[1:2]"), error("expression: a comma or ] should stand before ':'", "[1:2]", 2));
}

TEST(ExpressionErrors, SayWhatToWriteInstead) {
  EXPECT_EQ(error_of("x ** 2"), error("expression: there is no **; write pow(x, 2)", "x ** 2", 2, 2));
  EXPECT_EQ(error_of("x^2"), error("expression: '^' means nothing here; write pow(x, 2)", "x^2", 1));
  EXPECT_EQ(error_of("x + 1e999"), error("expression: 1e999 is too large or too small for an f64", "x + 1e999", 4, 5));
  EXPECT_EQ(error_of("softmax + 1"),
            error("expression: softmax is an op; call it: softmax(x, axis=-1, mask=none)", "softmax + 1", 0, 7));
}

TEST(ExpressionErrors, NameAnInputThatIsMissing) {
  const std::string text = "matmul(q, transpose(kk))";
  EXPECT_EQ(error_of(text, matrices()),
            error("expression: the input kk has no value; did you mean k, or give it one, as in --input kk=4x8", text,
                  20, 2));
  EXPECT_EQ(error_of("q + b", {matrices()[0]}),
            error("expression: the input b has no value; give it one, as in --input b=4x8", "q + b", 4));
  EXPECT_EQ(error_of("exp(q)", matrices()),
            error("expression: the input k is not used; the expression has q; leave k out", "exp(q)", 0, 6));
  EXPECT_EQ(error_of("1 + 1", {matrices()[0]}), error("expression: it has no input, so q is of no use", "1 + 1", 0, 5));
  EXPECT_EQ(error_of("exp(q)", {matrices()[0], matrices()[0]}),
            error("expression: the input q is given twice; give one value", "exp(q)", 4));
}

TEST(ExpressionErrors, RefuseAnotherMeaningOfAName) {
  EXPECT_EQ(error_of("s = q; s = k; s"),
            error("expression: s stands for something else already; take another name", "s = q; s = k; s", 7));
  EXPECT_EQ(error_of("s = q; q = s; s"),
            error("expression: q stands for something else already; take another name", "s = q; q = s; s", 7));
}

TEST(ExpressionErrors, OfOpsKeepTheirWordsAndShowTheCall) {
  const std::string text = "s = matmul(q, k) / 2; softmax(s)";
  const std::string by_hand = message_of<ShapeError>([] { matmul(matrices()[0].tensor, matrices()[1].tensor); });
  EXPECT_EQ(error_of(text, matrices()), error(by_hand, text, 4, 6));
  const std::string sum = message_of<ShapeError>([] { matrices()[0].tensor + matrices()[1].tensor; });
  EXPECT_EQ(error_of("q + k", matrices()), error(sum, "q + k", 2));
  const std::string part = message_of<IndexError>([] { slice(matrices()[0].tensor, {4}); });
  EXPECT_EQ(error_of("2 * q[4]", {matrices()[0]}), error(part, "2 * q[4]", 5, 3));
}

TEST(ExpressionErrors, SayWhatKindAnArgumentIs) {
  const std::vector<NamedTensor> q{matrices()[0]};
  const auto message = [&](const std::string& text) {
    const std::string all = error_of(text, q);
    return all.substr(0, all.find('\n'));
  };
  EXPECT_EQ(message("softmax(q, axis=[0, 1])"), "softmax: axis is a whole number, not the list [0, 1]");
  EXPECT_EQ(message("softmax(q, axis=0.5)"), "softmax: axis is a whole number, not the number 0.5");
  EXPECT_EQ(message("softmax(q, axis=1e300)"), "softmax: axis is a whole number, not the number 1e+300");
  EXPECT_EQ(message("softmax(q, axis=4e9)"), "softmax: axis is a whole number of 32 bits, not the number 4e+09");
  EXPECT_EQ(message("scale(q, q)"), "scale: factor is a number, not a tensor [4, 8]");
  EXPECT_EQ(message("sum(q, keepdims=1)"), "sum: keepdims is false or true, not the number 1");
  EXPECT_EQ(message("matmul(q, none)"), "matmul: b is a tensor, not none");
  EXPECT_EQ(message("pad(q, [1, 2])"), "pad: padding is a list of pairs, [[before, after], ...], not the list [1, 2]");
  EXPECT_EQ(message("concat(q)"), "concat: parts is a list of tensors, [a, b], not a tensor [4, 8]");
  EXPECT_EQ(message("exp(split(q, [2, 2]))"),
            "exp: x is one tensor, not 2; choose one by its position, as in split(x, [2, 2])[0]");
  EXPECT_EQ(message("split(q, [2, 2])[2]"), "expression: of 2 tensors one is chosen by a position from -2 to 1");
  EXPECT_EQ(message("split(q, [2, 2])"),
            "expression: the result is one tensor, not 2; choose one by its position, as in split(x, [2, 2])[0]");
  EXPECT_EQ(message("q + [[1, 2], [3]]"), "lists side by side have 2 and 1 entries; give them the same length");
  EXPECT_EQ(message("q + [1, [2]]"), "the lists are nested too deep, or differently; a tensor has up to 8 axes");
  EXPECT_EQ(message("q + [[2], 1]"), "a list holds numbers and lists side by side; make it even");
  EXPECT_EQ(message("q + [q]"), "expression: a tensor or a number should stand here, not the list [a tensor [4, 8]]");
  EXPECT_EQ(message("take(q, [0.5])"), "0.5 is no whole number up to 2^53, which an i64 has to be here");
  EXPECT_EQ(message("q.T"),
            "expression: there is no .T of a tensor [4, 8]; ops with several results have parts: lstm_step(p, h, c, "
            "w).c");
  EXPECT_EQ(message("attention_with_weights(q, q, q).weight"),
            "expression: there is no result named 'weight'; did you mean weights (known: y, weights)");
  EXPECT_EQ(message("none + q"), "expression: a tensor or a number should stand here, not none");
  EXPECT_EQ(message("q[0.5]"), "slice: index is a whole number, not the number 0.5");
  EXPECT_EQ(message("q[:q]"), "slice: a position is a whole number, not a tensor [4, 8]");
}

TEST(ExpressionErrors, ShowTheLineOfThePlace) {
  EXPECT_EQ(error_of("s = exp(q);\nt = s +;\nt"), error("expression: a value should stand before ';'", "t = s +;", 7));
  EXPECT_EQ(error_of("\tx\x1b[1m"), error("expression: '\\x1b' means nothing here; an expression has names, numbers, + "
                                          "- * / @, brackets, commas, = and ;",
                                          " x [1m", 2));
  EXPECT_EQ(error_of("\xc3\xa9 + 1"),
            error("expression: '\xc3\xa9' means nothing here; an expression has names, numbers, + - * / @, "
                  "brackets, commas, = and ;",
                  "\xc3\xa9 + 1", 0));
  EXPECT_EQ(error_of("q #\n"),
            error("expression: '#' means nothing here; an expression has names, numbers, + - * / @, brackets, commas, "
                  "= and ;",
                  "q #", 2));
}

TEST(ExpressionErrors, CutALongLineAroundThePlace) {
  std::string text;
  for (int k = 0; k < 50; ++k) text += "exp(x) + ";
  const std::string message = error_of(text + "* 2" + text);
  const std::size_t first = message.find('\n') + 1, second = message.find('\n', first) + 1;
  const std::string line = message.substr(first, second - first - 1), caret = message.substr(second);
  EXPECT_LE(line.size(), 80u);
  ASSERT_LT(caret.size(), line.size());
  EXPECT_EQ(line.substr(caret.size() - 1, 3), "* 2");
}

TEST(ExpressionErrors, RefuseBracketsThatAreTooDeep) {
  const std::string message = error_of(std::string(100000, '(') + "x");
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "expression: the brackets are nested deeper than 100; name a part: s = ...; f(s)");
  EXPECT_NE(error_of(std::string(100000, '[')), nothing_thrown);
  std::string deep = "x";
  for (int k = 0; k < 90; ++k) deep = "exp(" + deep + ")";
  EXPECT_NO_THROW(parse_expression(deep));
}

TEST(ExpressionErrors, KnowTheirPlace) {
  try {
    parse_expression("1 + sofmax(x)");
    FAIL();
  } catch (const ExpressionError& error_here) {
    EXPECT_EQ(error_here.place().begin, 4u);
    EXPECT_EQ(error_here.place().end, 10u);
  }
}

}  // namespace
}  // namespace retrace
