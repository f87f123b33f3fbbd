#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>

#include <retrace/models/checks/checks.h>
#include <retrace/models/checks/foreign_program.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/print.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/study/expression/expression.h>
#include <retrace/models/study/expression/input.h>

namespace retrace {
namespace {

using FunctionOfInputs = std::function<Tensors(const std::vector<NamedTensor>&)>;

/// One row per input that has a gradient, the others held constant.
std::vector<CheckRow> check_inputs(const FunctionOfInputs& f, const std::vector<NamedTensor>& inputs,
                                   const GradcheckFlags& flags) {
  std::vector<CheckRow> rows;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].tensor.dtype() == i64) continue;
    const Function of_input = [&](const Tensors& moved) {
      std::vector<NamedTensor> all = inputs;
      all[k].tensor = moved[0];
      return f(all);
    };
    rows.emplace_back().name = inputs[k].name;
    add_case(rows.back(), gradcheck(of_input, {inputs[k].tensor},
                                    {.seed = flags.expression.seed,
                                     .order = static_cast<int>(flags.order),
                                     .kinks = flags.kinks,
                                     .names = {inputs[k].name},
                                     .name = flags.command}));
  }
  if (rows.empty())
    throw ValueError("gradcheck: the function has no real input, so no gradient; give it one (--input)");
  return rows;
}

std::vector<CheckRow> check_expression(const GradcheckFlags& flags) {
  const Expression f = parse_expression(flags.expression.text);
  const std::vector<NamedTensor> inputs = inputs_of(flags.expression, f64);
  f(inputs);
  return check_inputs([&](const std::vector<NamedTensor>& in) { return Tensors{f(in)}; }, inputs, flags);
}

std::vector<CheckRow> check_program(const GradcheckFlags& flags) {
  const std::vector<NamedTensor> inputs = inputs_of(flags.expression, f64);
  std::vector<std::string> names;
  for (const NamedTensor& input : inputs) names.push_back(input.name);
  LineProgram program(flags.command, flags.timeout);
  const auto function = std::make_shared<const ForeignFunction>(foreign_function(program, names));
  const auto f = [&](const std::vector<NamedTensor>& in) {
    Tensors x;
    for (const NamedTensor& each : in) x.push_back(each.tensor);
    return call_foreign(function, x);
  };
  return check_inputs(f, inputs, flags);
}

std::vector<CheckRow> rows_of(const GradcheckFlags& flags) {
  if (!flags.command.empty()) return check_program(flags);
  if (!flags.expression.text.empty()) return check_expression(flags);
  return run_checks(flags.names, static_cast<int>(flags.order), flags.expression.seed);
}

void list_names(bool json, Program& program) {
  const std::vector<std::string> names = checked_names();
  if (json)
    program.results << JsonObject{{"names", names}}.text() << '\n';
  else
    for (const std::string& name : names) program.results << name << '\n';
  program.results << std::flush;
}

}  // namespace

std::vector<NamedTensor> inputs_of(const ExpressionFlags& flags, Dtype dtype) {
  std::vector<NamedTensor> inputs;
  for (const std::string& input : flags.inputs) inputs.push_back(parse_input(input, flags.seed, dtype));
  return inputs;
}

bool print_checks(std::ostream& out, const std::vector<CheckRow>& rows, const char* heading) {
  std::size_t longest = 0;
  for (const CheckRow& row : rows) longest = std::max(longest, row.name.size());
  const int width = static_cast<int>(std::max<std::size_t>(longest, 12));
  print(out, "%-*s %6s %8s %11s %13s\n", width, heading, "cases", "elements", "differences", "dual numbers");
  for (const CheckRow& row : rows) {
    print(out, "%-*s %6lld %8lld %11.1e ", width, row.name.c_str(), static_cast<long long>(row.cases),
          static_cast<long long>(row.elements), row.worst_error);
    const bool none_by_duals = row.cases > 0 && row.without_duals.size() == static_cast<std::size_t>(row.cases);
    if (none_by_duals)
      print(out, "%13s", "none");
    else
      print(out, "%13.1e", row.exact_error);
    out << (row.failures.empty() ? "  ok\n" : "  FAILED\n");
    for (const std::string& reason : row.without_duals) out << "    no dual numbers in " << reason << '\n';
    for (const std::string& explanation : row.explanations) out << "    " << explanation << '\n';
    for (const std::string& failure : row.failures) out << "    " << failure << '\n';
  }
  const CheckRow total = total_of(rows);
  out << rows.size() << " checked in " << total.elements << " elements, " << total.failures.size() << " failed; "
      << total.skipped << " elements skipped, " << total.failed_elements << " failed\n";
  return total.failures.empty();
}

void run_gradcheck(const GradcheckFlags& flags, Program& program) {
  if (flags.list) return list_names(flags.json, program);
  if (flags.bugs) return run_bugs(flags, program);
  const bool own = !flags.expression.text.empty() || !flags.command.empty();
  const std::vector<CheckRow> rows = rows_of(flags);
  const bool passed =
      print_checks(flags.json ? program.messages : program.results, rows, own ? "input" : "op or module");
  if (flags.json) program.results << to_json(rows) << std::endl;
  if (!passed) program.status = 1;
}

}  // namespace retrace
