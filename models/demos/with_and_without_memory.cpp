#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/models/networks/relational_rnn.h>

#include <string>
#include <utility>

namespace retrace {
namespace {

constexpr std::int64_t batch = 2, steps = 10, input_size = 32, hidden = 64, output_size = 16;

struct LstmBaseline {
  Lstm lstm;
  Linear out;

  explicit LstmBaseline(Random& random) : lstm(input_size, hidden, random), out(hidden, output_size, random) {}
  void visit(auto&& see) const { see("lstm", lstm), see("out", out); }
};

DemoTable parameters_table(const LstmBaseline& lstm, const RelationalRNN& relational) {
  const RelationalRNNCell& cell = relational.cell;
  DemoTable table{.title = "Parameters",
                  .see = "The memory and what reads it come on top of the same LSTM and the same output layer.",
                  .columns = {"part", "LSTM", "RelationalRNN"},
                  .rows = {{"lstm", count_parameters(lstm.lstm), count_parameters(cell.lstm)},
                           {"memory", std::int64_t{0}, count_parameters(cell.memory)},
                           {"read", std::int64_t{0}, count_parameters(cell.read)},
                           {"combine", std::int64_t{0}, count_parameters(cell.combine)},
                           {"out", count_parameters(lstm.out), count_parameters(relational.out)},
                           {"total", count_parameters(lstm), count_parameters(relational)}},
                  .finding = {}};
  std::int64_t of_parts = 0;
  for (std::size_t part = 0; part + 1 < table.rows.size(); ++part)
    of_parts += std::get<std::int64_t>(table.rows[part][2]) - std::get<std::int64_t>(table.rows[part][1]);
  const std::int64_t more = count_parameters(relational) - count_parameters(lstm);
  table.finding = text("the memory costs ", more, " parameters: ",
                       static_cast<double>(count_parameters(relational)) / static_cast<double>(count_parameters(lstm)),
                       " times those of the LSTM");
  table.holds = of_parts == more;
  return table;
}

struct Outputs {
  Tensor lstm_states, lstm;                  // [B, T, D], [B, T, O]
  Tensor states_inside, relational, unread;  // those of the RelationalRNN; unread: with the memory's answer set to zero
};

Outputs run_both(const LstmBaseline& baseline, const RelationalRNN& relational) {
  const Tensor x = Random(demo_seed).stream("inputs").normal({batch, steps, input_size});
  const Tensor states = baseline.lstm(x).y, inside = relational.cell.lstm(x).y;
  const Tensor no_memory = zeros({batch, steps, relational.cell.memory.options.slot_size});
  return {states, baseline.out(states), inside, relational(x).y,
          relational.out(relational.cell.answer(inside, no_memory))};
}

DemoTable outputs_table(const Outputs& outputs) {
  DemoTable table{
      .title = "Outputs on the same input (2 sequences of 10 rows)",
      .see =
          "Both LSTMs have the same weights, so their states are equal: whatever differs in the outputs comes "
          "after them.",
      .columns = {"what", "mean", "deviation", "smallest", "largest"},
      .rows = {},
      .finding = {}};
  const auto add = [&](std::string name, const Tensor& y) {
    table.rows.push_back({std::move(name), mean(y).item(), deviation_of(y), min(y).item(), max(y).item()});
  };
  add("LSTM", outputs.lstm);
  add("RelationalRNN", outputs.relational);
  add("|LSTM - RelationalRNN|", abs(outputs.lstm - outputs.relational));
  add("|with - without its memory's answer|", abs(outputs.relational - outputs.unread));
  const double inside = largest_difference(outputs.lstm_states, outputs.states_inside);
  const double outside = mean(abs(outputs.lstm - outputs.relational)).item();
  table.finding = text("the states differ by ", inside, ", the outputs by ", outside, " on average");
  table.holds = inside == 0 && outside > 0;
  return table;
}

DemoTable steps_table(const Outputs& outputs) {
  DemoTable table{.title = "Differences step by step",
                  .see = "What the memory adds to the output of the RelationalRNN: something at every step.",
                  .columns = {"step", "mean |LSTM - RelationalRNN|", "mean |with - without its memory's answer|"},
                  .rows = {},
                  .finding = {}};
  const Tensor apart = mean(abs(outputs.lstm - outputs.relational), {0, 2});
  const Tensor by_memory = mean(abs(outputs.relational - outputs.unread), {0, 2});
  for (std::int64_t t = 0; t < steps; ++t) table.rows.push_back({t, apart.at({t}), by_memory.at({t})});
  table.finding = text("the memory moves the output by ", min(by_memory).item(), " to ", max(by_memory).item());
  table.holds = min(by_memory).item() > 0;
  return table;
}

}  // namespace

Demo with_and_without_memory_demo() {
  Random for_lstm(demo_seed), for_relational(demo_seed);
  const LstmBaseline lstm(for_lstm);
  const RelationalRNN relational(input_size, hidden, output_size, for_relational);
  const Outputs outputs = run_both(lstm, relational);
  return {.name = {},
          .title = "an LSTM against a RelationalRNN on the same input",
          .tables = {parameters_table(lstm, relational), outputs_table(outputs), steps_table(outputs)}};
}

}  // namespace retrace
