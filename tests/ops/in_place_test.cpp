// A gradient may overwrite the gradient that it is computed from (Record::flow) or a saved value
// (Record::tensor_over_saved). It must have the same bits as in a buffer of its own, which it gets on a tape with the
// option keep.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

using Op = std::function<Tensor(const Tensors&)>;

struct Case {
  std::string name;
  std::vector<Shape> shapes;
  Op op;
};

std::vector<Case> cases(std::int64_t batch) {
  const Shape x{batch, 4, 8};
  const Tensor lengths = full({batch}, 2, i64);
  lengths.mutable_values<std::int64_t>()[0] = 4;
  const auto linear_with = [](Activation activation) {
    return [activation](const Tensors& in) { return linear(in[0], in[1], in[2], activation); };
  };
  return {
      {"tanh", {x}, [](const Tensors& in) { return tanh(in[0]); }},
      {"relu", {x}, [](const Tensors& in) { return relu(in[0]); }},
      {"sigmoid", {x}, [](const Tensors& in) { return sigmoid(in[0]); }},
      {"mul", {x, x}, [](const Tensors& in) { return mul(in[0], in[1]); }},
      {"square by mul", {x}, [](const Tensors& in) { return mul(in[0], in[0]); }},
      {"div", {x, x}, [](const Tensors& in) { return div(in[0], in[1]); }},
      {"sub", {x, x}, [](const Tensors& in) { return sub(in[0], in[1]); }},
      {"mul broadcast", {x, {8}}, [](const Tensors& in) { return mul(in[0], in[1]); }},
      {"softmax", {x}, [](const Tensors& in) { return softmax(in[0]); }},
      {"softmax of columns", {x}, [](const Tensors& in) { return softmax(in[0], 1); }},
      {"log_softmax", {x}, [](const Tensors& in) { return log_softmax(in[0], 0); }},
      {"layer_norm", {x, {8}, {8}}, [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }},
      {"residual_layer_norm", {x, x, {8}}, [](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2]); }},
      {"rms_norm", {x, {8}}, [](const Tensors& in) { return rms_norm(in[0], in[1]); }},
      {"dropout",
       {x},
       [](const Tensors& in) {
         Random random(3);
         return dropout(in[0], 0.4, &random);
       }},
      {"linear", {x, {8, 8}, {8}}, linear_with(Activation::tanh)},
      {"linear, slope saved", {x, {8, 8}, {8}}, linear_with(Activation::gelu)},
      {"gated_memory",
       {x, x, {batch, 4, 16}, {batch, 16}},
       [](const Tensors& in) { return gated_memory(in[0], in[1], in[2], in[3]).memory; }},
      {"lstm_sequence",
       {x, {8, 8}, {batch, 2}, {batch, 2}, {8, 2}},
       [](const Tensors& in) { return lstm_sequence(linear(in[0], in[1]), in[2], in[3], in[4]).y; }},
      {"lstm_sequence of what another op saved",
       {x, {batch, 2}, {batch, 2}, {8, 2}},
       [](const Tensors& in) { return lstm_sequence(tanh(in[0]), in[1], in[2], in[3]).y; }},
      {"lstm_sequence of all lengths",
       {x, {8, 8}, {batch, 2}, {batch, 2}, {8, 2}},
       [lengths](const Tensors& in) { return lstm_sequence(linear(in[0], in[1]), in[2], in[3], in[4], lengths).y; }},
      {"gru_sequence",
       {x, {6, 8}, {batch, 2}, {6, 2}, {6}},
       [](const Tensors& in) { return gru_sequence(linear(in[0], in[1]), in[2], in[3], in[4]).y; }},
      {"rnn_sequence",
       {x, {2, 8}, {batch, 2}, {2, 2}},
       [](const Tensors& in) { return rnn_sequence(linear(in[0], in[1]), in[2], in[3]).y; }},
  };
}

/// The gradients of all inputs; `again` uses the inputs a second time, before or after the op.
enum class Again { never, before, after };
Tensors gradients(const Case& of, Dtype dtype, Again again, const TapeOptions& options) {
  Random random(1);
  Tensors inputs;
  for (const Shape& shape : of.shapes) inputs.push_back(parameter(random.normal(shape, dtype)));
  const Tensor weights = random.normal(of.op(inputs).shape(), dtype);
  Tape tape(options);
  Tensor rest = zeros({}, dtype);
  const auto use_inputs = [&] {
    for (const Tensor& input : inputs) rest = rest + sum(square(input));
  };
  if (again == Again::before) use_inputs();
  const Tensor weighted = of.op(inputs) * weights;
  if (again == Again::after) use_inputs();
  const Tensor loss = sum(weighted) + rest;
  tape.backward(loss);
  Tensors result;
  for (const Tensor& input : inputs) result.push_back(input.grad());
  return result;
}

TEST(GradientInPlace, HasTheBitsOfOneInItsOwnBuffer) {
  for (const std::int64_t batch : {3, 800})  // 800: more than one thread's share
    for (const Case& each : cases(batch))
      for (const Dtype dtype : {f32, f64})
        for (const Again again : {Again::never, Again::before, Again::after}) {
          const Tensors in_place = gradients(each, dtype, again, {}),
                        kept = gradients(each, dtype, again, {.keep = true});
          for (std::size_t k = 0; k < kept.size(); ++k)
            EXPECT_TRUE(same_bits(in_place[k], kept[k])) << text(each.name, ", input ", k, ", ", dtype);
        }
}

TEST(ValuesInPlace, OfARecurrentLayerAreNotThoseThatAreHeld) {
  Random random(5);
  const Tensor weight = parameter(random.normal({8, 2})), x = parameter(random.normal({3, 4, 8}));
  const Tensor h = random.normal({3, 2}), c = random.normal({3, 2});
  Tape tape;
  const Tensor p = x * 0.5, flat = reshape(x * 2.0, {12, 8});
  const Tensor p_before = p.clone(), flat_before = flat.clone();
  const LstmSequence first = lstm_sequence(p, h, c, weight);
  const LstmSequence second = lstm_sequence(reshape(flat, {3, 4, 8}), h, c, weight);
  const Tensor y_before = first.y.clone();
  tape.backward(sum(first.y * second.y));
  EXPECT_TRUE(same_bits(p, p_before));
  EXPECT_TRUE(same_bits(flat, flat_before)) << "a view of it was moved in";
  EXPECT_TRUE(same_bits(first.y, y_before)) << "its states were moved by a step";
}

}  // namespace
}  // namespace retrace
