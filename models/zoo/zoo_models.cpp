// The models of the zoo, registered as a program registers its own.
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/networks/slot_memory_model.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/zoo/block_model.h>
#include <retrace/models/zoo/external_memory_model.h>
#include <retrace/models/zoo/soft_memory_model.h>
#include <retrace/nn/memory/delta_net.h>
#include <retrace/nn/memory/dnc.h>
#include <retrace/nn/memory/mlstm.h>
#include <retrace/nn/memory/ntm.h>

namespace retrace {
namespace {

ModelChoices block_choices() {
  return {.memories = {{"", {"heads"}, {MemoryGate::unit}}}, .form = {"layers", "dropout", "feed-forward"}, .heads = 4};
}

/// The slots and read heads of an NTM or a DNC; few slots, as empty ones share the attention of the first steps.
ModelChoices external_choices(int heads) {
  return {.memories = {{.parts = {"heads", "slots"}, .heads_divide_slots = false}},
          .form = {"dropout"},
          .heads = heads,
          .slots = 16};
}

ModelChoices notebook_choices() {
  return {.memories = {{"", {"heads", "slots"}, {}}}, .form = {"dropout"}, .heads = SlotMemoryOptions{}.heads};
}

// clang-format off
constexpr ModelRecipe recipes[] = {
    {.task = "babi-qa", .model = "rmc", .learning_rate = 2e-3, .steps = 25000, .schedule = "trapezoid"},
    {.task = "babi-qa", .model = "attention", .learning_rate = 1e-3, .steps = 12000, .schedule = "trapezoid"},
    {.task = "recall", .model = "dnc", .learning_rate = 3e-3, .steps = 2000, .schedule = "trapezoid"},
    {.task = "reverse", .model = "ntm", .steps = 3000, .schedule = "trapezoid"},
    {.task = "reverse", .model = "dnc", .learning_rate = 3e-3, .steps = 3000, .schedule = "trapezoid"},
    {.task = every_other_task, .model = "delta-net", .learning_rate = 3e-3},
    {.task = every_other_task, .model = "mlstm", .learning_rate = 3e-3},
    {.task = every_other_task, .model = "stack-rnn", .learning_rate = 3e-3},
    {.task = every_other_task, .model = "tape-rnn", .learning_rate = 3e-3},
    {.task = every_other_task, .model = "ntm", .schedule = "trapezoid"},
    {.task = every_other_task, .model = "dnc", .learning_rate = 3e-3, .schedule = "trapezoid"},
};
// clang-format on

/// Registers them before main() begins: all programs that are linked with retrace::models have the zoo.
[[maybe_unused]] const bool models_are_registered = [] {
  const std::optional<ModelChoices> of_slots = choices_of("relational-memory");
  const ModelChoices dropout{.form = {"dropout"}};
  register_model<BlockModel<DeltaNet>>("delta-net", block_choices(), "zoo");
  register_model<BlockModel<Mlstm>>("mlstm", block_choices(), "zoo");
  register_model<SoftMemoryModel<SoftMemoryKind::stack>>("stack-rnn", dropout, "zoo");
  register_model<SoftMemoryModel<SoftMemoryKind::tape>>("tape-rnn", dropout, "zoo");
  register_model<SlotMemoryModel<MemoryKind::cell>>("cell-memory", of_slots, "zoo");
  register_model<SlotMemoryModel<MemoryKind::notebook>>("notebook-memory", notebook_choices(), "zoo");
  register_model<ExternalMemoryModel<Ntm>>("ntm", external_choices(1), "zoo");
  register_model<ExternalMemoryModel<Dnc>>("dnc", external_choices(2), "zoo");
  for (const ModelRecipe& recipe : recipes) register_recipe(recipe);
  return true;
}();

}  // namespace
}  // namespace retrace
