// Layers without biases: they are those with biases of zero, have no such parameters, and read PyTorch's weights of
// bias=False.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <retrace/core/files/safetensors.h>
#include <retrace/nn/files/pytorch.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

std::vector<std::string> parameter_names(const auto& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(module)) names.push_back(parameter.name);
  return names;
}

/// Gives `biased` the weights of `bare`, and biases of zero.
void copy_weights(const auto& bare, const auto& biased) {
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& parameter : parameters(bare)) weights.emplace(parameter.name, parameter.tensor);
  for (const NamedTensor& parameter : parameters(biased)) {
    const auto found = weights.find(parameter.name);
    copy_values(found == weights.end() ? zeros_like(parameter.tensor) : found->second, parameter.tensor);
  }
}

/// Both give the same y and the same gradients of x and of every weight that both have.
void expect_same(const auto& bare, const auto& biased, const auto& run) {
  to(bare, f64), to(biased, f64);
  copy_weights(bare, biased);
  EXPECT_LT(parameters(bare).size(), parameters(biased).size());
  const auto results = [&](const auto& module) {
    std::map<std::string, Tensor> all;
    Random random(5);
    const Tensor x = parameter(random.normal({2, 4, 6}, f64));
    Tape tape;
    const Tensor y = run(module, x);
    tape.backward(sum(y * random.normal(y.shape(), f64)));
    all.emplace("y", y.detach()), all.emplace("x", x.grad());
    for (const NamedTensor& parameter : parameters(module)) all.emplace(parameter.name, parameter.tensor.grad());
    return all;
  };
  const auto of_biased = results(biased);
  for (const auto& [name, value] : results(bare)) {
    SCOPED_TRACE(name);
    expect_near(value, of_biased.at(name), 1e-13);
  }
}

TEST(WithoutBiases, RecurrentLayersAreThoseOfZeroBiases) {
  Random random(1);
  for (const bool bidirectional : {false, true}) {
    const RecurrentOptions with{.layers = 2, .bidirectional = bidirectional};
    RecurrentOptions without = with;
    without.bias = false;
    const Tensor lengths = indices({4, 2});
    const auto run = [&](const auto& m, const Tensor& x) { return m(x, {}, lengths).y; };
    expect_same(Lstm(6, 3, random, without), Lstm(6, 3, random, with), run);
    expect_same(Gru(6, 3, random, without), Gru(6, 3, random, with), run);
    expect_same(Gru(6, 3, random, without, GruReset::before_product), Gru(6, 3, random, with, GruReset::before_product),
                run);
    expect_same(Rnn(6, 3, random, without), Rnn(6, 3, random, with), run);
  }
}

TEST(WithoutBiases, CellsAreThoseOfZeroBiases) {
  Random random(1);
  const Tensor h = random.normal({2, 3}, f64), c = random.normal({2, 3}, f64);
  const auto first = [](const Tensor& x) { return slice(x, {all, 0}); };
  expect_same(LstmCell(6, 3, random, {.bias = false}), LstmCell(6, 3, random), [&](const LstmCell& m, const Tensor& x) {
    return m(first(x), {h, c}).c;
  });
  expect_same(GruCell(6, 3, random, {.bias = false}), GruCell(6, 3, random),
              [&](const GruCell& m, const Tensor& x) { return m(first(x), h); });
  expect_same(RnnCell(6, 3, random, Activation::relu, {.bias = false}), RnnCell(6, 3, random, Activation::relu),
              [&](const RnnCell& m, const Tensor& x) { return m(first(x), h); });
}

TEST(WithoutBiases, NormsAndTransformersAreThoseOfZeroBiases) {
  Random random(1);
  expect_same(LayerNorm(6, 1e-5, {.bias = false}), LayerNorm(6),
              [](const LayerNorm& m, const Tensor& x) { return m(x) + m(x, 2 * x); });
  expect_same(LayerNorm({6}, {.axes = 2}, {.bias = false}), LayerNorm({6}, {.axes = 2}),
              [](const LayerNorm& m, const Tensor& x) { return m(x); });
  for (const bool norm_first : {false, true}) {
    const TransformerOptions with{
        .layers = 2, .layer = {.heads = 2, .dropout = 0, .norm_first = norm_first}, .final_norm = true};
    TransformerOptions without = with;
    without.layer.bias = false;
    expect_same(TransformerEncoder(6, random, without), TransformerEncoder(6, random, with),
                [](const TransformerEncoder& m, const Tensor& x) { return m(x, {.causal = true}); });
    expect_same(TransformerDecoder(6, random, without), TransformerDecoder(6, random, with),
                [](const TransformerDecoder& m, const Tensor& x) { return m(x, x); });
  }
}

TEST(WithoutBiases, TheirParametersAreThoseOfPytorch) {
  Random random(1);
  EXPECT_EQ(parameter_names(LstmCell(3, 2, random, {.bias = false})),
            (std::vector<std::string>{"weight_ih", "weight_hh"}));
  const Lstm lstm(3, 2, random, {.layers = 2, .bias = false});
  const Lstm copy = clone(lstm);
  EXPECT_EQ(weights_hash(copy), weights_hash(lstm));
  std::vector<std::string> names;
  for (const PytorchEntry& entry : pytorch_entries(lstm)) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "weight_ih_l1", "weight_hh_l1"}));
  names.clear();
  for (const PytorchEntry& entry : pytorch_entries(TransformerEncoderLayer(4, random, {.heads = 2, .bias = false})))
    names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight",
                                             "linear2.weight", "norm1.weight", "norm2.weight"}));
}

