// The constants of a call that records list for programs.
#include <retrace/core/tape/attribute.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace retrace {
namespace {

std::string value_text(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          std::string list;
          for (const std::int64_t number : v) list += text(list.empty() ? "" : " ", number);
          return "[" + list + "]";
        } else {
          return text(v);
        }
      },
      value);
}

/// "axis = 1, keepdims = false" of the last record of f(x [2, 3, 4]).
std::string attributes_of(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = ones({2, 3, 4}, f64).watch();
  Tape tape;
  f(x);
  std::string result;
  for (const Attribute& attribute : tape.records().back()->attribute_list())
    result += text(result.empty() ? "" : ", ", attribute.name, " = ", value_text(attribute.value));
  return result;
}

TEST(Attributes, ArithmeticListsItsConstants) {
  EXPECT_EQ(attributes_of([](auto& x) { return scale(x, -1.5); }), "factor = -1.5");
  EXPECT_EQ(attributes_of([](auto& x) { return x - 2.0; }), "offset = -2");
  EXPECT_EQ(attributes_of([](auto& x) { return pow(x, 3); }), "exponent = 3");
  EXPECT_EQ(attributes_of([](auto& x) { return pow(x, x); }), "");
  EXPECT_EQ(attributes_of([](auto& x) { return clip(x, -1, 0.5); }), "low = -1, high = 0.5");
  EXPECT_EQ(attributes_of([](auto& x) { return leaky_relu(x, 0.25); }), "slope = 0.25");
  EXPECT_EQ(attributes_of([](auto& x) { return elu(x, 0.25); }), "alpha = 0.25");
  EXPECT_EQ(attributes_of([](auto& x) { return masked_fill(x, indices({0, 1, 0, 0}), 7); }), "value = 7");
  EXPECT_EQ(attributes_of([](auto& x) { return x.to(f32); }), "dtype = f32");
  EXPECT_EQ(attributes_of([](auto& x) { return x * x; }), "");
}

TEST(Attributes, ReductionsListTheirAxes) {
  EXPECT_EQ(attributes_of([](auto& x) { return sum(x); }), "axes = [0 1 2], keepdims = false");
  EXPECT_EQ(attributes_of([](auto& x) { return norm(x, -1); }), "axes = [2], keepdims = false");
  EXPECT_EQ(attributes_of([](auto& x) { return max(x, {0, 2}, {.keepdims = true}); }), "axes = [0 2], keepdims = true");
  EXPECT_EQ(attributes_of([](auto& x) { return prod(sum(x)); }), "axes = [], keepdims = false");
  EXPECT_EQ(attributes_of([](auto& x) { return cumsum(x, -2); }), "axis = 1");
  EXPECT_EQ(attributes_of([](auto& x) { return cumprod(x, -2); }), "axis = 1");
}

TEST(Attributes, ShapeOpsListWhereElementsLie) {
  EXPECT_EQ(attributes_of([](auto& x) { return reshape(x, {6, 4}); }), "shape = [6 4]");
  EXPECT_EQ(attributes_of([](auto& x) { return broadcast_to(x, {5, 2, 3, 4}); }), "shape = [5 2 3 4]");
  EXPECT_EQ(attributes_of([](auto& x) { return transpose(x, {2, 0, 1}); }), "permutation = [2 0 1]");
  EXPECT_EQ(attributes_of([](auto& x) { return x[1]; }), "offset = 12, strides = [4 1]");
  EXPECT_EQ(attributes_of([](auto& x) {
              return slice(x, {all, 1, new_axis, range(3, 0, -2)});
            }),
            "offset = 7, strides = [12 0 -2]");
  EXPECT_EQ(attributes_of([](auto& x) { return split(x, {1, 2}, 1)[1]; }), "offset = 4, strides = [12 4 1]");
  EXPECT_EQ(attributes_of([](auto& x) { return concat({x, x}, -1); }), "axis = 2");
  EXPECT_EQ(attributes_of([](auto& x) { return flip(x, 1); }), "axis = 1");
  EXPECT_EQ(attributes_of([](auto& x) { return tril(x, -1); }), "diagonal = -1");
  EXPECT_EQ(attributes_of([](auto& x) { return triu(x, 2); }), "diagonal = 2");
  EXPECT_EQ(attributes_of([](auto& x) { return diagonal(x, -1); }), "offset = 4, strides = [12 5]");
  EXPECT_EQ(attributes_of([](auto& x) { return diag_embed(x[0][0], 1); }), "offset = 1, strides = [6]");
  EXPECT_EQ(attributes_of([](auto& x) { return pad(x, {{0, 1}, {2, 3}, {4, 0}}); }), "before = [0 2 4]");
}

