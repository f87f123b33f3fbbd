#include <retrace/models/networks/relational_rnn.h>

namespace retrace {
namespace {

constexpr int slot_axis = 1;

void check_sequence(const Tensor& x, std::int64_t features) {
  if (x.rank() != 3 || x.dim(1) < 1 || x.dim(2) != features)
    throw ShapeError(text("RelationalRNN: the input ", x, " must be [batch, time of 1 or more, ", features,
                          "]; transpose or reshape it"));
}

}  // namespace

RelationalRNNCell::RelationalRNNCell(std::int64_t input, std::int64_t hidden, Random& random,
                                     const SlotMemoryOptions& options)
    : lstm(input, hidden, random),
      memory(hidden, random, options),
      read(options.slot_size, hidden, random),
      combine(2 * hidden, hidden, random) {}

RelationalState RelationalRNNCell::initial_state(std::int64_t batch) const {
  return {lstm.cell.zero_state(batch), memory.initial_memory(batch)};
}

Tensor RelationalRNNCell::answer(const Tensor& h, const Tensor& memory_mean) const {
  return combine(concat({h, read(memory_mean)}, -1), Activation::tanh);
}

RelationalResult RelationalRNNCell::operator()(const Tensor& x, const RelationalState& state) const {
  const Scope scope(this, "relational_rnn_cell");
  LstmState next = lstm.cell(x, state.lstm);
  Tensor slots = memory(state.memory, next.h);
  Tensor y = answer(next.h, mean(slots, slot_axis));
  return {std::move(y), {std::move(next), std::move(slots)}};
}

RelationalRNN::RelationalRNN(std::int64_t input, std::int64_t hidden, std::int64_t output, Random& random,
                             const SlotMemoryOptions& options, double dropout_of_y)
    : cell(input, hidden, random, options), out(hidden, output, random), dropout(dropout_of_y) {
  check_probability("RelationalRNN", dropout);
}

// The LSTM never reads the memory, so both run one after the other over the whole sequence: the LSTM's input projection
// is one product, and so is the output layer.

RelationalResult RelationalRNN::operator()(const Tensor& x, Random* random) const { return continued(x, {}, random); }

RelationalResult RelationalRNN::answers(const Tensor& x, std::int64_t count, Random* random) const {
  return run(x, {}, count, random);
}

RelationalResult RelationalRNN::continued(const Tensor& x, const RelationalState& state, Random* random) const {
  check_sequence(x, cell.lstm.cell.input());
  return run(x, state, x.dim(1), random);
}

RelationalResult RelationalRNN::run(const Tensor& x, const RelationalState& state, std::int64_t count,
                                    Random* random) const {
  const Scope scope(this, "relational_rnn");
  check_sequence(x, cell.lstm.cell.input());
  LstmResult read_by_lstm = cell.lstm(x, state.lstm);
  const Tensor states = last_steps(read_by_lstm.y, count);
  MemoryOverTime memory(cell.memory, read_by_lstm.y, state.memory);
  Tensors means;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const Tensor slots = memory.step(t);
    if (t >= x.dim(1) - count) means.push_back(mean(slots, slot_axis));
  }
  return {answer(cell.answer(states, stack(means, 1)), random), {std::move(read_by_lstm.state), memory.slots()}};
}

RelationalResult RelationalRNN::last(const Tensor& x, Random* random) const {
  const Scope scope(this, "relational_rnn");
  check_sequence(x, cell.lstm.cell.input());
  LstmResult read_by_lstm = cell.lstm(x);
  MemoryOverTime memory(cell.memory, read_by_lstm.y);
  for (std::int64_t t = 0; t < x.dim(1); ++t) memory.step(t);
  Tensor y = answer(cell.answer(read_by_lstm.state.h, mean(memory.slots(), slot_axis)), random);
  return {std::move(y), {std::move(read_by_lstm.state), memory.slots()}};
}

StatesOverTime RelationalRNN::states(const Tensor& x) const {
  const Scope scope(this, "relational_rnn");
  check_sequence(x, cell.lstm.cell.input());
  StatesOverTime result;
  RelationalState state = cell.initial_state(x.dim(0));
  Tensors answers;
  for (const Tensor& now : steps_of(x)) {
    RelationalResult next = cell(now, state);
    answers.push_back(next.y);
    state = std::move(next.state);
    result.add("h", state.lstm.h);
    result.add("c", state.lstm.c);
    result.add("memory", state.memory);
  }
  result.answers = out(stack(answers, 1));
  return result;
}

MemoryTrace RelationalRNN::trace(const Tensor& x) const {
  check_sequence(x, cell.lstm.cell.input());
  return cell.memory.trace(cell.lstm(x).y);
}

}  // namespace retrace
