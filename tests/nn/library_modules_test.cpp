// Every module of the library: visit() names all parameters that it uses, and their number is the published one.
#include <retrace/nn/nn.h>

#include <gtest/gtest.h>

namespace retrace {
namespace {

/// Expects that a run with a random cotangent reaches every parameter, and the expected number of scalars.
void check(const char* name, std::int64_t scalars, const auto& module, auto run) {
  EXPECT_EQ(count_parameters(module), scalars) << name;
  Random random(11);
  Tape tape;
  const Tensor y = run(module);
  tape.backward({y}, {random.normal(y.shape())});
  for (const NamedTensor& parameter : parameters(module)) {
    ASSERT_TRUE(parameter.tensor.has_grad()) << name << ": " << parameter.name;
    EXPECT_GT(norm(parameter.tensor.grad()).item(), 1e-3) << name << ": " << parameter.name;
  }
}

TEST(LibraryModules, HaveAsManyScalarsAsTheBooksSayAndNoneIsDead) {
  constexpr std::int64_t i = 3, h = 4, s = 6;
  Random random(8);
  const Tensor x = random.normal({2, i}), state = random.normal({2, h}), series = random.normal({2, 5, i});
  const Tensor wide = random.normal({2, 5, s}), memory = random.normal({2, 3, s}), same = random.normal({2, s});
  const LstmCell lstm_cell(i, h, random);
  const GruCell gru_cell(i, h, random);
  const RnnCell rnn_cell(i, h, random);
  const CellMemoryOptions slots{.slots = 3, .slot_size = s, .heads = 2};
  const CellMemory narrow(i, random, slots), plain(s, random, slots);

  check("Linear", i * h + h, Linear(i, h, random), [&](auto& m) { return m(series); });
  check("LayerNorm", 2 * s, LayerNorm(s), [&](auto& m) { return m(wide); });
  check("LayerNorm of rows together", 2 * s, LayerNorm(Shape{s}, {.axes = 2}), [&](auto& m) { return m(wide); });
  check("LayerNorm of rows with weights of their own", 2 * 5 * s, LayerNorm(Shape{5, s}, {.axes = 2}),
        [&](auto& m) { return m(wide); });
  check("Embedding", 7 * s, Embedding(7, s, random), [](auto& m) { return m(indices({{1, 6}, {1, 0}})); });
  check("LstmCell", 4 * (h * i + h * h + h), lstm_cell, [&](auto& m) { return m(x, {state, state}).h; });
  check("Lstm", 4 * (h * i + h * h + h), Lstm(i, h, random), [&](auto& m) { return m(series).y; });
  check("GruCell", 3 * (h * i + h * h + 2 * h), gru_cell, [&](auto& m) { return m(x, state); });
  check("Gru", 3 * (h * i + h * h + 2 * h), Gru(i, h, random), [&](auto& m) { return m(series).y; });
  check("RnnCell", h * i + h * h + h, rnn_cell, [&](auto& m) { return m(x, state); });
  check("Rnn", h * i + h * h + h, Rnn(i, h, random), [&](auto& m) { return m(series).y; });
  check("MultiHeadAttention", 4 * s * s, MultiHeadAttention(s, random, {.heads = 3}),
        [&](auto& m) { return m(wide).y; });
  EXPECT_EQ(count_parameters(MultiHeadAttention(s, random, {.heads = 2, .bias = true})), 4 * (s * s + s));
  const std::int64_t attention = 4 * s * s, update = s * s + s;
  check("CellMemory", attention + (i * s + s) + ((s + i) * s + s) + update, narrow,
        [&](auto& m) { return m(memory, x).memory; });
  check("CellMemory, inputs of the slots' size", attention + (2 * s * s + s) + update, plain,
        [&](auto& m) { return m(memory, same).memory; });
}

}  // namespace
}  // namespace retrace
