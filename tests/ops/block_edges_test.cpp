// Elementwise ops, reductions, rows and indexing beyond a block; see block_edges.h.
#include <retrace/tests/ops/block_edges.h>

#include <retrace/tests/compare.h>

namespace retrace {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

// These ops save different tensors: nothing, x, y, and the slope.
TEST_F(BlockEdges, FunctionsOfOneTensorOverSeveralThreads) {
  const std::pair<const char*, Unary> functions[] = {{"neg", neg},   {"sin", sin},         {"tanh", tanh},
                                                     {"relu", relu}, {"sigmoid", sigmoid}, {"gelu", gelu}};
  for (const auto& [name, function] : functions) check_unary(name, {16411}, function);
}

TEST_F(BlockEdges, FunctionsOfTwoTensorsOverSeveralThreads) {
  const std::pair<const char*, Binary> functions[] = {{"sub", sub}, {"mul", mul}};
  for (const auto& [name, function] : functions) {
    check_binary(text(name, " of equal shapes"), {32777}, {32777}, function);
    check_binary(text(name, " with a row"), {331, 101}, {101}, function);
    check_binary(text(name, " with a column"), {331, 1}, {331, 101}, function);
    check_binary(text(name, " with a matrix for each"), {5, 67, 101}, {67, 1}, function);
  }
  check_binary("div", {331, 101}, {101}, [](const Tensor& a, const Tensor& b) { return a / (square(b) + 1.0); });
}

TEST_F(BlockEdges, ChoicesOverSeveralThreads) {
  const Tensor row = random.integers({101}, 2), all = random.integers({331, 101}, 2);
  check_unary("masked_fill with a row", {331, 101}, [&](const Tensor& x) { return masked_fill(x, row, 3); });
  check_unary("masked_fill", {331, 101}, [&](const Tensor& x) { return masked_fill(x, all, 3); });
  check_binary("where", {331, 101}, {331, 1}, [&](const Tensor& a, const Tensor& b) { return where(all, a, b); });
  check_unary("dropout", {32777}, [](const Tensor& x) {
    Random same(5);
    return dropout(x, 0.4, &same);
  });
}

TEST_F(BlockEdges, CopiesOverSeveralThreadsAndTiles) {
  for (const Shape& shape : {Shape{15, 17}, Shape{16, 16}, Shape{33, 47}, Shape{190, 181}})
    check_unary(text("transpose ", shape), shape, [](const Tensor& x) { return transpose(x); });
  check_unary("transpose of three axes", {33, 31, 35}, [](const Tensor& x) { return transpose(x, {2, 0, 1}); });
  const Tensor constant = random.normal({190, 190}, f64);
  for (const int axis : {0, 1}) {
    check_unary(text("flip along ", axis), {190, 181}, [=](const Tensor& x) { return flip(x, axis); });
    check(text("concat with constants along ", axis), {{190, 190}, {190, 190}}, [=](const Tensors& in) {
      return concat({constant.to(in[0].dtype()), in[0], constant.to(in[0].dtype()), in[1]}, axis);
    });
  }
  check_unary("slice", {370, 181}, [](const Tensor& x) { return slice(x, {range(1, 369, 2), range(0, 180)}); });
  check_unary("backwards", {190, 181}, [](const Tensor& x) { return slice(x, {all, range(SliceIndex::none, 2, -1)}); });
  check_unary("pad", {190, 181}, [](const Tensor& x) { return pad(x, {{1, 2}, {3, 0}}); });
  check_unary("broadcast a row", {101}, [](const Tensor& x) { return broadcast_to(x, {331, 101}); });
  check_unary("broadcast a column", {331, 1}, [](const Tensor& x) { return broadcast_to(x, {331, 101}); });
}

TEST_F(BlockEdges, ReductionsOverSeveralThreads) {
  using Reduction = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);
  // One reduction that is a sum, and one that is not.
  const std::pair<const char*, Reduction> functions[] = {{"mean", mean}, {"var", var}};
  for (const auto& [name, function] : functions) {
    const auto along = [&](const Axes& axes) { return [=](const Tensor& x) { return function(x, axes, {}); }; };
    check_unary(text(name, " of rows"), {257, 131}, along(1));
    check_unary(text(name, " of columns"), {131, 257}, along(0));
    check_unary(text(name, " of a middle axis"), {37, 33, 31}, along(1));
    check_unary(text(name, " of all"), {37, 33, 31}, along({}));
  }
  check_unary("cumsum of columns", {67, 131}, [](const Tensor& x) { return cumsum(x, 0); });
  check_unary("cumsum of rows", {131, 67}, [](const Tensor& x) { return cumsum(x, 1); });
  check_unary("prod", {131, 9}, [](const Tensor& x) { return prod(x, 1); });
}

