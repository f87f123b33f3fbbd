// Every op throws an error that names the function and the operand if an operand is undefined.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include <retrace/core/checks/derivatives.h>
#include <retrace/nn/nn.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

const std::string remedy = " is an undefined tensor (default-constructed or moved from); assign a tensor to it first";

/// The call's message up to the remedy, such as "matmul: b"; "" if it does not throw.
template <class Call> std::string complaint_of(Call&& call) {
  try {
    call();
  } catch (const ValueError& error) {
    const std::string message = error.what();
    return message.ends_with(remedy) ? message.substr(0, message.size() - remedy.size()) : message;
  }
  return "";
}

std::set<std::string> functions() {
#define OP(name, ...) #name,
#define COMPOSITE(name, ...) #name,
  return {
#include <retrace/ops/ops.def>
  };
#undef OP
#undef COMPOSITE
}

/// Optional operands, by op and position among the inputs of its cases.
bool is_optional(const std::string& op, std::size_t input) {
  static const std::map<std::string, std::size_t> first_optional{
      {"linear", 2},       {"layer_norm", 1},   {"residual_layer_norm", 1},
      {"rms_norm", 1},     {"gated_memory", 4}, {"attention", 3},
      {"gru_sequence", 3}, {"gru_step", 3},     {"bce_with_logits", 2}};
  const auto found = first_optional.find(op);
  return found != first_optional.end() && input >= found->second;
}

/// Calls every op of the table, in every case, with each operand undefined in turn, with and without a tape.
TEST(UndefinedOperands, AreNamedByEveryOp) {
  const std::set<std::string> known = functions();
  for (const CheckedName& row : op_cases())
    for (const CheckCase& check : row.cases)
      for (std::size_t k = 0; k < check.inputs.size(); ++k) {
        Tensors operands = check.inputs;
        for (const Tensor& operand : operands)
          if (operand.dtype() != i64) operand.watch();
        operands[k] = Tensor();
        const auto call = [&] { check.function(operands); };
        const std::string complaint = complaint_of(call);
        if (complaint.empty() && is_optional(row.name, k)) continue;
        if (complaint == "dtype: this") continue;  // thrown by the function of the case itself
        const std::size_t colon = complaint.find(": ");
        ASSERT_NE(colon, std::string::npos) << row.name << ", operand " << k << ": '" << complaint << "'";
        const std::string function = complaint.substr(0, colon), operand = complaint.substr(colon + 2);
        EXPECT_TRUE(known.contains(function) || row.name == "custom_op") << row.name << ": " << complaint;
        EXPECT_NE(operand, "this") << row.name << ": " << complaint;
        EXPECT_EQ(operand.find(' '), std::string::npos) << row.name << " does not name the operand: " << complaint;
        Tape tape;
        EXPECT_EQ(complaint_of(call), complaint);
        EXPECT_EQ(tape.size(), 0) << row.name;
      }
}

TEST(UndefinedOperands, HaveTheirNamesInTheMessage) {
  const Tensor x = ones({2, 3}), none, ids = indices({0, 1});
  expect_error<ValueError>([&] { matmul(x, none); }, "matmul: b" + remedy);
  expect_error<ValueError>([&] { none + x; }, "add: a" + remedy);
  expect_error<ValueError>([&] { where(none, x, x); }, "where: condition" + remedy);
  expect_error<ValueError>([&] { linear(x, none); }, "linear: W" + remedy);
  expect_error<ValueError>([&] { concat({x, none}); }, "concat: x1" + remedy);
  expect_error<ValueError>([&] { stack({x, none}); }, "stack: x1" + remedy);
  expect_error<ValueError>([&] { einsum("ij,jk", {x, none}); }, "einsum: x1" + remedy);
  expect_error<ValueError>([&] { none[0]; }, "slice: x" + remedy);
  expect_error<ValueError>([&] { cross_entropy(x, none); }, "cross_entropy: targets" + remedy);
  expect_error<ValueError>([&] { attention(x, none, x); }, "attention: k" + remedy);
  expect_error<ValueError>([&] { embedding(none, ids); }, "embedding: table" + remedy);
  expect_error<ValueError>([&] { lstm_step(x, none, x, x); }, "lstm_step: h" + remedy);
  expect_error<ValueError>(
      [&] {
        custom_op(
            "swish", {x, none}, [](const Tensors& in) { return in[0]; },
            [](const Tensor& dy, const Tensors&, const Tensor&) {
              return Tensors{dy, dy};
            });
      },
      "swish: x1" + remedy);
}