TEST(Attributes, ProductsListTransposesAndActivations) {
  EXPECT_EQ(attributes_of([](auto& x) { return matmul(x, x, {.transpose_b = true}); }),
            "transpose_a = false, transpose_b = true");
  const Tensor weight = ones({5, 4}, f64);
  EXPECT_EQ(attributes_of([=](auto& x) { return linear(x, weight); }), "activation = none");
  EXPECT_EQ(attributes_of([=](auto& x) { return linear(x, weight, {}, Activation::gelu_tanh); }),
            "activation = gelu_tanh");
}

TEST(Attributes, OpsOfRowsListTheirAxes) {
  EXPECT_EQ(attributes_of([](auto& x) { return softmax(x, -2); }), "axis = 1");
  EXPECT_EQ(attributes_of([](auto& x) { return log_softmax(x); }), "axis = 2");
  const Tensor gamma = ones({4}, f64);
  EXPECT_EQ(attributes_of([](auto& x) { return layer_norm(x, {}, {}, {.axes = 2, .eps = 0.5}); }),
            "axes = 2, eps = 0.5");
  EXPECT_EQ(attributes_of([](auto& x) { return residual_layer_norm(x, x, {}, {}, {.eps = 0.5}); }),
            "axes = 1, eps = 0.5");
  EXPECT_EQ(attributes_of([](auto& x) { return rms_norm(x, {}, 0.25); }), "eps = 0.25");
}

TEST(Attributes, NormsNameTheInputsThatTheyHave) {
  const Tensor x = ones({2, 3, 4}, f64).watch(), affine = ones({4}, f64);
  Tape tape;
  layer_norm(x, {}, affine), residual_layer_norm(x, x, {}, affine), layer_norm(x, affine);
  const std::vector<std::vector<std::string>> names{{"x", "beta"}, {"x", "residual", "beta"}, {"x", "gamma"}};
  for (std::size_t k = 0; k < names.size(); ++k) EXPECT_EQ(tape.records()[k]->input_names(), names[k]);
}

TEST(Attributes, OpsThatPickListWhereAndByWhatChance) {
  EXPECT_EQ(attributes_of([](auto& x) { return take(x, indices({0, 1}), -2); }), "axis = 1");
  EXPECT_EQ(attributes_of([](auto& x) { return gather(x, full({2, 3, 1}, 2, i64), -1); }), "axis = 2");
  const Tensor x = ones({3}, f64).watch();
  Tape tape;
  Random random(2);
  const Tensor y = dropout(x, 0.5, &random);
  const AttributeList list = tape.records().back()->attribute_list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(std::get<double>(list[0].value), 0.5);
  EXPECT_EQ(list[1].name, "mask");
  EXPECT_EQ(to_text(std::get<Tensor>(list[1].value)), to_text(y.detach())) << "x is 1, so y is the mask";
}

TEST(Attributes, LossesListTheirReduction) {
  EXPECT_EQ(attributes_of([](auto& x) { return mse(x, x); }), "reduction = mean");
  EXPECT_EQ(attributes_of([](auto& x) { return smooth_l1(x, x, 0.5); }), "reduction = mean, beta = 0.5");
  EXPECT_EQ(attributes_of([](auto& x) { return kl_divergence(x, x); }), "reduction = mean, log_target = false");
  EXPECT_EQ(attributes_of([](auto& x) { return bce_with_logits(x, x, Reduction::none); }), "reduction = none");
  const Tensor labels = zeros({2, 3}, i64);
  EXPECT_EQ(attributes_of([=](auto& x) {
              return ctc(x, labels, indices({3, 1}), indices({0, 0}), {.blank = 1});
            }),
            "reduction = mean, blank = 1, zero_infinity = false");
  EXPECT_EQ(attributes_of([=](auto& x) { return nll(x, labels, {.reduction = Reduction::sum}); }), "reduction = sum");
  EXPECT_EQ(attributes_of([=](auto& x) { return cross_entropy(x, labels, {.ignore_index = -1}); }),
            "reduction = mean, ignore_index = -1");
  EXPECT_EQ(attributes_of([](auto& x) { return cross_entropy(x, x); }), "reduction = mean");
}

