#include <retrace/models/checks/module_cases.h>

#include <iterator>

#include <retrace/models/checks/module_rows.h>
#include <retrace/models/checks/network_rows.h>

namespace retrace {
namespace {

constexpr bool has_row(std::string_view module) {
  for (const module_checks::ModuleChecks& row : module_checks::modules)
    if (row.name.text == module) return true;
  return false;
}
#define MODULE(name) static_assert(has_row(#name), "models/checks/module_rows.h needs a row for the module " #name);
#define VARIANT(name, module) MODULE(name)
#define PART(name, module) static_assert(has_row(#module), "modules.def: " #name " is part of no MODULE");
#include <retrace/nn/modules.def>
#undef MODULE
#undef VARIANT
#undef PART
static_assert(std::size(module_checks::modules) == std::size(module_checks::listed_modules),
              "modules.def and models/checks/module_rows.h do not match, one row per MODULE and VARIANT");

}  // namespace

std::vector<CheckedName> module_cases() {
  const DtypeScope scope(f64);
  module_checks::numbers() = Random(77);  // the same points every time
  std::vector<CheckedName> table;
  for (const auto& [name, cases] : module_checks::modules)
    table.push_back({.name = std::string(name.text), .is_op = false, .cases = cases()});
  for (const auto& [name, cases] : module_checks::networks)
    table.push_back({.name = std::string(name), .is_op = false, .cases = cases()});
  return table;
}

}  // namespace retrace
