#include <retrace/models/study/expression/expression.h>

#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/study/expression/evaluation.h>

#include <algorithm>

namespace retrace {
namespace {

using expressions::ExpressionOp;
using expressions::Program;

/// The values of the inputs in the program's order.
Tensors ordered(const Program& program, const std::vector<NamedTensor>& given) {
  std::vector<std::string_view> known;
  for (const NamedTensor& one : given) known.push_back(one.name);
  Tensors result;
  for (std::size_t k = 0; k < program.inputs.size(); ++k) {
    const std::string& name = program.inputs[k];
    const auto fail = [&](const std::string& message) {
      throw ExpressionError(text("expression: ", message), program.source, program.input_places[k]);
    };
    const auto count = std::ranges::count(known, name);
    if (count > 1) fail(text("the input ", name, " is given twice; give one value"));
    if (count == 1) {
      const Tensor& x = given[static_cast<std::size_t>(std::ranges::find(known, name) - known.begin())].tensor;
      if (!x.defined()) fail(text("the input ", name, " is an undefined tensor; give it a value"));
      result.push_back(x);
      continue;
    }
    if (const ExpressionOp* op = expressions::find_op(name)) fail(text(name, " is an op; call it: ", op->signature));
    std::vector<std::string_view> unused;
    for (const std::string_view other : known)
      if (std::ranges::find(program.inputs, other) == program.inputs.end()) unused.push_back(other);
    const std::string meant = unused.empty() ? "" : text("; did you mean ", nearest_name(name, unused));
    fail(text("the input ", name, " has no value", meant, meant.empty() ? "; give it one" : ", or give it one",
              ", as in --input ", name, "=4x8"));
  }
  return result;
}

void check_used(const Program& program, const std::vector<NamedTensor>& given) {
  for (const NamedTensor& one : given) {
    if (std::ranges::find(program.inputs, one.name) != program.inputs.end()) continue;
    const TextPart all{0, program.source.size()};
    if (program.inputs.empty())
      throw ExpressionError(text("expression: it has no input, so ", one.name, " is of no use"), program.source, all);
    throw ExpressionError(text("expression: the input ", one.name, " is not used; the expression has ",
                               joined(program.inputs), "; leave ", one.name, " out"),
                          program.source, all);
  }
}

}  // namespace

const std::string& Expression::text() const { return program_->source; }

const std::vector<std::string>& Expression::inputs() const { return program_->inputs; }

Tensor Expression::operator()(const std::vector<NamedTensor>& inputs) const {
  const Tensors values = ordered(*program_, inputs);
  check_used(*program_, inputs);
  return expressions::evaluated(*program_, values);
}

Expression parse_expression(std::string_view text) {
  return Expression(std::make_shared<const expressions::Program>(expressions::parsed(text)));
}

}  // namespace retrace
