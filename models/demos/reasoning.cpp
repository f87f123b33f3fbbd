#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/nn/memory/relational_memory.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::int64_t slots = 4, slot_size = 64, input_size = 32, steps = 4;
constexpr int heads = 2;
constexpr double mutual_attention = 0.3, limit = 1e-12;

/// The weights [heads, N, N] of each input.
Tensors read_inputs() {
  Random random(demo_seed);
  const RelationalMemory relate(input_size, random, {.slots = slots, .slot_size = slot_size, .heads = heads});
  Tensor memory = relate.reset_memory(1, random);
  const Tensor x = Random(demo_seed).stream("inputs").normal({steps, 1, input_size});
  Tensors weights;
  for (std::int64_t t = 0; t < steps; ++t) {
    RelationalMemoryResult result = relate(memory, x[t]);
    memory = result.memory;
    weights.push_back(result.weights[0]);
  }
  return weights;
}

/// A row per slot: the attention that it gives to each slot, and the sum, which must be 1.
void add_matrix(DemoTable& table, const Tensor& weights) {
  table.columns = {"slot"};
  for (std::int64_t to = 0; to < slots; ++to) table.columns.push_back(text("to slot ", to));
  table.columns.push_back("sum");
  double off = 0;
  for (std::int64_t from = 0; from < slots; ++from) {
    table.rows.push_back({from});
    for (std::int64_t to = 0; to < slots; ++to) table.rows.back().push_back(weights.at({from, to}));
    const double total = sum(weights[from]).item();
    table.rows.back().push_back(total);
    off = std::max(off, std::abs(total - 1));
  }
  table.finding = text("weights from ", min(weights).item(), " to ", max(weights).item(),
                       " (uniform attention: ", 1.0 / slots, "); row sums are one to ", off);
  table.holds = off < limit;
}

DemoTable matrix_table(const Tensor& weights) {
  DemoTable table{.title = "Attention of head 0 at input 4",
                  .see = "Row i is how slot i divides its attention among the slots: it sums to one.",
                  .columns = {},
                  .rows = {},
                  .finding = {}};
  add_matrix(table, weights);
  return table;
}

DemoTable mean_table(const Tensors& weights) {
  DemoTable table{
      .title = text("Mean attention over ", steps, " inputs and ", heads, " heads"),
      .see = "What is left of the preferences when the input changes. A mean of rows that sum to one sums to one.",
      .columns = {},
      .rows = {},
      .finding = {}};
  add_matrix(table, mean(stack(weights), {0, 1}));
  return table;
}

DemoTable pairs_table(const Tensor& weights) {
  DemoTable table{.title = "Pairs of slots at input 4, head 0, by mutual attention w_ij + w_ji",
                  .see = text("Pairs above ", mutual_attention, " count as related. Uniform attention alone gives ",
                              2.0 / slots, ", so only what lies above that is a preference."),
                  .columns = {"slot i", "slot j", "w_ij", "w_ji", "w_ij + w_ji", "related", "above uniform"},
                  .rows = {},
                  .finding = {}};
  std::int64_t related = 0, above_uniform = 0;
  double total = 0;
  for (std::int64_t i = 0; i < slots; ++i)
    for (std::int64_t j = i + 1; j < slots; ++j) {
      const double there = weights.at({i, j}), back = weights.at({j, i}), mutual = there + back;
      const bool is_related = mutual > mutual_attention, is_above = mutual > 2.0 / slots;
      table.rows.push_back({i, j, there, back, mutual, is_related ? "yes" : "no", is_above ? "yes" : "no"});
      related += is_related ? 1 : 0;
      above_uniform += is_above ? 1 : 0;
      total += mutual;
    }
  const double to_itself = sum(weights * eye(slots)).item();
  table.finding =
      text(related, " of ", table.rows.size(), " pairs are related, ", above_uniform, " above uniform; pairs ", total,
           " and slots to themselves ", to_itself, " add up to ", total + to_itself);
  table.holds = related > 0 && std::abs(total + to_itself - slots) < limit;
  return table;
}

}  // namespace

Demo reasoning_demo() {
  const Tensors weights = read_inputs();
  const Tensor last = weights.back()[0];
  return {.name = {},
          .title = "which slot of a relational memory attends to which",
          .tables = {matrix_table(last), pairs_table(last), mean_table(weights)}};
}

}  // namespace retrace