TEST(UndefinedOperands, AreNamedByCore) {
  const Tensor x = ones({2}), none;
  expect_error<ValueError>([&] { zeros_like(none); }, "zeros_like: x" + remedy);
  expect_error<ValueError>([&] { ones_like(none); }, "ones_like: x" + remedy);
  expect_error<ValueError>([&] { full_like(none, 1); }, "full_like: x" + remedy);
  expect_error<ValueError>([&] { empty_like(none); }, "empty_like: x" + remedy);
  expect_error<ValueError>([&] { one_hot(none, 3); }, "one_hot: ids" + remedy);
  expect_error<ValueError>([&] { parameter(none); }, "parameter: values" + remedy);
  expect_error<ValueError>([&] { copy_values(none, x); }, "copy_values: from" + remedy);
  expect_error<ValueError>([&] { copy_values(x, none); }, "copy_values: to" + remedy);
  expect_error<ValueError>([&] { view(none, {1}); }, "view: x" + remedy);
  const auto f = [](const Tensor& at) { return sum(at); };
  expect_error<ValueError>([&] { jvp(f, x, none); }, "jvp: v" + remedy);
  expect_error<ValueError>([&] { vjp(f, none, x); }, "vjp: x" + remedy);
  expect_error<ValueError>([&] { hvp(f, x, none); }, "hvp: v" + remedy);
  expect_error<ValueError>([&] { jacobian(f, none); }, "jacobian: x" + remedy);
  expect_error<ValueError>([&] { numerical_gradient(f, none); }, "numerical_gradient: x" + remedy);
}

TEST(UndefinedOperands, AreNamedByBackward) {
  const Tensor w = parameter(ones({2})), none;
  Tape tape;
  const Tensor y = identity(w);
  expect_error<ValueError>([&] { tape.backward(none); }, "backward: the loss" + remedy);
  expect_error<ValueError>([&] { tape.backward({y, none}, {y, y}); }, "backward: output 1" + remedy);
  tape.backward({y}, {ones({2})});
  EXPECT_EQ(w.grad().at({1}), 1) << "the tape was left as it was";
}

TEST(UndefinedOperands, AreNamedByModules) {
  Random random(1);
  const Tensor x = ones({2, 3}), sequence = ones({2, 4, 3}), none;
  expect_error<ValueError>([&] { Linear(3, 2, random)(none); }, "linear: x" + remedy);
  expect_error<ValueError>([&] { LayerNorm(3)(none); }, "layer_norm: x" + remedy);
  expect_error<ValueError>([&] { LayerNorm(3)(x, none); }, "residual_layer_norm: residual" + remedy);
  expect_error<ValueError>([&] { Embedding(5, 3, random)(none); }, "embedding: ids" + remedy);
  expect_error<ValueError>([&] { Lstm(3, 2, random)(none); }, "Lstm: x" + remedy);
  expect_error<ValueError>([&] { LstmCell(3, 2, random)(x, {}); }, "LstmCell: h" + remedy);
  expect_error<ValueError>([&] { Gru(3, 2, random)(none); }, "Gru: x" + remedy);
  expect_error<ValueError>([&] { GruCell(3, 2, random)(x, none); }, "GruCell: h" + remedy);
  expect_error<ValueError>([&] { Rnn(3, 2, random)(none); }, "Rnn: x" + remedy);
  expect_error<ValueError>([&] { RnnCell(3, 2, random)(none, x); }, "RnnCell: x" + remedy);
  const Tensor rows = ones({2, 4, 4});
  expect_error<ValueError>([&] { MultiHeadAttention(4, random)(rows, none, rows); },
                           "multi_head_attention: k" + remedy);
  expect_error<ValueError>([&] { RelationalMemory(3, random)(none, x); }, "RelationalMemory: memory" + remedy);
  expect_error<ValueError>([&] { CellMemory(3, random)(none, x); }, "CellMemory: memory" + remedy);
  const NotebookMemory notebook(random);
  expect_error<ValueError>([&] { notebook(none, x); }, "NotebookMemory: memory" + remedy);
  const RelationalMemoryCore core(3, random);
  expect_error<ValueError>([&] { core(none, x); }, "RelationalMemoryCore: memory" + remedy);
  expect_error<ValueError>([&] { core(core.initial_memory(2), none); }, "RelationalMemoryCore: x" + remedy);
}

TEST(UndefinedOperands, AreNamedByOptimisersAndFiles) {
  const std::vector<NamedTensor> list{{"w", Tensor()}};
  expect_error<ValueError>([&] { const Adam adam(list); }, "optimizer: w" + remedy);
  expect_error<ValueError>([&] { save("/nowhere/w.safetensors", list); }, "save: w" + remedy);
}

}  // namespace
}  // namespace retrace
