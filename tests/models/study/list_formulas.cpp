// Prints the formulas of every op, static and as the calls of the gradient-check table have them, as JSON: what the
// study page must be able to read. [{"op": "softmax", "inputs": "x", "formula": "y = ..."}, ...]
#include <iostream>
#include <set>
#include <tuple>

#include <retrace/core/tape/tape.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/ops/checks/op_checks.h>

namespace retrace {
namespace {

using Row = std::tuple<std::string, std::string, std::string>;  // op, inputs, formula

void insert_formulas(const CheckCase& check, std::set<Row>& rows) {
  if (!check.holds_inputs)
    for (const Tensor& input : check.inputs)
      if (input.dtype() != i64) input.watch();
  Tape tape;
  check.function(check.inputs);
  for (const Record* record : tape.records()) {
    const OpInfo& op = record->op();
    const Formulas formulas = record->formulas();
    for (const std::string& formula :
         {std::string(op.forward), std::string(op.backward), formulas.forward, formulas.backward})
      rows.emplace(op.name, op.inputs, formula);
  }
}

}  // namespace
}  // namespace retrace

int main() {
  std::set<retrace::Row> rows;
  for (const auto& cases : {retrace::op_cases(), retrace::module_cases()})
    for (const retrace::CheckedName& checked : cases)
      for (const retrace::CheckCase& check : checked.cases) retrace::insert_formulas(check, rows);
  std::vector<retrace::JsonObject> result;
  for (const auto& [op, inputs, formula] : rows)
    result.push_back({{"op", op}, {"inputs", inputs}, {"formula", formula}});
  std::cout << retrace::JsonText(result).text() << '\n';
}