TEST(Attributes, AttentionListsItsHeadsAndWhatHidesKeys) {
  EXPECT_EQ(attributes_of([](auto& x) { return attention(x, x, x, {.heads = 2, .causal = true}); }),
            "heads = 2, causal = true");
  EXPECT_EQ(attributes_of([](auto& x) { return attention(x, x, x, {.mask = causal_mask(3, 3, x.dtype())}); }),
            "heads = 1, causal = false, zeros = strong");
  EXPECT_EQ(attributes_of([](auto& x) {
              return packed_attention(x, {.key_size = 1, .layout = PackedLayout::by_head, .queries = 2});
            }),
            "heads = 1, causal = false, key_size = 1, layout = by_head, queries = 2");
}

TEST(Attributes, RotaryListsWhatDecidesTheAngles) {
  EXPECT_EQ(attributes_of(
                [](auto& x) { return rotary(x, {.heads = 2, .first = 3, .base = 50, .pairs = RotaryPairs::halves}); }),
            "heads = 2, first = 3, base = 50, pairs = halves");
}

TEST(Attributes, RotaryListsTheAnglesThatItWasGiven) {
  const Tensor x = ones({2, 3, 4}, f64).watch(), table = counted({9, 2});
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves}) {
    Tape tape;
    rotary(x, {.pairs = pairs, .positions = indices({8, 0, 1}), .cosines = table, .sines = neg(table)});
    const AttributeList list = tape.records().back()->attribute_list();
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list[2].name, "c");
    EXPECT_TRUE(same_bits(std::get<Tensor>(list[2].value), take(table, indices({8, 0, 1}))));
    EXPECT_EQ(list[3].name, "s");
    EXPECT_TRUE(same_bits(std::get<Tensor>(list[3].value), take(neg(table), indices({8, 0, 1}))));
  }
}

TEST(Attributes, AttentionListsTheMaskWhereItsWeightsAreNotStored) {
  const Tensor x = Random(1).normal({200, 2}, f64).watch(), mask = causal_mask(200, f64);
  Tape tape;
  attention(x, x, x, {.mask = mask});
  const AttributeList list = tape.records().back()->attribute_list();
  ASSERT_EQ(list.back().name, "mask");
  EXPECT_EQ(std::get<Tensor>(list.back().value).shape(), Shape({200, 200}));
}

TEST(Attributes, RecurrentSequencesListTheirLengthsAndActivations) {
  const Tensor h = zeros({2, 4}, f64), weight = ones({4, 4}, f64), lengths = indices({3, 1});
  EXPECT_EQ(attributes_of([=](auto& x) { return rnn_sequence(x, h, weight).y; }), "activation = tanh");
  const Tensor x = ones({2, 3, 4}, f64).watch();
  Tape tape;
  lstm_sequence(x, zeros({2, 1}, f64), zeros({2, 1}, f64), ones({4, 1}, f64), lengths);
  rnn_sequence(x, h, weight, Activation::relu, lengths);
  for (const Record* record : tape.records()) {
    const AttributeList list = record->attribute_list();
    ASSERT_EQ(list.front().name, "lengths");
    EXPECT_EQ(std::get<Tensor>(list.front().value).values<std::int64_t>()[1], 1);
  }
  EXPECT_EQ(std::get<std::string>(tape.records().back()->attribute_list().back().value), "relu");
}

TEST(Attributes, AMemoryNamesTheBiasesThatItHas) {
  const Tensor m = ones({3, 2}, f64).watch(), bias = zeros({}, f64).watch();
  Tape tape;
  gated_memory(m, m, ones({3, 4}, f64), ones({4}, f64), {.forget_bias = bias});
  gated_memory(m, m, m, ones({2}, f64), {.input_bias = bias, .coupled = true});
  const auto records = tape.records();
  EXPECT_EQ(records[0]->input_names().back(), "b_f");
  EXPECT_EQ(records[1]->input_names().back(), "b_i");
  EXPECT_EQ(std::get<bool>(records[1]->attribute_list().front().value), true);
}

TEST(Attributes, EmptyTensorsHaveThemToo) {
  const Tensor x = ones({3, 0}, f64).watch();
  Tape tape;
  flip(x, 0), pad(x, {{1, 0}, {0, 0}}), transpose(x), max(x, 0), x[2], slice(x, {range(0, 0)});
  for (const Record* record : tape.records()) EXPECT_FALSE(record->attribute_list().empty());
}

TEST(Attributes, AnOpOfAUserSaysSo) {
  const auto identity_of_own = [](const Tensor& x) {
    return custom_op(
        "tanh", {x}, [](const Tensors& in) { return in[0]; },
        [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy}; });
  };
  EXPECT_EQ(attributes_of(identity_of_own), "custom = true");
}

}  // namespace
}  // namespace retrace
