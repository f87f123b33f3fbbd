// The order of the records on a tape is that of the source. If two ops were operands of a third in one expression, the
// compiler would choose which is recorded first, and so the order in which gradients are summed.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include <retrace/nn/nn.h>

namespace retrace {
namespace {

/// "matmul(x, w) tanh(%0)": the ops on the tape and the inputs of each, by name or by the number of their record.
std::string order_of(const Tape& tape) {
  std::map<const TensorInfo*, std::string> names;
  std::string result;
  for (const Record* record : tape.records()) {
    std::string inputs;
    for (int i = 0; i < record->inputs(); ++i) {
      const auto made = names.find(&record->in(i));
      const std::string own(record->input(i).name());
      const std::string name = made != names.end() ? made->second : own.empty() ? "_" : own;
      inputs += (inputs.empty() ? "" : ", ") + name;
    }
    result += text(result.empty() ? "" : " ", record->op().name, "(", inputs, ")");
    for (int j = 0; j < record->outputs(); ++j) names[&record->out(j)] = text("%", record->index());
  }
  return result;
}

Tensor leaf(std::string_view name, const Shape& shape) { return parameter(ones(shape), name); }

template <class Module> Module named(Module module) {
  for (const NamedTensor& weight : parameters(module)) weight.tensor.named(weight.name);
  return module;
}

TEST(RecordingOrder, OfTheStepsOfRecurrentCells) {
  {
    const Tape tape;
    lstm_step(leaf("p", {1, 4}), leaf("h", {1, 1}), leaf("c", {1, 1}), leaf("U", {4, 1}));
    EXPECT_EQ(order_of(tape),
              "linear(h, U) add(p, %0) slice(%1) sigmoid(%2) slice(%1) sigmoid(%4) slice(%1) tanh(%6) slice(%1) "
              "sigmoid(%8) mul(%5, c) mul(%3, %7) add(%10, %11) tanh(%12) mul(%9, %13)");
  }
  const Tape tape;
  gru_step(leaf("p", {1, 3}), leaf("h", {1, 1}), leaf("U", {3, 1}), leaf("b", {3}));
  EXPECT_EQ(order_of(tape),
            "linear(h, U, b) slice(p) slice(p) slice(p) slice(%0) slice(%0) slice(%0) add(%1, %4) sigmoid(%7) "
            "add(%2, %5) sigmoid(%9) mul(%8, %6) add(%3, %11) tanh(%12) sub(h, %13) mul(%10, %14) add(%13, %15)");
}

TEST(RecordingOrder, OfAComposedGatedMemory) {
  const Tape tape({.expand_fused = true});
  gated_memory(leaf("m", {1, 2}), leaf("c", {1, 2}), leaf("p", {1, 4}), leaf("q", {4}));
  EXPECT_EQ(order_of(tape),
            "reshape(q) add(p, %0) split(%1) split(%1) sigmoid(%2) sigmoid(%3) tanh(c) mul(%4, %6) mul(%5, m) "
            "add(%7, %8)");
}

TEST(RecordingOrder, OfComposedPackedAttention) {
  const Tape tape({.expand_fused = true});
  packed_attention(leaf("qkv", {1, 2, 3}), {.key_size = 1});
  EXPECT_EQ(order_of(tape),
            "slice(qkv) concat(%0) slice(qkv) concat(%2) slice(qkv) concat(%4) matmul(%1, %3) scale(%6) softmax(%7) "
            "matmul(%8, %5)");
}

TEST(RecordingOrder, OfMultiHeadAttention) {
  Random random(1);
  const auto attention = named(MultiHeadAttention(2, random, {.heads = 1}));
  const Tensor x = leaf("x", {1, 2, 2});
  {
    const Tape tape;
    attention.without_weights(x, x, x);
    EXPECT_EQ(order_of(tape),
              "linear(x, value.weight) linear(x, key.weight) linear(x, query.weight) attention(%2, %1, %0) "
              "linear(%3, out.weight)");
  }
  {
    const Tape tape;
    attention(x, x, x);
    EXPECT_EQ(order_of(tape),
              "linear(x, value.weight) linear(x, key.weight) linear(x, query.weight) attention(%2, %1, %0) "
              "linear(%3, out.weight) reshape(%3)");
  }
  const Tape tape;
  multi_head_attention(x, x, x, 2, leaf("q", {2, 2}), leaf("k", {2, 2}), leaf("v", {2, 2}), leaf("o", {2, 2}));
  EXPECT_EQ(order_of(tape), "matmul(x, v) matmul(x, k) matmul(x, q) attention(%2, %1, %0) matmul(%3, o)");
}

TEST(RecordingOrder, OfTheMemoryOfACell) {
  Random random(2);
  const auto memory = named(CellMemory(2, random, {.slots = 2, .slot_size = 2, .initial = InitialMemory::zeros}));
  const Tensor m = leaf("m", {1, 2, 2}), x = leaf("x", {1, 2});
  const std::string attended = "matmul(m, w_v) matmul(m, w_k) matmul(m, w_q) attention(%2, %1, %0) matmul(%3, w_o) ";
  {
    const Tape tape;
    memory(m);
    EXPECT_EQ(order_of(tape), attended + "linear(%4, update.weight, update.bias) mul(_, %5) mul(_, m) add(%6, %7)");
  }
  const Tape tape;
  memory.step(m, {x, leaf("gate", {1, 2}), leaf("gate_of_slots", {2, 2})});
  EXPECT_EQ(order_of(tape), attended +
                                "reshape(x) pad(%5) add(%4, %6) linear(%7, gate_of_slots) linear(%7, update.weight, "
                                "update.bias) gated_memory(m, %9, %8, gate)");
}

TEST(RecordingOrder, OfAMemoryThatIsMixedByAGate) {
  const Tape tape;
  gated_update(leaf("old", {1, 2}), leaf("next", {1, 2}), leaf("W", {4, 2}));
  EXPECT_EQ(order_of(tape),
            "concat(old, next) matmul(%0, W) sigmoid(%1) mul(%2, next) neg(%2) shift(%4) mul(%5, old) add(%3, %6)");
}

TEST(RecordingOrder, OfTheMemoryOfTheNotebook) {
  Random random(3);
  const auto memory = named(NotebookMemory(random, {.slots = 1, .slot_size = 2, .heads = 1}));
  const Tape tape;
  memory(leaf("m", {1, 1, 2}), leaf("x", {1, 2}));
  EXPECT_EQ(order_of(tape),
            "reshape(x) concat(m, %0) matmul(%1, w_v) matmul(%1, w_k) matmul(%1, w_q) attention(%4, %3, %2) "
            "reshape(%5) matmul(%5, w_o) add(%7, %1) linear(%8, mlp_hidden.weight, mlp_hidden.bias) "
            "linear(%9, mlp_out.weight, mlp_out.bias) slice(%10) linear(%11, input_gate.weight, input_gate.bias) "
            "linear(%11, forget_gate.weight, forget_gate.bias) linear(%11, output_gate.weight, output_gate.bias) "
            "mul(%13, m) tanh(%11) mul(%12, %16) add(%15, %17) tanh(%18) mul(%14, %19) slice(%10)");
}

}  // namespace
}  // namespace retrace
