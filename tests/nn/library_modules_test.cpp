// Every module of the library: visit() names all parameters that it uses, and their number is the published one.
#include <retrace/nn/nn.h>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace retrace {
namespace {

constexpr std::int64_t i = 3, h = 4, s = 6;  // features of the input, of a state, of a slot

class LibraryModules : public testing::Test {
 protected:
  /// Expects that a run with a random cotangent reaches every parameter, and the expected number of scalars.
  void check(const std::string& name, std::int64_t scalars, const auto& module, auto run) {
    checked.insert(name);
    check_groups(name, module);
    EXPECT_EQ(count_parameters(module), scalars) << name;
    Random own(11);
    Tape tape;
    const Tensor y = run(module);
    tape.backward({y}, {own.normal(y.shape())});
    for (const NamedTensor& parameter : parameters(module)) {
      ASSERT_TRUE(parameter.tensor.has_grad()) << name << ": " << parameter.name;
      if (parameter.name.ends_with("attn.key.bias")) continue;  // softmax does not see what it adds to all scores
      EXPECT_GT(norm(parameter.tensor.grad()).item(), 1e-3) << name << ": " << parameter.name;
    }
  }

  /// A weight decay takes matrices, but no bias, no gain and no table of vectors, whatever its shape; Muon takes what
  /// is a matrix with both sides of its min_side or more.
  void check_groups(const std::string& name, const auto& module) {
    const DecaySplit split = split_for_decay(module);
    for (const NamedTensor& parameter : split.decayed)
      EXPECT_GE(parameter.tensor.rank(), 2) << name << ": " << parameter.name;
    for (const NamedTensor& parameter : split.others)
      if (parameter.tensor.rank() >= 2) matrices_without_decay[name] += " " + parameter.name;
    const Muon muon(module, {.min_side = h});
    for (const OptimizerSlot& slot : muon.slots()) {
      const Shape& shape = slot.parameter.tensor.shape();
      const bool is_taken = shape.rank() == 2 && shape[0] >= h && shape[1] >= h;
      EXPECT_EQ(slot.state.size(), is_taken ? 1U : 2U) << name << ": " << slot.parameter.name;
    }
  }

  void check_layers() {
    check("Linear", i * h + h, Linear(i, h, random), [&](auto& m) { return m(series); });
    check("LayerNorm", 2 * s, LayerNorm(s), [&](auto& m) { return m(wide); });
    check("LayerNorm of rows together", 2 * s, LayerNorm(Shape{s}, {.axes = 2}), [&](auto& m) { return m(wide); });
    check("LayerNorm of rows with weights of their own", 2 * 5 * s, LayerNorm(Shape{5, s}, {.axes = 2}),
          [&](auto& m) { return m(wide); });
    check("Embedding", 7 * s, Embedding(7, s, random), [](auto& m) { return m(indices({{1, 6}, {1, 0}})); });
    check("MultiHeadAttention", 4 * s * s, MultiHeadAttention(s, random, {.heads = 3}),
          [&](auto& m) { return m(wide).y; });
    EXPECT_EQ(count_parameters(MultiHeadAttention(s, random, {.heads = 2, .bias = true})), 4 * (s * s + s));
  }

  void check_compositions() {
    const Tensor wanted = Tensor(wide).clone().watch();
    check("RmsNorm", s, RmsNorm(s), [&](auto& m) { return m(wide); });
    check("Dropout", 0, Dropout(0.5), [&](auto& m) { return m(wanted); });
    check("SinusoidalPositions", 0, SinusoidalPositions(), [&](auto& m) { return m(wanted); });
    check("LearnedPositions", 5 * s, LearnedPositions(5, s, random), [&](auto& m) { return m(wide); });
    check("Mlp", s * h + h + h * i + i, Mlp({s, h, i}, random, {.activation = Activation::tanh}),
          [&](auto& m) { return m(wide); });
    check("Sequential", s * h + h + 2 * h, Sequential(Linear(s, h, random), silu, LayerNorm(h)),
          [&](auto& m) { return m(wide); });
  }

  void check_transformers() {
    constexpr std::int64_t square = s * s + s, forward = s * h + h + h * s + s, norm_size = 2 * s;
    const TransformerLayerOptions layer{.heads = 2, .feed_forward = h, .activation = FeedForward::gelu};
    const TransformerOptions options{.layers = 2, .layer = layer, .final_norm = true};
    check("TransformerEncoder", 2 * (4 * square + forward + 2 * norm_size) + norm_size,
          TransformerEncoder(s, random, options), [&](auto& m) { return m(wide); });
    check("TransformerDecoder", 2 * (8 * square + forward + 3 * norm_size) + norm_size,
          TransformerDecoder(s, random, options), [&](auto& m) { return m(wide, flip(wide, 1)); });
  }

  void check_recurrent_layers() {
    constexpr std::int64_t gate = h * i + h * h + h;
    check("LstmCell", 4 * gate, LstmCell(i, h, random), [&](auto& m) { return m(x, {state, state}).h; });
    check("Lstm", 4 * gate, Lstm(i, h, random), [&](auto& m) { return m(series).y; });
    check("GruCell", 3 * (gate + h), GruCell(i, h, random), [&](auto& m) { return m(x, state); });
    check("Gru", 3 * (gate + h), Gru(i, h, random), [&](auto& m) { return m(series).y; });
    check("RnnCell", gate, RnnCell(i, h, random), [&](auto& m) { return m(x, state); });
    check("Rnn", gate, Rnn(i, h, random), [&](auto& m) { return m(series).y; });
  }

