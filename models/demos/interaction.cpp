#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/nn/layers/recurrent.h>

#include <algorithm>
#include <vector>

namespace retrace {
namespace {

constexpr std::int64_t steps = 3, input_size = 8, hidden = 16, slots = 3, slot_size = 16;
constexpr double loudness = 0.5;

/// The results of the cell over the steps, from its initial state except for the memory.
std::vector<RelationalResult> run_cell(const RelationalRNNCell& cell, const Tensor& x, const Tensor& memory) {
  RelationalState state = cell.initial_state(1);
  state.memory = memory;
  std::vector<RelationalResult> results;
  for (std::int64_t t = 0; t < steps; ++t) {
    results.push_back(cell(at_step(x, t), state));
    state = results.back().state;
  }
  return results;
}

DemoTable steps_table(const Tensor& x, const RelationalState& initial, const std::vector<RelationalResult>& results) {
  DemoTable table{.title = "The LSTM's h and c and the memory M, step by step",
                  .see = "x moves h and c, and h moves M: every part changes at every step.",
                  .columns = {"step", "norm of x", "norm of h", "change of h", "norm of c", "change of c", "norm of M",
                              "change of M", "norm of y"},
                  .rows = {},
                  .finding = {}};
  const RelationalState* before = &initial;
  double smallest = length_of(results.front().state.memory - initial.memory);
  for (std::int64_t t = 0; t < steps; ++t) {
    const RelationalResult& now = results[static_cast<std::size_t>(t)];
    const auto& [lstm, memory] = now.state;
    const double h = length_of(lstm.h - before->lstm.h), c = length_of(lstm.c - before->lstm.c);
    const double m = length_of(memory - before->memory);
    table.rows.push_back({t, length_of(at_step(x, t)), length_of(lstm.h), h, length_of(lstm.c), c, length_of(memory), m,
                          length_of(now.y)});
    smallest = std::min({smallest, h, c, m});
    before = &now.state;
  }
  table.finding = text("the smallest change of any part at any step is ", smallest);
  table.holds = smallest > 0;
  return table;
}

DemoTable feedback_table(const std::vector<RelationalResult>& results,
                         const std::vector<RelationalResult>& from_zeros) {
  DemoTable table{.title = "The same steps with another initial memory (zeros)",
                  .see = "The memory is a side chain: it changes the output y, and never h or c.",
                  .columns = {"step", "difference of h", "difference of c", "difference of M", "difference of y"},
                  .rows = {},
                  .finding = {}};
  double of_lstm = 0, of_output = 1;
  for (std::size_t t = 0; t < results.size(); ++t) {
    const RelationalResult &a = results[t], &b = from_zeros[t];
    const double h = largest_difference(a.state.lstm.h, b.state.lstm.h), y = largest_difference(a.y, b.y);
    const double c = largest_difference(a.state.lstm.c, b.state.lstm.c);
    table.rows.push_back({static_cast<std::int64_t>(t), h, c, largest_difference(a.state.memory, b.state.memory), y});
    of_lstm = std::max({of_lstm, h, c});
    of_output = std::min(of_output, y);
  }
  table.finding = text("h and c differ by ", of_lstm, ", y by at least ", of_output);
  table.holds = of_lstm == 0 && of_output > 0;
  return table;
}

}  // namespace

Demo interaction_demo() {
  Random random(demo_seed);
  const RelationalRNNCell cell(input_size, hidden, random, {.slots = slots, .slot_size = slot_size, .heads = 1});
  const Tensor x = loudness * Random(demo_seed).stream("inputs").normal({1, steps, input_size});
  const RelationalState initial = cell.initial_state(1);
  const std::vector<RelationalResult> results = run_cell(cell, x, initial.memory);
  const std::vector<RelationalResult> from_zeros = run_cell(cell, x, zeros_like(initial.memory));
  return {.name = {},
          .title = "an LSTM and its relational memory, step by step",
          .tables = {steps_table(x, initial, results), feedback_table(results, from_zeros)}};
}

}  // namespace retrace
