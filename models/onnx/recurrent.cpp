// Recurrent layers: the nodes LSTM, GRU and RNN in f32; in f64, which these lack in onnxruntime, a Scan over the steps.
#include <retrace/models/onnx/operators.h>
#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

/// What differs between the three.
struct Layer {
  std::string_view node;
  std::int64_t states;             // h, or h and c
  std::vector<std::size_t> order;  // of the gates: ONNX's gate k is ours order[k]
  int weight;                      // which input it is
};

Layer layer_of(const Call& call) {
  if (call.op() == "lstm_sequence") return {"LSTM", 2, {0, 3, 1, 2}, 3};
  if (call.op() == "gru_sequence") return {"GRU", 1, {1, 0, 2}, 2};
  return {"RNN", 1, {0}, 2};
}

/// The sums p = x W^T + b of a layer as ONNX has them. Where they are no such linear, x is p and W is the identity.
struct Projection {
  std::string x, weight, bias;
};

Projection projection_of(const Call& call, std::int64_t rows) {
  const TracedCall* maker = call.maker(0);
  if (maker != nullptr && maker->op == "linear" && std::get<std::string>(*maker->find("activation")) == "none")
    return {call.value(maker->inputs[0]), call.value(maker->inputs[1]),
            maker->inputs.size() > 2 ? call.value(maker->inputs[2]) : ""};
  return {call.in(0), call.build.constant(eye(rows, rows, call.dtype())), ""};
}

/// The rows of all gates in ONNX's order.
std::string in_order(const Call& call, const Layer& layer, const std::string& rows) {
  if (layer.order.size() == 1) return rows;
  const auto gates = split(call.build, rows, 0, layer.order.size());
  std::vector<std::string> ordered;
  for (const std::size_t gate : layer.order) ordered.push_back(gates[gate]);
  return call.build.node("Concat", ordered, {{"axis", std::int64_t{0}}});
}

std::string exchange_batch_and_time(const Call& call, const std::string& x) {
  return call.build.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
}

/// [T, B, 1]: whether a sample has step t, for lengths [B].
std::string inside(const Call& call, const std::string& lengths) {
  Builder& b = call.build;
  const std::string zero = b.constant(full({}, 0, i64)), one = b.constant(full({}, 1, i64));
  const std::string time = b.node("Reshape", {b.length(call.length(0, 1)), b.integers({})});
  const std::string steps = b.node("Range", {zero, time, one});
  return b.node("Less",
                {b.node("Unsqueeze", {steps, b.integers({1, 2})}), b.node("Unsqueeze", {lengths, b.integers({0, 2})})});
}

/// y [T, B, H] with the last state in place of what ONNX has after the end of a sample: zeros.
std::string keep_after_end(const Call& call, const std::string& y, const std::string& last_h,
                           const std::string& lengths) {
  return lengths.empty() ? y : call.build.node("Where", {inside(call, lengths), y, last_h});
}

void build_node(const Call& call, const Layer& layer) {
  Builder& b = call.build;
  const std::int64_t hidden = call.length(layer.weight, 1).front();
  const std::int64_t rows = call.length(layer.weight, 0).front();
  const Projection projection = projection_of(call, rows);
  const std::string zeros = b.constant(full({rows}, 0, call.dtype()));
  const std::string recurrent_bias = layer.node == "GRU" ? call.in(3) : zeros;
  const auto gates = [&](const std::string& x) { return in_order(call, layer, x); };
  const std::string bias =
      b.node("Concat", {gates(projection.bias.empty() ? zeros : projection.bias), gates(recurrent_bias)},
             {{"axis", std::int64_t{0}}});
  const std::string lengths = call.tensor("lengths");
  const std::string lengths_i32 =
      lengths.empty() ? "" : b.node("Cast", {lengths}, {{"to", std::int64_t{static_cast<int>(ElementType::i32)}}});
  std::vector<std::string> inputs{exchange_batch_and_time(call, projection.x),
                                  unsqueeze(b, gates(projection.weight), 0),
                                  unsqueeze(b, gates(call.in(layer.weight)), 0), unsqueeze(b, bias, 0), lengths_i32};
  for (int state = 1; state <= layer.states; ++state)
    inputs.push_back(call.is_zero(state) ? "" : unsqueeze(b, call.in(state), 0));
  while (inputs.back().empty()) inputs.pop_back();
  std::vector<NodeAttribute> attributes{{"hidden_size", hidden}};
  if (layer.node == "GRU") attributes.push_back({"linear_before_reset", std::int64_t{1}});
  if (layer.node == "RNN")
    attributes.push_back(
        {"activations", std::vector<std::string>{call.word("activation") == "relu" ? "Relu" : "Tanh"}});
  const auto results = b.nodes(layer.node, inputs, static_cast<std::size_t>(layer.states) + 1, attributes);
  const auto squeezed = [&](const std::string& x, std::int64_t axis) {
    return b.node("Squeeze", {x, b.integers({axis})});
  };
  const std::string last_h = squeezed(results[1], 0);
  call.result(exchange_batch_and_time(call, keep_after_end(call, squeezed(results[0], 1), last_h, lengths)));
  call.result(last_h, 1);
  if (layer.states == 2) call.result(squeezed(results[2], 0), 2);
}

