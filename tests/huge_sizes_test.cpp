// Sizes beyond any memory: every function and constructor that takes a size rejects one that is too large, with an
// error that names the function. (The sanitizers' build checks that no count overflows on the way.)
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/tasks/execute.h>
#include <retrace/models/tasks/graph_reachability.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t tebi = std::int64_t{1} << 40;

using Call = std::function<void(std::int64_t size, Random& random)>;

struct Row {
  std::string name;  // what the error begins with
  Call call;
};

void expect_refused(const Row& row, std::int64_t size) {
  Random random(1);
  try {
    row.call(size, random);
    ADD_FAILURE() << row.name << " took the size " << size;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.substr(0, row.name.size()), row.name) << message << " (for the size " << size << ")";
    EXPECT_GT(message.size(), row.name.size() + 20) << message;
  }
}

void expect_all_refused(const std::vector<Row>& rows, const std::vector<std::int64_t>& sizes) {
  for (const Row& row : rows)
    for (const std::int64_t size : sizes) expect_refused(row, size);
}

const std::vector<std::int64_t> too_large{tebi, std::int64_t{1} << 61, std::int64_t{1} << 62, highest - 1, highest};
const std::vector<std::int64_t> negative{-1, -tebi, lowest + 1, lowest};

std::vector<std::int64_t> all_bad() {
  std::vector<std::int64_t> sizes = too_large;
  sizes.insert(sizes.end(), negative.begin(), negative.end());
  return sizes;
}

const std::vector<Row>& functions_of_shapes() {
  static const std::vector<Row> rows{
      {"zeros: ", [](std::int64_t n, Random&) { zeros({n}); }},
      {"zeros: ",
       [](std::int64_t n, Random&) {
         zeros({2, n, n});
       }},
      {"zeros: ",
       [](std::int64_t n, Random&) {
         zeros({n, 0, n});
       }},
      {"ones: ", [](std::int64_t n, Random&) { ones({n}, f64); }},
      {"full: ", [](std::int64_t n, Random&) { full({n}, 2, i64); }},
      {"empty: ", [](std::int64_t n, Random&) { empty({n}); }},
      {"Random::uniform: ", [](std::int64_t n, Random& random) { random.uniform({n}); }},
      {"Random::normal: ",
       [](std::int64_t n, Random& random) {
         random.normal({n, 3});
       }},
      {"Random::integers: ", [](std::int64_t n, Random& random) { random.integers({n}, 2); }},
      {"glorot_uniform: ",
       [](std::int64_t n, Random& random) {
         glorot_uniform({n, n}, random);
       }},
      {"glorot_normal: ",
       [](std::int64_t n, Random& random) {
         glorot_normal({n, 1}, random);
       }},
      {"truncated_normal: ",
       [](std::int64_t n, Random& random) {
         truncated_normal({n, n}, 1, random);
       }},
      {"broadcast_to: ", [](std::int64_t n, Random&) { broadcast_to(ones({1}), {n}); }},
      {"reshape: ", [](std::int64_t n, Random&) { reshape(ones({1}), {n}); }},
      {"view: ", [](std::int64_t n, Random&) { view(ones({2}), {n}); }},
      {"view: ", [](std::int64_t n, Random&) { view(ones({2}), {n}, 1); }},
      {"view: ",
       [](std::int64_t n, Random&) {
         view(ones({0}), {n, 0, n});
       }},
      {"ones: ",
       [](std::int64_t n, Random&) {
         LayerNorm(Shape{n, n}, {.axes = 2});
       }},
  };
  return rows;
}

TEST(HugeSizes, ThatNoShapeHasAreRefusedByTheFunction) { expect_all_refused(functions_of_shapes(), too_large); }

TEST(HugeSizes, ThatAreNegativeAreNoExtents) {
  for (const std::int64_t size : negative)
    expect_error<ShapeError>([&] { zeros({size}); },
                             text("Shape: an extent of ", size, " is negative; extents are 0 or more"));
}

