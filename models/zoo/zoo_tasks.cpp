// The tasks of the zoo, registered as a program registers its own.
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/zoo/babi_qa/babi_qa.h>
#include <retrace/models/zoo/chomsky/chomsky.h>

namespace retrace {
namespace {

/// The rules stay where they are.
void register_strings(const StringRules& rules) {
  const auto make = [&rules](const TaskOptions& given) {
    return std::make_unique<StringTask>(rules,
                                        StringLengths{.longest = given.length.value_or(StringLengths().longest)});
  };
  register_task(rules.name, "length", make,
                {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 3e-3, .steps = 10000}, "zoo");
}

[[maybe_unused]] const bool tasks_are_registered = [] {
  register_task("babi-qa", BabiQa::option_names, BabiQa::make,
                {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 3e-3, .steps = 20000}, "zoo");
  for (const auto& tasks : {regular_tasks(), context_free_tasks(), context_sensitive_tasks()})
    for (const StringRules& rules : tasks) register_strings(rules);
  return true;
}();

}  // namespace
}  // namespace retrace
