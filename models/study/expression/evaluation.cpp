#include <retrace/models/study/expression/evaluation.h>

#include <retrace/models/formats/nearest_name.h>

#include <algorithm>
#include <cmath>

namespace retrace::expressions {
namespace {

class Evaluation {
 private:
  /// The errors of what it does, with the place of the step.
  auto with_place(const Step& step, const auto& compute) const {
    try {
      return compute();
    } catch (const ExpressionError&) {
      throw;
    } catch (const Error& error) {
      throw ExpressionError(error.what(), program_.source, step.place);
    }
  }

 public:
  Evaluation(const Program& program, const Tensors& inputs) : program_(program), inputs_(inputs) {
    const auto real = std::ranges::find_if(inputs, [](const Tensor& x) { return x.dtype() != i64; });
    if (real != inputs.end()) constants_ = real->dtype() == dual ? f64 : real->dtype();
    values_.reserve(program.steps.size());
  }

  Tensor result() {
    for (const Step& step : program_.steps) {
      values_.push_back(with_place(step, [&] { return value(step); }));
      give_name(values_.back(), step.name);
    }
    const Step& last = program_.steps[program_.result];
    return with_place(last, [&] { return result_from(values_[program_.result]); });
  }

 private:
  Value value(const Step& step) {
    switch (step.kind) {
      case Step::Kind::number:
        return {step.number};
      case Step::Kind::word:
        return {Word{step.word}};
      case Step::Kind::quoted:
        return {Word{step.member}};
      case Step::Kind::none:
        return {};
      case Step::Kind::input:
        return {inputs_[step.input]};
      case Step::Kind::negative:
        return negative(operand(step, 0));
      case Step::Kind::arithmetic:
        return arithmetic(step.sign, operand(step, 0), operand(step, 1));
      case Step::Kind::call:
        return call(step);
      case Step::Kind::list:
        return list(step);
      case Step::Kind::positions:
        return positions(step);
      case Step::Kind::item:
        return item(step);
      case Step::Kind::member:
        return member(step, operand(step, 0));
    }
    return {};
  }

  const Value& operand(const Step& step, std::size_t k) const {
    return values_[static_cast<std::size_t>(step.operands[k])];
  }

  // ---- arithmetic

  Tensor tensor_from(const Value& value) const {
    if (const Tensor* x = tensor_in(value)) return *x;
    const Tensor constant = std::holds_alternative<List>(value.is) ? tensor_of_numbers(value, constants_) : Tensor();
    if (!constant.defined())
      throw ValueError(text("expression: a tensor or a number should stand here, not ", described(value)));
    return constant;
  }

  Value negative(const Value& value) const {
    if (const double* number = std::get_if<double>(&value.is)) return {-*number};
    return {neg(tensor_from(value))};
  }

  template <class A, class B> static auto computed(char sign, const A& a, const B& b) {
    switch (sign) {
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      default:
        return a / b;
    }
  }

  Value arithmetic(char sign, const Value& left, const Value& right) const {
    const double *a = std::get_if<double>(&left.is), *b = std::get_if<double>(&right.is);
    if (a != nullptr && b != nullptr) return {computed(sign, *a, *b)};
    if (a != nullptr) return {computed(sign, *a, tensor_from(right))};
    if (b != nullptr) return {computed(sign, tensor_from(left), *b)};
    const Tensor x = tensor_from(left), y = tensor_from(right);
    return {computed(sign, x, y)};
  }

  // ---- calls

  Value call(const Step& step) const {
    std::vector<Argument> arguments;
    bool of_numbers = true;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      const OpParameter& parameter = step.op->parameters[k];
      const bool is_given = step.operands[k] != Step::absent;
      const Value& given = is_given ? operand(step, k) : parameter.otherwise;
      arguments.emplace_back(step.op->name, parameter, given, constants_);
      of_numbers = of_numbers && (!is_given || std::holds_alternative<double>(given.is));
    }
    Value result = step.op->call(arguments);
    // A function of numbers alone is a number: sqrt(8).
    const Tensor* y = std::get_if<Tensor>(&result.is);
    if (of_numbers && y != nullptr && y->rank() == 0) return {y->item()};
    return result;
  }

  Value list(const Step& step) const {
    List result;
    for (std::size_t k = 0; k < step.operands.size(); ++k) result.items.push_back(operand(step, k));
    return {std::move(result)};
  }

  Value positions(const Step& step) const {
    const auto whole = [&](std::size_t k) -> std::optional<std::int64_t> {
      if (step.operands[k] == Step::absent) return std::nullopt;
      static const OpParameter parameter{.name = "a position"};
      return Argument("slice", parameter, operand(step, k), constants_).as<std::int64_t>();
    };
    return {Positions{.start = whole(0), .stop = whole(1), .step = whole(2).value_or(1)}};
  }

  Value item(const Step& step) const {
    const Parts* parts = std::get_if<Parts>(&operand(step, 0).is);
    if (parts == nullptr) return call(step);
    const List& index = std::get<List>(operand(step, 1).is);
    const double* number = index.items.size() == 1 ? std::get_if<double>(&index.items[0].is) : nullptr;
    const double count = static_cast<double>(parts->tensors.size());
    if (number == nullptr || *number != std::trunc(*number) || *number < -count || *number >= count)
      throw IndexError(
          text("expression: of ", count, " tensors one is chosen by a position from ", -count, " to ", count - 1));
    return {parts->tensors[static_cast<std::size_t>(*number < 0 ? *number + count : *number)]};
  }

  Value member(const Step& step, const Value& value) const {
    const Results* results = std::get_if<Results>(&value.is);
    if (results == nullptr)
      throw ValueError(text("expression: there is no .", step.member, " of ", described(value),
                            "; ops with several results have parts: lstm_step(p, h, c, w).c"));
    std::vector<std::string_view> known;
    for (const auto& [name, tensor] : results->members) {
      if (name == step.member) return {tensor};
      known.push_back(name);
    }
    throw ValueError(unknown_name("expression", "result", step.member, known));
  }

  // ---- names and the result

  /// Leaves a tensor that has a name with it: an op may return its input.
  static void give_name(const Value& value, const std::string& name) {
    if (name.empty()) return;
    const auto name_one = [](const Tensor& x, const std::string& own) {
      if (x.name().empty()) x.named(own);
    };
    if (const Tensor* x = std::get_if<Tensor>(&value.is)) name_one(*x, name);
    if (const Results* results = std::get_if<Results>(&value.is))
      for (const auto& [own, tensor] : results->members) name_one(tensor, text(name, ".", own));
    if (const Parts* parts = std::get_if<Parts>(&value.is))
      for (std::size_t k = 0; k < parts->tensors.size(); ++k) name_one(parts->tensors[k], text(name, "[", k, "]"));
  }

  Tensor result_from(const Value& value) const {
    if (const double* number = std::get_if<double>(&value.is)) return full({}, *number, constants_);
    if (const Parts* parts = std::get_if<Parts>(&value.is))
      throw ValueError(text("expression: the result is one tensor, not ", parts->tensors.size(),
                            "; choose one by its position, as in split(x, [2, 2])[0]"));
    return tensor_from(value);
  }

  const Program& program_;
  const Tensors& inputs_;
  Dtype constants_ = default_dtype();
  std::vector<Value> values_;
};

}  // namespace

Tensor evaluated(const Program& program, const Tensors& inputs) { return Evaluation(program, inputs).result(); }

}  // namespace retrace::expressions
