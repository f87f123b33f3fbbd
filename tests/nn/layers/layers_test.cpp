// RmsNorm, Dropout, Mlp and Sequential against plain formulas.
#include <retrace/nn/layers/layers.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/nn/module/module_test.h>

namespace retrace {
namespace {

class Layers : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{1};
  Tensor x = random.normal({2, 5, 3});
};

TEST_F(Layers, RmsNormIsItsFormula) {
  const RmsNorm norm(3, 0.1);
  copy_values(random.normal({3}), norm.weight);
  EXPECT_LT(difference(norm(x), x / sqrt(mean(square(x), -1, {.keepdims = true}) + 0.1) * norm.weight), 1e-14);
  EXPECT_THROW(norm(zeros({2, 4})), ShapeError);
}

TEST_F(Layers, DropoutIsForTrainingOnly) {
  const Dropout layer(0.5);
  Random one(2), again(2);
  EXPECT_TRUE(same_bits(layer(x), x));
  const Tensor y = layer(x, &one);
  EXPECT_TRUE(same_bits(y, dropout(x, 0.5, &again)));
  EXPECT_FALSE(same_bits(y, x));
  EXPECT_TRUE(same_bits(Dropout(0)(x, &one), x));
  EXPECT_EQ(count_parameters(layer), 0);
  EXPECT_EQ(message_of([] { Dropout(-0.1); }), "Dropout: the probability of dropout -0.1 must lie from 0 to 1");
}

TEST_F(Layers, MlpIsItsLayersWithAnActivationBetween) {
  const Mlp mlp({3, 4, 6, 2}, random, {.activation = Activation::gelu, .dropout = 0.3});
  for (const Linear& layer : mlp.layers) copy_values(random.normal(layer.bias->shape()), *layer.bias);
  const auto by_hand = [&](Random* masks) {
    Tensor y = x;
    for (std::size_t k = 0; k < 3; ++k) {
      y = matmul(y, mlp.layers[k].weight, {.transpose_b = true}) + *mlp.layers[k].bias;
      if (k < 2) y = dropout(gelu(y), 0.3, masks);
    }
    return y;
  };
  EXPECT_LT(difference(mlp(x), by_hand(nullptr)), 1e-14);
  Random one(2), again(2);
  EXPECT_LT(difference(mlp(x, &one), by_hand(&again)), 1e-14);
  EXPECT_EQ(parameter_names_of(mlp).front(), "layers.0.weight");
  EXPECT_EQ(count_parameters(Mlp({3, 2}, random, {.bias = false})), 6);
  EXPECT_EQ(message_of([&] { Mlp({3}, random); }),
            "Mlp: 1 sizes; give those of the input, of each hidden layer and of y");
  EXPECT_EQ(message_of([&] {
              Mlp({3, 2}, random, {.dropout = 2});
            }),
            "Mlp: the probability of dropout 2 must lie from 0 to 1");
}

TEST_F(Layers, SequentialCallsItsPartsInOrder) {
  const Sequential model(
      Linear(3, 4, random), [](const Tensor& v) { return tanh(v); }, Lstm(4, 6, random),
      MultiHeadAttention(6, random, {.heads = 2}), Linear(6, 2, random));
  const Tensor seen = model.get<3>()(model.get<2>()(tanh(model.get<0>()(x))).y).y;
  EXPECT_TRUE(same_bits(model(x), model.get<4>()(seen)));
  const std::vector<std::string> names = parameter_names_of(model);
  EXPECT_EQ(names.front(), "0.weight");
  EXPECT_EQ(names[2], "2.weight_ih") << "a function has a number, too, as in PyTorch";
  EXPECT_EQ(names.back(), "4.bias");
  const auto copy = clone(model);
  EXPECT_EQ(weights_hash(copy), weights_hash(model));
  EXPECT_TRUE(same_bits(Sequential()(x), x));
}

/// Each part draws from the one generator, whatever else it takes.
TEST_F(Layers, SequentialHandsTheGeneratorToEveryPartWithDropout) {
  const TransformerLayerOptions form{.heads = 2, .dropout = 0.5};
  const Sequential model(Dropout(0.5), Lstm(3, 4, random, {.layers = 2, .dropout = 0.5}),
                         Mlp({4, 6, 4}, random, {.dropout = 0.5}), MultiHeadAttention(4, random, {.dropout = 0.5}),
                         TransformerEncoderLayer(4, random, form), Sequential(Dropout(0.5)));
  Random one(2), again(2);
  Tensor y = dropout(x, 0.5, &again);
  y = model.get<1>()(y, {}, {}, &again).y;
  y = model.get<2>()(y, &again);
  y = model.get<3>()(y, {.random = &again}).y;
  y = model.get<4>()(y, {.random = &again});
  EXPECT_TRUE(same_bits(model(x, &one), dropout(y, 0.5, &again)));
  EXPECT_TRUE(same_bits(model(x), model(x, nullptr)));
  EXPECT_EQ(one.state(), again.state());
}

}  // namespace
}  // namespace retrace