TEST(HugeSizes, AreRefusedByFunctionsThatTakeThem) {
  expect_all_refused(
      {
          {"linspace: ", [](std::int64_t n, Random&) { linspace(0, 1, n); }},
          {"eye: ", [](std::int64_t n, Random&) { eye(n); }},
          {"eye: ", [](std::int64_t n, Random&) { eye(1, n == -1 ? -2 : n); }},
          {"one_hot: ",
           [](std::int64_t n, Random&) {
             one_hot(indices({0, 0}), n);
           }},
          {"one_hot: ",
           [](std::int64_t n, Random&) {
             one_hot(zeros({0, 1 << 20}, i64), n);
           }},
          {"Random::permutation: ", [](std::int64_t n, Random& random) { random.permutation(n); }},
          {"view: ", [](std::int64_t n, Random&) { view(ones({2}), {1}, n); }},
          {"orthogonal: ", [](std::int64_t n, Random& random) { orthogonal(n, n, random); }},
          {"orthogonal: ", [](std::int64_t n, Random& random) { orthogonal(n, 1, random); }},
          {"orthogonal: ", [](std::int64_t n, Random& random) { orthogonal(1, n, random); }},
          {"pad: ",
           [](std::int64_t n, Random&) {
             pad(ones({0}), {{n, 0}});
           }},
          {"pad: ",
           [](std::int64_t n, Random&) {
             pad(ones({0}), {{0, n}});
           }},
          {"pad: ",
           [](std::int64_t n, Random&) {
             pad(ones({1, 1}), {{n, n}, {n, n}});
           }},
          {"pad: ",
           [](std::int64_t n, Random&) {
             pad(ones({0, 1, 1 << 20}), {{0, 0}, {n, n}, {0, 0}});
           }},
          {"split: ",
           [](std::int64_t n, Random&) {
             split(ones({2}), {n, n, n});
           }},
          {"slice: ", [](std::int64_t n, Random&) { slice(ones({2}), {n == -1 ? 2 : n}); }},
          {"causal_mask: ", [](std::int64_t n, Random&) { causal_mask(n); }},
          {"causal_mask: ", [](std::int64_t n, Random&) { causal_mask(1, n); }},
          {"causal_mask: ", [](std::int64_t n, Random&) { causal_mask(n, 1); }},
          {"padding_mask: ", [](std::int64_t n, Random&) { padding_mask(indices({0}), n); }},
          {"packed_attention: ",
           [](std::int64_t n, Random&) {
             packed_attention(ones({1, 2, 6}), {.heads = 2, .key_size = n});
           }},
          {"packed_attention: ",
           [](std::int64_t n, Random&) {
             packed_attention(ones({1, 2, 3}), {.key_size = 1, .queries = n});
           }},
      },
      all_bad());
}

TEST(HugeSizes, AreRefusedByLayers) {
  expect_all_refused(
      {
          {"Linear: ", [](std::int64_t n, Random& random) { Linear(n, n, random); }},
          {"Linear: ", [](std::int64_t n, Random& random) { Linear(n, 1, random); }},
          {"Linear: ", [](std::int64_t n, Random& random) { Linear(1, n, random); }},
          {"Linear: ", [](std::int64_t n, Random& random) { Linear(0, n, random); }},
          {"Embedding: ", [](std::int64_t n, Random& random) { Embedding(n, n, random); }},
          {"Embedding: ", [](std::int64_t n, Random& random) { Embedding(1, n, random); }},
          {"LayerNorm: ", [](std::int64_t n, Random&) { LayerNorm{n}; }},
          {"RnnCell: ", [](std::int64_t n, Random& random) { RnnCell(n, n, random); }},
          {"RnnCell: ", [](std::int64_t n, Random& random) { Rnn(1, n, random); }},
          {"RnnCell: ", [](std::int64_t n, Random& random) { Rnn(n, 1, random); }},
          {"LstmCell: ", [](std::int64_t n, Random& random) { LstmCell(n, n, random); }},
          {"LstmCell: ", [](std::int64_t n, Random& random) { Lstm(1, n, random); }},
          {"LstmCell: ", [](std::int64_t n, Random& random) { Lstm(n, 1, random); }},
          {"GruCell: ", [](std::int64_t n, Random& random) { GruCell(n, n, random); }},
          {"GruCell: ", [](std::int64_t n, Random& random) { Gru(1, n, random); }},
          {"GruCell: ", [](std::int64_t n, Random& random) { Gru(n, 1, random); }},
          {"MultiHeadAttention: ", [](std::int64_t n, Random& random) { MultiHeadAttention(n, random, {.heads = 1}); }},
          {"CellMemory: ", [](std::int64_t n, Random& random) { CellMemory(n, random, {.slot_size = n, .heads = 1}); }},
          {"CellMemory: ", [](std::int64_t n, Random& random) { CellMemory(n, random, {.slot_size = 4}); }},
          {"CellMemory: ", [](std::int64_t n, Random& random) { CellMemory(4, random, {.slot_size = n, .heads = 1}); }},
          {"RelationalMemory: ",
           [](std::int64_t n, Random& random) { RelationalMemory(n, random, {.slot_size = n, .heads = 1}); }},
          {"RelationalMemory: ",
           [](std::int64_t n, Random& random) { RelationalMemory(4, random, {.slot_size = n, .heads = 1}); }},
          {"RelationalMemory: ",
           [](std::int64_t n, Random& random) { RelationalMemory(n, random, {.slot_size = 4, .heads = 1}); }},
          {"NotebookMemory: ",
           [](std::int64_t n, Random& random) { NotebookMemory(random, {.slot_size = n, .heads = 1}); }},
      },
      all_bad());
}