// A group has 16 rows, or as many as fit into the first-level cache.
TEST_F(BlockEdges, SoftmaxOfGroupsOfRowsOverSeveralThreads) {
  for (const Shape& shape :
       {Shape{17, 7}, Shape{830, 9}, Shape{33, 64}, Shape{150, 67}, Shape{7, 401}, Shape{3, 1100}}) {
    check_unary(text("softmax ", shape), shape, [](const Tensor& x) { return softmax(x); });
    check_unary(text("log_softmax ", shape), shape, [](const Tensor& x) { return log_softmax(x); });
  }
  check_unary("softmax of columns", {67, 131}, [](const Tensor& x) { return softmax(x, 0); });
  check_unary("log_softmax of columns", {67, 131}, [](const Tensor& x) { return log_softmax(x, 0); });
}

// Rows are summed in blocks of at most 1,024 rows, fewer if they are long.
TEST_F(BlockEdges, NormalisationOfSeveralBlocksOfRows) {
  const auto normalised = [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); };
  const auto from_x = [](const Tensors& in) { return layer_norm(in[0], in[1], in[2] * 100.0); };
  for (const Shape& shape : {Shape{17, 17}, Shape{1024, 3}, Shape{1025, 3}, Shape{2100, 5}, Shape{90, 3000}}) {
    const Shape row{shape[1]};
    check(text("layer_norm ", shape), {shape, row, row}, normalised);
    if (shape[0] > 90) check(text("layer_norm from x ", shape), {shape, row, row}, from_x);
  }
  check_unary("layer_norm alone", {2100, 5}, [](const Tensor& x) { return layer_norm(x); });
  check("residual_layer_norm", {{2100, 5}, {2100, 5}, {5}, {5}},
        [](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3]); });
  check_binary("rms_norm", {2100, 5}, {5}, [](const Tensor& x, const Tensor& gamma) { return rms_norm(x, gamma); });
}

// Many rows are stored past the cache; their gradient must be that of each half, which is not.
TEST_F(BlockEdges, ALayerNormThatIsStoredPastTheCache) {
  const std::int64_t width = 4096;
  const Tensor x = random.normal({520, width}), dy = random.normal({520, width}), gamma = random.normal({width});
  const auto gradient = [&](std::int64_t first, std::int64_t last, bool is_used) {
    const Tensor rows = parameter(slice(x, {range(first, last)}).clone());
    Tape tape;
    const Tensor y = layer_norm(rows, gamma), other = scale(rows, is_used ? 0.5 : 0.0);
    tape.backward({y, other}, {slice(dy, {range(first, last)}), slice(dy, {range(first, last)})});
    return rows.grad();
  };
  for (const bool is_used : {false, true})
    EXPECT_TRUE(same_bits(gradient(0, 520, is_used), concat({gradient(0, 260, is_used), gradient(260, 520, is_used)})))
        << is_used;
}

TEST_F(BlockEdges, LossesOfManyRows) {
  const Tensor labels = random.integers({700}, 13);
  for (const Reduction reduction : {Reduction::mean, Reduction::none}) {
    const CrossEntropyOptions options{.reduction = reduction, .ignore_index = 4};
    check_unary("cross_entropy", {700, 13}, [&](const Tensor& x) { return cross_entropy(x, labels, options); });
    check_unary("nll", {700, 13}, [&](const Tensor& x) { return nll(x, labels, options); });
    check_binary("soft cross_entropy", {700, 13}, {700, 13},
                 [=](const Tensor& x, const Tensor& t) { return cross_entropy(x, t, {.reduction = reduction}); });
    check_binary("mse", {700, 13}, {700, 13}, [=](const Tensor& x, const Tensor& t) { return mse(x, t, reduction); });
  }
  for (const std::int64_t classes : {1, 7, 8, 9, 17, 33, 130})
    check_unary(text("cross_entropy of ", classes), {5, classes},
                [&](const Tensor& x) { return cross_entropy(x, random.integers({5}, 1)); });
}

// Rows from 128 elements on are added by a kernel, shorter ones by a loop.
TEST_F(BlockEdges, RowsOfEveryLengthThatAreTaken) {
  const Tensor ids = random.integers({300}, 40);
  for (const std::int64_t features : {1, 63, 65, 100, 127, 128, 129, 200}) {
    check_unary(text("embedding of ", features), {40, features}, [&](const Tensor& x) { return embedding(x, ids); });
    check_unary(text("take of ", features), {2, 3, features}, [](const Tensor& x) {
      return take(x, indices({2, 0, 2, 1}), 1);
    });
  }
  const Tensor places = random.integers({30, 60}, 50);
  check_unary("gather of rows", {30, 50}, [&](const Tensor& x) { return gather(x, places); });
  check_unary("gather of columns", {50, 60}, [&](const Tensor& x) { return gather(x, places, 0); });
  check_binary("scatter_add", {40, 130}, {300, 130},
               [&](const Tensor& x, const Tensor& updates) { return scatter_add(x, ids, updates); });
}

}  // namespace
}  // namespace retrace