  void check_stacked_recurrent_layers() {
    constexpr std::int64_t lower = h * i + h * h + h, upper = h * (2 * h) + h * h + h;
    const RecurrentOptions options{.layers = 2, .bidirectional = true};
    check("Lstm of two layers", 8 * (lower + upper), Lstm(i, h, random, options), [&](auto& m) { return m(series).y; });
    check("Gru of two layers", 6 * (lower + upper + 2 * h), Gru(i, h, random, options),
          [&](auto& m) { return m(series).y; });
    check("Rnn of two layers", 2 * (lower + upper), Rnn(i, h, random, options), [&](auto& m) { return m(series).y; });
  }

  void check_memories() {
    constexpr std::int64_t attention = 4 * s * s, square = s * s + s;
    const auto next = [&](auto& m) { return m(memory, x).memory; };
    const auto next_of_slot_size = [&](auto& m) { return m(memory, row).memory; };
    const CellMemoryOptions cell{.slots = 3, .slot_size = s, .heads = 2};
    check("CellMemory", attention + (i * s + s) + ((s + i) * s + s) + square, CellMemory(i, random, cell), next);
    check("CellMemory, inputs of the slots' size", attention + (2 * s * s + s) + square, CellMemory(s, random, cell),
          next_of_slot_size);
    check("RelationalMemory", attention + i * s + 2 * (2 * s * s) + 2 * (2 * s),
          RelationalMemory(i, random, {.slots = 3, .slot_size = s, .heads = 2}), next);
    check("NotebookMemory", attention + (2 * s * s + 2 * s) + (2 * s * s + s) + 3 * square,
          NotebookMemory(random, {.slots = 3, .slot_size = s, .heads = 2}), next_of_slot_size);
    constexpr std::int64_t block = (s + 1) * 3 * s + 2 * 3 * s + 2 * (2 * s), gates = 2 * (s + 1) * 2 * s;
    check("RelationalMemoryCore", (i * s + s) + block + 2 * square + gates,
          RelationalMemoryCore(i, random, {.slots = 3, .head_size = s / 2, .heads = 2}), next);
  }

  void check_modules_with_a_memory() {
    check("ShortConvolution", 4 * i + i, ShortConvolution(i, random), [&](auto& m) { return m(series); });
    constexpr std::int64_t heads = 2, d = 3, projection = (4 * heads * d + 2 * heads) * (i + 1);
    check("DeltaNet", projection + d + heads * d * i, DeltaNet(i, random, {.heads = heads, .head_size = d}),
          [&](auto& m) { return m(series).y; });
    check("Mlstm", projection + d + heads * d * i, Mlstm(i, random, {.heads = heads, .head_size = d}),
          [&](auto& m) { return m(series).y; });
    constexpr std::int64_t cells = 2 * d, rnn = h * i + h + h * (h + cells);
    check("SoftMemoryRnn", rnn + (cells + 2 * 3) * (h + 1),
          SoftMemoryRnn(i, h, random, {.memories = 2, .cells = 4, .cell_size = d}),
          [&](auto& m) { return m(series).y; });
    constexpr std::int64_t reads = 2, lstm = 4 * h * (i + reads * d + h + 1);
    check("Ntm", lstm + ((reads + 1) * (d + 6) + 2 * d) * (h + 1),
          Ntm(i, h, random, {.slots = 4, .slot_size = d, .read_heads = reads}), [&](auto& m) { return m(series).y; });
    check("Dnc", lstm + (reads * (d + 5) + 3 * d + 3) * (h + 1),
          Dnc(i, h, random, {.slots = 4, .slot_size = d, .read_heads = reads}), [&](auto& m) { return m(series).y; });
  }

  Random random{8};
  Tensor x = random.normal({2, i}), state = random.normal({2, h}), series = random.normal({2, 5, i});
  Tensor wide = random.normal({2, 5, s}), memory = random.normal({2, 3, s}), row = random.normal({2, s});
  std::set<std::string> checked;
  std::map<std::string, std::string> matrices_without_decay;
};

TEST_F(LibraryModules, HaveAsManyScalarsAsTheBooksSayAndNoneIsDead) {
  check_layers();
  check_compositions();
  check_transformers();
  check_recurrent_layers();
  check_stacked_recurrent_layers();
  check_memories();
  check_modules_with_a_memory();
#define MODULE(name) EXPECT_TRUE(checked.contains(#name)) << #name " is missing above";
#define VARIANT(name, module)
#define PART(name, module)
#include <retrace/nn/modules.def>
#undef MODULE
#undef VARIANT
#undef PART
  const std::map<std::string, std::string> tables_and_norms{
      {"Embedding", " weight"},
      {"LayerNorm of rows with weights of their own", " weight bias"},
      {"LearnedPositions", " weight"}};
  EXPECT_EQ(matrices_without_decay, tables_and_norms);
}

}  // namespace
}  // namespace retrace