/// The states after a step, from the states before it and the sums p [B, gates H].
std::vector<std::string> step(const Call& call, const Layer& layer, const std::vector<std::string>& states,
                              const std::string& p) {
  Builder& b = call.build;
  const auto of = [&](std::string_view op, const std::string& x) { return b.node(op, {x}); };
  const auto add = [&](const std::string& x, const std::string& y) { return b.node("Add", {x, y}); };
  const auto mul = [&](const std::string& x, const std::string& y) { return b.node("Mul", {x, y}); };
  const std::string q = b.node("MatMul", {states[0], exchange_last_axes(b, call.in(layer.weight), 2)});
  if (layer.node == "RNN") return {of(call.word("activation") == "relu" ? "Relu" : "Tanh", add(p, q))};
  if (layer.node == "LSTM") {
    const auto z = split(b, add(p, q), 1, 4);
    const std::string kept = mul(of("Sigmoid", z[1]), states[1]);
    const std::string c = add(kept, mul(of("Sigmoid", z[0]), of("Tanh", z[2])));
    return {mul(of("Sigmoid", z[3]), of("Tanh", c)), c};
  }
  const auto of_x = split(b, p, 1, 3), of_h = split(b, add(q, call.in(3)), 1, 3);
  const std::string r = of("Sigmoid", add(of_x[0], of_h[0])), z = of("Sigmoid", add(of_x[1], of_h[1]));
  const std::string n = of("Tanh", add(of_x[2], mul(r, of_h[2])));
  return {add(n, mul(z, b.node("Sub", {states[0], n})))};
}

ValueInfo step_value(const Call& call, const std::string& name, std::int64_t columns) {
  return {name, element_type(call.dtype()), {call.build.axis(call.length(0, 0)), columns}};
}

/// The body of a Scan: states and p of a step, with lengths also whether a sample has this step -> states, and h again
/// as a result of the step.
std::shared_ptr<Graph> step_body(const Call& call, const Layer& layer, bool has_lengths) {
  Builder& b = call.build;
  const std::int64_t hidden = call.length(layer.weight, 1).front();
  b.begin_body(layer.node);
  std::vector<std::string> states;
  for (std::int64_t k = 0; k < layer.states; ++k) {
    states.push_back(b.new_name("state"));
    b.current().inputs.push_back(step_value(call, states.back(), hidden));
  }
  const std::string p = b.new_name("sums");
  b.current().inputs.push_back(step_value(call, p, call.length(layer.weight, 0).front()));
  std::vector<std::string> next = step(call, layer, states, p);
  if (has_lengths) {
    const std::string is_inside = b.new_name("inside");
    b.current().inputs.push_back({is_inside, ElementType::boolean, {b.axis(call.length(0, 0)), std::int64_t{1}}});
    for (std::size_t k = 0; k < next.size(); ++k) next[k] = b.node("Where", {is_inside, next[k], states[k]});
  }
  for (const std::string& state : next) b.current().outputs.push_back(step_value(call, state, hidden));
  b.current().outputs.push_back(step_value(call, b.node("Identity", {next[0]}), hidden));
  return b.end_body();
}

void build_scan(const Call& call, const Layer& layer) {
  Builder& b = call.build;
  const std::string lengths = call.tensor("lengths");
  std::vector<std::string> inputs;
  for (int state = 1; state <= layer.states; ++state) inputs.push_back(call.in(state));
  inputs.push_back(exchange_batch_and_time(call, call.in(0)));
  if (!lengths.empty()) inputs.push_back(inside(call, lengths));
  for (int i = layer.weight; i < call.inputs(); ++i) call.in(i);  // before the body, which reads them
  const std::int64_t scanned = lengths.empty() ? 1 : 2;
  const auto results = b.nodes(
      "Scan", inputs, static_cast<std::size_t>(layer.states) + 1,
      {{"body", std::shared_ptr<const Graph>(step_body(call, layer, !lengths.empty()))}, {"num_scan_inputs", scanned}});
  call.result(exchange_batch_and_time(call, results.back()));
  for (std::size_t k = 0; k + 1 < results.size(); ++k) call.result(results[k], static_cast<int>(k) + 1);
}

void build_layer(const Call& call) {
  call.dtype() == f64 ? build_scan(call, layer_of(call)) : build_node(call, layer_of(call));
}

}  // namespace

std::vector<Operator> recurrent_operators() {
  return {{"lstm_sequence", build_layer, "LSTM; in f64 Scan of MatMul, Sigmoid, Tanh"},
          {"gru_sequence", build_layer, "GRU; in f64 Scan of MatMul, Sigmoid, Tanh"},
          {"rnn_sequence", build_layer, "RNN; in f64 Scan of MatMul and Tanh or Relu"}};
}

}  // namespace retrace::onnx