TEST(WithoutBiases, WeightsOfALayerWithBiasesAreRefused) {
  Random random(1);
  const TemporaryFolder own;
  save_pytorch(own / "biased.safetensors", Gru(3, 2, random));
  expect_words<ValueError>([&] { load_pytorch(own / "biased.safetensors", Gru(3, 2, random, {.bias = false})); },
                           {"nothing was changed", "unexpected: bias_hh_l0 [6]", "unexpected: bias_ih_l0 [6]"});
}

/// n = tanh(W x + b_ih + U (r h) + b_hh), in numbers.
TEST(GruResetBeforeProduct, IsItsFormula) {
  Random random(4);
  const GruCell cell(2, 3, random, {}, GruReset::before_product);
  for (const NamedTensor& parameter : parameters(cell))
    copy_values(random.normal(parameter.tensor.shape()), parameter.tensor);
  to(cell, f64);
  const Tensor x = random.normal({1, 2}, f64), h = random.normal({1, 3}, f64);
  const auto product = [](const Tensor& matrix, std::int64_t row, const std::vector<double>& vector) {
    double sum = 0;
    for (std::size_t k = 0; k < vector.size(); ++k) sum += matrix.at({row, static_cast<std::int64_t>(k)}) * vector[k];
    return sum;
  };
  const std::vector<double> from_x{x.at({0, 0}), x.at({0, 1})}, from_h{h.at({0, 0}), h.at({0, 1}), h.at({0, 2})};
  const auto gate = [&](std::int64_t row, const std::vector<double>& state) {
    return product(cell.weight_ih, row, from_x) + cell.bias_ih.at({row}) + product(cell.weight_hh, row, state) +
           cell.bias_hh.at({row});
  };
  const auto logistic_of = [](double z) { return 1 / (1 + std::exp(-z)); };
  std::vector<double> reset_h;
  for (std::int64_t k = 0; k < 3; ++k)
    reset_h.push_back(logistic_of(gate(k, from_h)) * from_h[static_cast<std::size_t>(k)]);
  const Tensor next = cell(x, h);
  for (std::int64_t k = 0; k < 3; ++k) {
    const double z = logistic_of(gate(3 + k, from_h)), n = std::tanh(gate(6 + k, reset_h));
    EXPECT_NEAR(next.at({0, k}), (1 - z) * n + z * h.at({0, k}), 1e-14);
  }
}

/// A sequence of it keeps the state of a sample after its last step.
TEST(GruResetBeforeProduct, OfASequenceIsItsSteps) {
  Random random(4);
  const Gru gru(2, 3, random, {}, GruReset::before_product);
  const Tensor x = random.normal({2, 4, 2});
  const GruResult all_steps = gru(x, {}, indices({4, 2}));
  Tensor h = zeros({2, 3});
  for (std::int64_t t = 0; t < 4; ++t) h = state_after(t, indices({4, 2}), gru.cell(at_step(x, t), h), h);
  expect_near(all_steps.h, h, 1e-6);
}

TEST(SharedHeadsOfAttention, HaveColumnsOfTheirOwnAndGoOnFromACache) {
  Random random(4);
  const MultiHeadAttention attention(8, random, {.heads = 4, .positions = AttentionPositions::rotary, .key_heads = 2});
  EXPECT_EQ(attention.key.weight.shape(), (Shape{4, 8}));
  EXPECT_EQ(attention.value.weight.shape(), (Shape{4, 8}));
  const Tensor x = random.normal({2, 5, 8});
  const Tensor y = attention.without_weights(x, x, x, {.causal = true});
  KeyValueCache cache;
  for (std::int64_t t = 0; t < 5; ++t) {
    const Tensor step = slice(x, {all, range(t, t + 1)});
    expect_near(attention(step, {.causal = true, .cache = &cache}).y, slice(y, {all, range(t, t + 1)}), 1e-6);
  }
  expect_error<ShapeError>([&] { MultiHeadAttention(8, random, {.heads = 4, .key_heads = 3}); },
                           "MultiHeadAttention: 3 heads of k and v do not divide 4 heads of q, each for as many; "
                           "choose a divisor");
}

/// Dropped weights are multiplied with the values of the heads that share them.
TEST(SharedHeadsOfAttention, DropWeights) {
  Random random(4);
  const MultiHeadAttention attention(8, random, {.heads = 4, .dropout = 1e-9, .key_heads = 2});
  const Tensor x = random.normal({2, 5, 8});
  Random drops(1);
  expect_near(attention(x, AttendOptions{.random = &drops}).y, attention(x).y, 1e-6);
}

/// Position biases, one for each head and distance, learn through the mask of the module.
TEST(MultiHeadAttentionMask, ThatWantsAGradientGetsIt) {
  Random random(4);
  const MultiHeadAttention attention(8, random, {.heads = 2});
  to(attention, f64);
  const Tensor x = random.normal({2, 3, 8}, f64), bias = random.normal({1, 2, 3, 3}, f64);
  const auto loss = [&](const Tensor& b) {
    return sum(square(attention(x, {.mask = b, .causal = true, .lengths = indices({3, 2})}).y));
  };
  const GradcheckResult result = gradcheck(loss, bias);
  EXPECT_TRUE(result.passed()) << result;
}

}  // namespace
}  // namespace retrace