TEST(HugeSizes, AreRefusedByRelationalMemoryCores) {
  const auto core = [](RelationalMemoryCoreOptions options) {
    return Row{"RelationalMemoryCore: ", [options](std::int64_t n, Random& random) {
                 RelationalMemoryCoreOptions sized = options;
                 for (std::int64_t* size : {&sized.slots, &sized.head_size, &sized.key_size, &sized.input_rows})
                   if (*size == highest) *size = n;
                 RelationalMemoryCore(3, random, sized);
               }};
  };
  expect_all_refused(
      {
          {"RelationalMemoryCore: ", [](std::int64_t n, Random& random) { RelationalMemoryCore(n, random); }},
          core({.slots = highest}),
          core({.head_size = highest}),
          core({.head_size = highest, .heads = std::numeric_limits<int>::max()}),
          core({.key_size = highest}),
          core({.head_size = highest, .key_size = highest}),
          core({.input_rows = highest}),
          core({.slots = highest, .input_rows = highest}),
          {"RelationalMemoryCore: ",
           [](std::int64_t n, Random& random) { RelationalMemoryBlock({.head_size = n}, random); }},
      },
      all_bad());
  Random random(1);
  const int most = std::numeric_limits<int>::max();
  EXPECT_THROW(RelationalMemoryCore(3, random, {.heads = most}), Error);
  EXPECT_THROW(RelationalMemoryCore(3, random, {.blocks = most}), Error);
  EXPECT_THROW(RelationalMemoryCore(3, random, {.mlp_layers = most}), Error);
}

TEST(HugeSizes, AreRefusedByModels) {
  expect_all_refused(
      {
          {"LstmCell: ", [](std::int64_t n, Random& random) { RelationalRNN(3, n, 2, random); }},
          {"CellMemory: ",
           [](std::int64_t n, Random& random) { RelationalRNN(3, 4, 2, random, {.slot_size = n, .heads = 1}); }},
          {"RelationalMemoryCore: ",
           [](std::int64_t n, Random& random) { RmcModel({.input = n, .output = 2}, random); }},
          {"Linear: ",
           [](std::int64_t n, Random& random) {
             RmcModel({.input = 3, .output = n, .core = {.slots = 1, .head_size = 1, .heads = 1}, .head_layers = 0},
                      random);
           }},
          {"Linear: ",
           [](std::int64_t n, Random& random) { AttentionModel({.input = 3, .output = 2, .size = n}, random); }},
          {"AttentionModel: ",
           [](std::int64_t n, Random& random) {
             AttentionModel({.input = 3, .output = 2, .size = 4, .longest = n}, random);
           }},
          {"AttentionModel: ",
           [](std::int64_t n, Random& random) {
             LanguageModel({3, "attention", {.input = 4, .hidden = 4, .time = n, .form = {.causal = true}}}, random);
           }},
      },
      all_bad());
}

