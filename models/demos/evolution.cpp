#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/nn/layers/recurrent.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

constexpr std::int64_t steps = 15, louder_from = steps / 2, input_size = 32, hidden = 64, slots = 4, slot_size = 64;
constexpr double noise = 0.1, loudness = 5, differentiated = 0.01;

Tensor draw_inputs() {
  const Tensor x = Random(demo_seed).stream("inputs").normal({1, steps, input_size}, 0, noise);
  return concat({slice(x, {all, range(0, louder_from)}), loudness * slice(x, {all, range(louder_from)})}, 1);
}

/// The memory [N, S] after each step. The weights are the same for both beginnings.
Tensors evolve(const Tensor& x, InitialMemory initial) {
  Random random(demo_seed);
  const RelationalRNNCell cell(input_size, hidden, random,
                               {.slots = slots, .slot_size = slot_size, .heads = 2, .initial = initial});
  RelationalState state = cell.initial_state(1);
  Tensors memories;
  for (std::int64_t t = 0; t < steps; ++t) {
    state = cell(at_step(x, t), state).state;
    memories.push_back(state.memory[0]);
  }
  return memories;
}

struct Evolution {
  Tensor x;  // [1, T, I]
  Tensors from_identity, from_zeros;
};

DemoTable steps_table(const Evolution& run) {
  DemoTable table{
      .title = "The memory M step by step: from the identity, and from zeros as the original begins",
      .see =
          text("From step ", louder_from, " on the input is ", loudness, " times louder, and the norm of M ",
               "follows it. Distance: the smallest between two of the slots 1 to 3, which get no input of their own."),
      .columns = {"step", "norm of x", "norm of M", "distance", "norm of M, zeros", "distance, zeros"},
      .rows = {},
      .finding = {}};
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto now = static_cast<std::size_t>(t);
    const Tensor &memory = run.from_identity[now], &original = run.from_zeros[now];
    table.rows.push_back({t, length_of(at_step(run.x, t)), length_of(memory), smallest_distance(memory, 1),
                          length_of(original), smallest_distance(original, 1)});
  }
  const double quiet = length_of(run.from_identity[louder_from - 1]), loud = length_of(run.from_identity.back());
  table.finding =
      text("from the identity the norm goes from ", quiet, " before the louder input to ", loud, " at the end");
  table.holds = loud > quiet;
  return table;
}

struct Third {
  double norm, mean, deviation;
};

/// The mean norm of the memories [first, first + length) and mean and deviation of all their elements.
Third measure(const Tensors& memories, std::size_t first, std::size_t length) {
  Tensors part;
  double norms = 0;
  for (std::size_t t = first; t < first + length; ++t) {
    part.push_back(memories[t]);
    norms += length_of(memories[t]);
  }
  const Tensor elements = stack(part);
  return {norms / static_cast<double>(length), mean(elements).item(), deviation_of(elements)};
}

DemoTable thirds_table(const Evolution& run) {
  DemoTable table{
      .title = "The memory by thirds of the sequence",
      .see = "How the memory begins is forgotten: the two beginnings come together in the last third.",
      .columns = {"steps", "norm of M", "mean", "deviation", "norm of M, zeros", "mean, zeros", "deviation, zeros"},
      .rows = {},
      .finding = {}};
  constexpr std::size_t length = steps / 3;
  std::vector<double> gaps;
  for (std::size_t first = 0; first < steps; first += length) {
    const Third identity = measure(run.from_identity, first, length), zeros = measure(run.from_zeros, first, length);
    table.rows.push_back({text(first, " to ", first + length - 1), identity.norm, identity.mean, identity.deviation,
                          zeros.norm, zeros.mean, zeros.deviation});
    gaps.push_back(std::abs(identity.norm - zeros.norm));
  }
  table.finding = text("the mean norms are ", gaps.front(), " apart in the first third, ", gaps.back(), " in the last");
  table.holds = gaps.back() < gaps.front();
  return table;
}

/// The norm of each slot, that of the original, and measures of how different the slots are.
void add_slots(DemoTable& table, std::string beginning, const Tensor& memory) {
  const Tensor norms = norm(memory, -1);
  const double variance = var(norms).item(), distance = smallest_distance(memory);
  table.rows.push_back({std::move(beginning)});
  std::vector<DemoCell>& row = table.rows.back();
  for (std::int64_t slot = 0; slot < slots; ++slot) row.push_back(norms.at({slot}));
  row.insert(row.end(), {variance, variance > differentiated ? "yes" : "no", distance, rank_of(memory)});
}

DemoTable slots_table(const Evolution& run) {
  DemoTable table{
      .title = "The slots at the end",
      .see = text("Differentiated: the variance of the norms is above ", differentiated,
                  ". Slot 0 alone can bring that about, so look at the distance and the rank: from zeros, slots ",
                  "1 to 3 are one slot."),
      .columns = {"from", "slot 0", "slot 1", "slot 2", "slot 3", "variance", "differentiated", "smallest distance",
                  "rank"},
      .rows = {},
      .finding = {}};
  add_slots(table, "identity", run.from_identity.back());
  add_slots(table, "zeros", run.from_zeros.back());
  const double from_identity = smallest_distance(run.from_identity.back(), 1);
  const double from_zeros = smallest_distance(run.from_zeros.back(), 1);
  const double a_step = std::pow(from_identity / smallest_distance(run.from_identity.front(), 1), 1.0 / (steps - 1));
  table.finding =
      text("slots 1 to 3 are ", from_zeros, " apart from zeros, as they always are, and ", from_identity,
           " from the identity: not equal, though the untrained gates leave only ", a_step, " of it a step");
  table.holds = from_zeros == 0 && from_identity > 0;
  return table;
}

}  // namespace

Demo evolution_demo() {
  const Tensor x = draw_inputs();
  const Evolution run{x, evolve(x, InitialMemory::identity), evolve(x, InitialMemory::zeros)};
  return {.name = {},
          .title = "how a relational memory evolves over 15 steps",
          .tables = {steps_table(run), thirds_table(run), slots_table(run)}};
}

}  // namespace retrace
