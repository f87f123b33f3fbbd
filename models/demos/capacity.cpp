#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/models/networks/relational_rnn.h>

#include <algorithm>
#include <vector>

namespace retrace {
namespace {

constexpr std::int64_t batch = 2, steps = 10, input_size = 32, hidden = 64, output_size = 16;

/// The weights do not depend on the number of slots, because no weight belongs to one of them.
RelationalRNN make_model(std::int64_t slots, InitialMemory initial) {
  Random random(demo_seed);
  return RelationalRNN(input_size, hidden, output_size, random,
                       {.slots = slots, .slot_size = 64, .heads = 2, .initial = initial});
}

struct Trial {
  std::int64_t slots, parameters;
  Tensor y;         // [B, T, O]
  Tensor memory;    // [N, S] of the first sample, after the last step
  Tensor original;  // the memory that began with zeros
};

std::vector<Trial> run_trials() {
  const Tensor x = Random(demo_seed).stream("inputs").normal({batch, steps, input_size});
  std::vector<Trial> trials;
  for (const std::int64_t slots : {1, 2, 4, 8}) {
    const RelationalRNN model = make_model(slots, InitialMemory::identity);
    const RelationalResult result = model(x);
    const RelationalResult original = make_model(slots, InitialMemory::zeros)(x);
    trials.push_back({slots, count_parameters(model), result.y, result.state.memory[0], original.state.memory[0]});
  }
  return trials;
}

DemoTable outputs_table(const std::vector<Trial>& trials) {
  DemoTable table{
      .title = "Outputs by the number of slots (2 sequences of 10 rows)",
      .see = "More slots cost no parameters: all slots share the same weights.",
      .columns = {"slots", "parameters", "mean", "deviation", "smallest", "largest", "numbers in the memory"},
      .rows = {},
      .finding = {}};
  bool same = true;
  for (const Trial& trial : trials) {
    table.rows.push_back({trial.slots, trial.parameters, mean(trial.y).item(), deviation_of(trial.y),
                          min(trial.y).item(), max(trial.y).item(), trial.memory.numel()});
    same = same && trial.parameters == trials.front().parameters;
  }
  table.finding = text(trials.front().parameters, " parameters with ", trials.front().slots, " slot, ",
                       trials.back().parameters, " with ", trials.back().slots);
  table.holds = same;
  return table;
}

DemoTable slots_table(const std::vector<Trial>& trials) {
  DemoTable table{
      .title = "How many of the slots differ, after the last step",
      .see =
          "Rank: slots that are no combination of others, down to a millionth of the longest; from zeros never "
          "more than 2. Effective rank: 1 where the slots are nearly parallel, N where they are orthogonal.",
      .columns = {"slots", "rank", "effective rank", "smallest distance", "rank, zeros", "effective rank, zeros",
                  "smallest distance, zeros"},
      .rows = {},
      .finding = {}};
  bool as_expected = true;
  for (const Trial& trial : trials) {
    const std::int64_t rank = rank_of(trial.memory), of_zeros = rank_of(trial.original);
    table.rows.push_back({trial.slots, rank, effective_rank(trial.memory), smallest_distance(trial.memory), of_zeros,
                          effective_rank(trial.original), smallest_distance(trial.original)});
    as_expected = as_expected && rank == trial.slots && of_zeros == std::min<std::int64_t>(trial.slots, 2);
  }
  const Trial& largest = trials.back();
  table.finding =
      text(largest.slots, " slots: rank ", rank_of(largest.memory), " from the identity, ", rank_of(largest.original),
           " from zeros. But the effective ranks, ", effective_rank(largest.memory), " and ",
           effective_rank(largest.original), ", say that without training more slots hold hardly more");
  table.holds = as_expected;
  return table;
}

}  // namespace

Demo capacity_demo() {
  const std::vector<Trial> trials = run_trials();
  return {.name = {},
          .title = "what more slots give a RelationalRNN",
          .tables = {outputs_table(trials), slots_table(trials)}};
}

}  // namespace retrace