TEST(HugeSizes, AreRefusedByTasks) {
  expect_all_refused(
      {
          {"adding: ", [](std::int64_t n, Random&) { Adding({.length = n}); }},
          {"parity: ", [](std::int64_t n, Random&) { make_task("parity", {.length = n}); }},
          {"pair-matching: ",
           [](std::int64_t n, Random&) { make_task("pair-matching", {.length = n, .vocabulary = n}); }},
          {"pair-matching: ", [](std::int64_t n, Random&) { make_task("pair-matching", {.vocabulary = n}); }},
          {"object-tracking: ", [](std::int64_t n, Random&) { ObjectTracking({.moves = n}); }},
          {"object-tracking: ", [](std::int64_t n, Random&) { ObjectTracking({.objects = n}); }},
          {"recall: ", [](std::int64_t n, Random&) { make_task("recall", {.length = n, .keys = n, .values = n}); }},
          {"recall: ", [](std::int64_t n, Random&) { make_task("recall", {.keys = n, .values = n}); }},
          {"double: ", [](std::int64_t n, Random&) { make_task("double", {.length = n}); }},
          {"copy: ", [](std::int64_t n, Random&) { SequenceTask(sequence_rules("copy"), {.vocabulary = n}); }},
          {"nth-farthest: ", [](std::int64_t n, Random&) { NthFarthest({.vectors = n, .dims = n}); }},
          {"nth-farthest: ", [](std::int64_t n, Random&) { NthFarthest({.dims = n}); }},
          {"execute: ", [](std::int64_t n, Random&) { Execute({.length = n}); }},
          {"execute: ", [](std::int64_t n, Random&) { Execute({.nesting = n}); }},
          {"graph-reachability: ", [](std::int64_t n, Random&) { GraphReachability({.nodes = n}); }},
          {"graph-reachability: ", [](std::int64_t n, Random&) { GraphReachability({.edges = n}); }},
      },
      all_bad());
}

/// A tensor without elements may have other extents, but none whose product overflows.
TEST(HugeSizes, BesideAnExtentOf0) {
  EXPECT_EQ(zeros({0, tebi}).numel(), 0);
  expect_error<ShapeError>(
      [] {
        zeros({0, tebi, tebi});
      },
      "zeros: [0, 1099511627776, 1099511627776] is empty, but its other extents multiply to more "
      "than memory can hold; check the extents");
}

TEST(HugeSizes, AreFineForRangesThatAreCut) {
  const Tensor x = arange(0, 3);
  for (const std::int64_t far : {std::int64_t{1} << 62, highest}) {
    EXPECT_EQ(slice(x, {range(-far, far, 1)}).numel(), 3);
    EXPECT_EQ(slice(x, {range(far, -far, -1)}).numel(), 3);
    EXPECT_EQ(slice(x, {range(0, far, far)}).numel(), 1);
    EXPECT_EQ(slice(x, {range(far, 0, lowest)}).numel(), 1);
    EXPECT_EQ(slice(x, {range(far, far, far)}).numel(), 0);
  }
}

TEST(MemoryErrors, NameTheFunctionTheTensorAndItsBytes) {
  expect_error<MemoryError>([] { zeros({1'000'000'000'000}); },
                            "zeros: a tensor [1000000000000] of f32 takes 3.64 TiB, which could not be allocated; use "
                            "smaller sizes or batches");
  const Tensor column = ones({1 << 20, 1}), row = ones({1, 1 << 20});
  const std::string product =
      ": a tensor [1048576, 1048576] of f32 takes 4 TiB, which could not be allocated; use smaller sizes or batches";
  expect_error<MemoryError>([&] { matmul(column, row); }, "matmul" + product);
  expect_error<MemoryError>([&] { add(column, row); }, "add" + product);
}

TEST(MemoryErrors, NameTheParameterOfALayer) {
  Random random(1);
  const Random::State before = random.state();
  expect_error<MemoryError>([&] { Lstm(100, 1'000'000'000, random); },
                            "LstmCell: weight_ih [4000000000, 100] of f32 takes 1.46 TiB, which could not be "
                            "allocated; use smaller sizes or batches");
  EXPECT_EQ(random.state(), before);
}

TEST(Integers, WrapAroundAtTheEndsOfTheirRange) {
  const Tensor ends = indices(std::vector<std::int64_t>{lowest, highest}, {2});
  const Tensor ones_of_both = full({2}, 1, i64);
  const auto values = [](const Tensor& x) {
    return std::vector<std::int64_t>(x.values<std::int64_t>().begin(), x.values<std::int64_t>().end());
  };
  EXPECT_EQ(values(neg(ends)), (std::vector<std::int64_t>{lowest, -highest}));
  EXPECT_EQ(values(ends + ones_of_both), (std::vector<std::int64_t>{lowest + 1, lowest}));
  EXPECT_EQ(values(ends - ones_of_both), (std::vector<std::int64_t>{highest, highest - 1}));
  EXPECT_EQ(values(ends * ends), (std::vector<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace retrace
