#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/study/expression/program.h>
#include <retrace/models/study/expression/tokens.h>

#include <algorithm>
#include <map>
#include <utility>

namespace retrace::expressions {
namespace {

using Words = std::span<const std::string_view>;

constexpr int deepest = 100;  // brackets inside of each other: each is a few frames of the stack

/// Reads by recursive descent:
///   statements = [name "="] sum {";" [name "="] sum} [";"]
///   sum = product {("+" | "-") product}       product = unary {("*" | "/" | "@") unary}   unary = {"-"} operand
///   operand = (number | name | name "(" arguments ")" | "(" sum ")" | list) {list | "." name}
///   arguments = [[name "="] sum {"," [name "="] sum}]       list = "[" [item {"," item}] "]"
///   item = sum | [sum] ":" [sum] [":" [sum]]
/// `words` are those that the parameter takes whose argument is being read.
class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokens_of(source)) { program_.source = source; }

  Program statements() {
    do {
      if (at_end() && !program_.steps.empty()) break;  // a last ; ends nothing
      statement();
    } while (accept(";"));
    if (!at_end()) fail(text("an operator or ; should stand before ", shown(next())), next().place);
    return std::move(program_);
  }

 private:
  // ---- statements and operators

  void statement() {
    if (!(next().kind == Token::Kind::name && is_sign(tokens_[at_ + 1], "="))) {
      program_.result = sum({});
      return;
    }
    const Token name = take();
    take();
    check_new(name);
    program_.result = sum({});
    Step& step = program_.steps[program_.result];
    if (step.kind != Step::Kind::input && step.name.empty()) step.name = name.text;
    named_.emplace(name.text, program_.result);
  }

  void check_new(const Token& name) const {
    if (name.text == "none") fail("none stands for nothing; take another name", name.place);
    if (named_.contains(name.text) || std::ranges::find(program_.inputs, name.text) != program_.inputs.end())
      fail(text(name.text, " stands for something else already; take another name"), name.place);
  }

  std::size_t sum(Words words) {
    std::size_t left = product(words);
    while (is_sign(next(), "+") || is_sign(next(), "-")) {
      const Token sign = take();
      left = arithmetic(sign, left, product({}));
    }
    return left;
  }

  std::size_t product(Words words) {
    std::size_t left = unary(words);
    while (is_sign(next(), "*") || is_sign(next(), "/") || is_sign(next(), "@")) {
      const Token sign = take();
      if (is_sign(next(), "*")) fail("there is no **; write pow(x, 2)", {sign.place.begin, next().place.end});
      left = is_sign(sign, "@") ? matrix_product(sign, left, unary({})) : arithmetic(sign, left, unary({}));
    }
    return left;
  }

  std::size_t arithmetic(const Token& sign, std::size_t left, std::size_t right) {
    return add({.kind = Step::Kind::arithmetic,
                .place = sign.place,
                .sign = sign.text[0],
                .operands = {index(left), index(right)}});
  }

  /// a @ b is matmul(a, b).
  std::size_t matrix_product(const Token& sign, std::size_t left, std::size_t right) {
    Step result{.kind = Step::Kind::call, .place = sign.place, .op = find_op("matmul")};
    result.operands.assign(result.op->parameters.size(), Step::absent);
    result.operands[0] = index(left), result.operands[1] = index(right);
    return add(std::move(result));
  }

  std::size_t unary(Words words) {
    std::vector<TextPart> signs;
    while (is_sign(next(), "-")) signs.push_back(take().place);
    std::size_t result = operand(words);
    for (; !signs.empty(); signs.pop_back())
      result = add({.kind = Step::Kind::negative, .place = signs.back(), .operands = {index(result)}});
    return result;
  }

  // ---- operands

  std::size_t operand(Words words) {
    std::size_t result = primary(words);
    while (true) {
      if (is_sign(next(), "[")) {
        const std::size_t position = list(words_of<std::vector<SliceIndex>>());
        const TextPart place = program_.steps[position].place;
        result = add({.kind = Step::Kind::item,
                      .place = place,
                      .op = find_op("slice"),
                      .operands = {index(result), index(position)}});
      } else if (accept(".")) {
        const Token name = take_name("the name of a result should follow the dot");
        result = add({.kind = Step::Kind::member,
                      .place = name.place,
                      .member = std::string(name.text),
                      .operands = {index(result)}});
      } else {
        return result;
      }
    }
  }

  std::size_t primary(Words words) {
    const Nesting nesting(*this);
    const Token& token = next();
    if (token.kind == Token::Kind::number) {
      take();
      return add({.kind = Step::Kind::number, .place = token.place, .number = token.number});
    }
    if (token.kind == Token::Kind::quoted) {
      const Token quoted = take();
      return add({.kind = Step::Kind::quoted, .place = quoted.place, .member = std::string(quoted.text)});
    }
    if (token.kind == Token::Kind::name) return is_sign(tokens_[at_ + 1], "(") ? call() : name(words);
    if (is_sign(token, "[")) return list(words);
    if (!accept("(")) fail(text("a value should stand before ", shown(token)), token.place);
    const std::size_t inner = sum(words);
    expect(")", "to close this bracket", token.place);
    return inner;
  }

  std::size_t name(Words words) {
    const Token token = take();
    if (const auto word = std::ranges::find(words, token.text); word != words.end())
      return add({.kind = Step::Kind::word, .place = token.place, .word = *word});
    if (token.text == "none") return add({.kind = Step::Kind::none, .place = token.place});
    if (const auto known = named_.find(token.text); known != named_.end()) return known->second;
    if (!words.empty())
      fail(text("'", token.text, "' is no choice here; did you mean ", nearest_name(token.text, words)), token.place);
    const auto found = std::ranges::find(program_.inputs, token.text);
    const std::size_t input = static_cast<std::size_t>(found - program_.inputs.begin());
    if (found == program_.inputs.end()) {
      program_.inputs.emplace_back(token.text);
      program_.input_places.push_back(token.place);
    }
    return add({.kind = Step::Kind::input, .place = token.place, .input = input});
  }

  // ---- lists

  std::size_t list(Words words) {
    const Token open = take();
    Step result{.kind = Step::Kind::list, .place = open.place};
    while (!is_sign(next(), "]")) {
      result.operands.push_back(index(item(words)));
      if (!accept(",")) break;
    }
    result.place.end = next().place.end;
    expect("]", "to close this list", open.place);
    return add(std::move(result));
  }

  std::size_t item(Words words) {
    const Token first = next();
    const bool has_start = !is_sign(first, ":");
    const std::size_t start = has_start ? sum(words) : 0;
    const bool takes_positions = words.data() == words_of<std::vector<SliceIndex>>().data();
    if (!takes_positions || !is_sign(next(), ":")) return has_start ? start : sum(words);
    Step result{.kind = Step::Kind::positions, .place = first.place};
    result.operands.push_back(has_start ? index(start) : Step::absent);
    for (int k = 0; k < 2; ++k) {
      const bool has_part = accept(":") && !is_sign(next(), ":") && !is_sign(next(), ",") && !is_sign(next(), "]");
      result.operands.push_back(has_part ? index(sum({})) : Step::absent);
    }
    result.place.end = tokens_[at_ - 1].place.end;
    return add(std::move(result));
  }

  // ---- calls

  std::size_t call() {
    const Token name = take();
    const ExpressionOp* op = find_op(name.text);
    if (op == nullptr)
      fail(text("there is no op named '", name.text, "'; did you mean ", nearest_name(name.text, op_names())),
           name.place);
    const Token open = take();
    Step result{.kind = Step::Kind::call, .place = name.place, .op = op};
    result.operands.assign(op->parameters.size(), Step::absent);
    bool has_named = false;
    for (std::size_t position = 0; !is_sign(next(), ")"); ++position) {
      argument(result, position, has_named);
      if (!accept(",")) break;
    }
    expect(")", "to close this bracket", open.place);
    for (std::size_t k = 0; k < op->parameters.size(); ++k)
      if (op->parameters[k].is_required && result.operands[k] == Step::absent)
        fail(text(op->name, " needs ", op->parameters[k].name, ": ", op->signature), name.place);
    return add(std::move(result));
  }

  void argument(Step& call, std::size_t position, bool& has_named) {
    const ExpressionOp& op = *call.op;
    const Token first = next();
    std::size_t parameter = position;
    if (first.kind == Token::Kind::name && is_sign(tokens_[at_ + 1], "=")) {
      parameter = parameter_named(op, first);
      take(), take();
      has_named = true;
    } else if (has_named) {
      fail(text("an argument without a name cannot follow one with a name: ", op.signature), first.place);
    }
    if (parameter >= op.parameters.size())
      fail(text(op.name, " has ", op.parameters.size(),
                op.parameters.size() == 1 ? " parameter: " : " parameters: ", op.signature),
           first.place);
    if (call.operands[parameter] != Step::absent)
      fail(text(op.parameters[parameter].name, " is given twice: ", op.signature), first.place);
    call.operands[parameter] = index(sum(op.parameters[parameter].words));
  }

  std::size_t parameter_named(const ExpressionOp& op, const Token& name) const {
    const auto found = std::ranges::find(op.parameters, name.text, &OpParameter::name);
    if (found != op.parameters.end()) return static_cast<std::size_t>(found - op.parameters.begin());
    std::vector<std::string_view> known;
    for (const OpParameter& parameter : op.parameters) known.push_back(parameter.name);
    fail(text(op.name, " has no parameter '", name.text, "'; did you mean ", nearest_name(name.text, known), ": ",
              op.signature),
         name.place);
  }

  // ---- tokens and steps

  /// Counts the brackets that are open.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest)
        parser_.fail(text("the brackets are nested deeper than ", deepest, "; name a part: s = ...; f(s)"),
                     parser_.next().place);
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  const Token& next() const { return tokens_[at_]; }
  bool at_end() const { return next().kind == Token::Kind::end; }
  const Token& take() { return at_end() ? next() : tokens_[at_++]; }
  static bool is_sign(const Token& token, std::string_view sign) {
    return token.kind == Token::Kind::sign && token.text == sign;
  }
  bool accept(std::string_view sign) {
    if (!is_sign(next(), sign)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view sign, std::string_view why, TextPart opened) {
    if (accept(sign)) return;
    if (at_end()) fail(text("there is no ", sign, " ", why), opened);
    fail(text("a comma or ", sign, " should stand before ", shown(next())), next().place);
  }
  Token take_name(std::string_view rule) {
    if (next().kind != Token::Kind::name) fail(std::string(rule), next().place);
    return take();
  }
  static std::string shown(const Token& token) {
    return token.kind == Token::Kind::end ? "the end" : text("'", token.text, "'");
  }

  std::size_t add(Step step) {
    program_.steps.push_back(std::move(step));
    return program_.steps.size() - 1;
  }
  static std::ptrdiff_t index(std::size_t step) { return static_cast<std::ptrdiff_t>(step); }
  [[noreturn]] void fail(const std::string& message, TextPart place) const {
    throw ExpressionError(text("expression: ", message), program_.source, place);
  }

  Program program_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::map<std::string_view, std::size_t> named_;
};

}  // namespace

Program parsed(std::string_view source) { return Parser(source).statements(); }

}  // namespace retrace::expressions
