// Expressions compute what the same calls in C++ compute.
#include <gtest/gtest.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/models/study/expression/expression.h>
#include <retrace/models/study/expression/op_table.h>
#include <retrace/nn/nn.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>

namespace retrace {
namespace {

Tensor number(double value) { return full({}, value, f64); }

double value_of(const std::string& text, const std::vector<NamedTensor>& inputs = {}) {
  return parse_expression(text)(inputs).item();
}

void expect_same(const Tensor& a, const Tensor& b, const std::string& text) {
  ASSERT_EQ(a.dtype(), b.dtype()) << text;
  ASSERT_EQ(a.shape(), b.shape()) << text;
  const Tensor x = a.to(f64), y = b.to(f64);
  for (std::size_t k = 0; k < static_cast<std::size_t>(x.numel()); ++k)
    EXPECT_EQ(x.values<double>()[k], y.values<double>()[k]) << text << " at " << k;
}

TEST(Expression, HasThePrecedenceOfArithmetic) {
  const std::vector<NamedTensor> x{{"x", number(5)}};
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("8 - 2 - 1"), 5);
  EXPECT_EQ(value_of("8 / 2 / 2"), 2);
  EXPECT_EQ(value_of("8 / 2 * 2"), 8);
  EXPECT_EQ(value_of("-x * 2 + 1", x), -9);
  EXPECT_EQ(value_of("2 - -x", x), 7);
  EXPECT_EQ(value_of("--x", x), 5);
  EXPECT_EQ(value_of("10 - x - x * x / 5", x), 0);
  EXPECT_EQ(value_of("1 / x", x), 0.2);
  EXPECT_EQ(value_of("1.5e1 - .5"), 14.5);
}

TEST(Expression, ComputesNumbersAsNumbers) {
  EXPECT_EQ(value_of("sqrt(4) * exp(0)"), 2);
  EXPECT_EQ(value_of("pow(2, 3) / max(4)"), 2);
  const Tensor x = tensor({{1, 2}, {3, 4}}, f64);
  expect_same(parse_expression("x / sqrt(4)")({{"x", x}}), x / 2, "x / sqrt(4)");
}

TEST(Expression, NamesItsInputsInTheOrderOfTheirUse) {
  const Expression f = parse_expression("s = matmul(q, transpose(k)); softmax(s + b) * matmul(s, q)");
  EXPECT_EQ(f.inputs(), (std::vector<std::string>{"q", "k", "b"}));
  EXPECT_EQ(f.text(), "s = matmul(q, transpose(k)); softmax(s + b) * matmul(s, q)");
}

TEST(Expression, TakesTheLastPartAndNamesTheOthersOnTheTape) {
  Random random(1);
  const Tensor q = parameter(random.normal({3, 4}), "q"), k = parameter(random.normal({3, 4}), "k");
  const Tape tape;
  const Tensor y = parse_expression("s = matmul(q, transpose(k)) / 2; w = softmax(s);")({{"q", q}, {"k", k}});
  const std::string shown = to_text(tape);
  EXPECT_EQ(y.name(), "w");
  EXPECT_NE(shown.find("w[3, 3]   <- softmax s[3, 3]"), std::string::npos) << shown;
  EXPECT_NE(shown.find("<- transpose k[3, 4]"), std::string::npos) << shown;
  expect_same(y, softmax(matmul(q, transpose(k)) / 2), "softmax");
}

TEST(Expression, DoesNotRenameAnInputThatAnOpReturns) {
  const Tensor x = tensor({1, 2}, f64).named("x");
  const Tensor y = parse_expression("same = to(x, f64); also = x; same + also")({{"x", x}});
  EXPECT_EQ(x.name(), "x");
  EXPECT_EQ(y.at({1}), 4);
}

TEST(Expression, ReadsPartsAsPythonDoes) {
  const Tensor x = Random(2).normal({4, 5}, f64);
  const auto part = [&](const std::string& text) { return parse_expression(text)({{"x", x}}); };
  expect_same(part("x[1]"), slice(x, {1}), "x[1]");
  expect_same(part("x[-1][0]"), slice(x, {-1, 0}), "x[-1][0]");
  expect_same(part("x[:, 1:3]"), slice(x, {all, range(1, 3)}), "x[:, 1:3]");
  expect_same(part("x[1:, :-1]"), slice(x, {range(1), range(SliceIndex::none, -1)}), "x[1:, :-1]");
  expect_same(part("x[::-2, 1 + 1]"), slice(x, {range(SliceIndex::none, SliceIndex::none, -2), 2}), "x[::-2, 2]");
  expect_same(part("x[1:4:2]"), slice(x, {range(1, 4, 2)}), "x[1:4:2]");
  expect_same(part("x[new_axis, all, 2]"), slice(x, {new_axis, all, 2}), "x[new_axis, all, 2]");
  expect_same(part("slice(x, [0:2, 1])"), slice(x, {range(0, 2), 1}), "slice");
  expect_same(part("n = 2; x[n, :n]"), slice(x, {2, range(0, 2)}), "n");
  expect_same(part("-x[0] * 2"), neg(slice(x, {0})) * 2, "-x[0] * 2");
}

TEST(Expression, GivesConstantsTheDtypeOfTheInputs) {
  const Tensor x = tensor({1, 2}, f64), ids = indices({1, 0});
  EXPECT_EQ(parse_expression("x + [1, 2]")({{"x", x}}).dtype(), f64);
  EXPECT_EQ(parse_expression("causal_mask(2) + x")({{"x", x.to(f32)}}).dtype(), f32);
  EXPECT_EQ(parse_expression("take(x, ids)")({{"ids", ids}, {"x", x}}).dtype(), f64);
  EXPECT_EQ(parse_expression("[1, 2] * 2")({}).dtype(), default_dtype());
}

struct Pair {
  std::string text;
  std::function<Tensor()> same;
};

/// Tensors for calls with arguments by position and by name, and for the calls in C++ that these stand for.
class CallInputs {
 public:
  CallInputs() {
    Random random(3);
    const auto add = [&](const std::string& name, const Tensor& x) { inputs.push_back({name, x}); };
    for (const char* name : {"x", "y"}) add(name, random.uniform({4, 4}, 0.5, 1.5, f64));
    add("v", random.normal({4}, f64));
    add("m", indices({{1, 0, 1, 1}}));
    add("ids", indices({2, 0, 2, 3}));
    add("z", random.normal({2, 3, 12}, f64));
    add("h", random.normal({2, 3}, f64));
    add("c", random.normal({2, 3}, f64));
    add("u", random.normal({12, 3}, f64));
    add("b", random.normal({9}, f64));
    add("w", random.normal({2, 2, 6}, f64));
    add("g", random.normal({2, 6}, f64));
    add("memory", random.normal({2, 2, 3}, f64));
  }
  Tensor at(const std::string& name) const {
    for (const NamedTensor& input : inputs)
      if (input.name == name) return input.tensor;
    throw ValueError(name);
  }
  std::vector<NamedTensor> used_by(const Expression& f) const {
    std::vector<NamedTensor> used;
    for (const std::string& name : f.inputs()) used.push_back({name, at(name)});
    return used;
  }
  std::vector<NamedTensor> inputs;
};

TEST(Expression, PassesEveryKindOfArgument) {
  const CallInputs all_inputs;
  const auto [x, y, v, m, ids] =
      std::array{all_inputs.at("x"), all_inputs.at("y"), all_inputs.at("v"), all_inputs.at("m"), all_inputs.at("ids")};
  const auto [z, h, c, u, b] =
      std::array{all_inputs.at("z"), all_inputs.at("h"), all_inputs.at("c"), all_inputs.at("u"), all_inputs.at("b")};
  const Tensor w = all_inputs.at("w"), g = all_inputs.at("g"), memory = all_inputs.at("memory");
  const Tensor z9 = slice(z, {all, all, range(0, 9)}), z3 = slice(z, {all, all, range(0, 3)});
  const Tensor u9 = slice(u, {range(0, 9)}), u3 = slice(u, {range(0, 3)});
  const Tensor lengths = indices({3, 1});
  const AttentionOptions two_heads{.heads = 2, .causal = true};
  const PackedAttentionOptions packed{.heads = 2, .key_size = 2, .layout = PackedLayout::by_head, .queries = 2};
  const std::vector<Pair> pairs{
      {"sub(a=x, b=y)", [=] { return x - y; }},
      {"mul(x, 2)", [=] { return x * full({}, 2, f64); }},
      {"div(x, y)", [=] { return x / y; }},
      {"scale(x, factor=3)", [=] { return scale(x, 3); }},
      {"maximum(x, 1)", [=] { return maximum(x, full({}, 1, f64)); }},
      {"pow(x, 2.5)", [=] { return pow(x, 2.5); }},
      {"pow(x, exponent=y)", [=] { return pow(x, y); }},
      {"exp(x)", [=] { return exp(x); }},
      {"atan2(x, y)", [=] { return atan2(x, y); }},
      {"logit(x / 2) + logit(x, eps=0.1)", [=] { return logit(x / 2) + logit(x, 0.1); }},
      {"clip(x, 0.7, high=1)", [=] { return clip(x, 0.7, 1); }},
      {"where(m, x, y)", [=] { return where(m, x, y); }},
      {"where([1, 0, 1, 1], x, 0)", [=] { return where(m, x, full({}, 0, f64)); }},
      {"masked_fill(x, m, -1)", [=] { return masked_fill(x, m, -1); }},
      {"to(x, f32)", [=] { return x.to(f32); }},
      {"equal(x, b=x)", [=] { return equal(x, x); }},
      {"not_equal(x, 1)", [=] { return not_equal(x, 1); }},
      {"less(x, y)", [=] { return less(x, y); }},
      {"less_equal(x, 1)", [=] { return less_equal(x, 1); }},
      {"where(greater(x, 1), x, 0)", [=] { return where(greater(x, 1), x, 0); }},
      {"greater_equal(x, y)", [=] { return greater_equal(x, y); }},
      {"logical_and(m, less(x, 1))", [=] { return logical_and(m, less(x, 1)); }},
      {"logical_or(m, [0, 1, 0, 0])",
       [=] {
         return logical_or(m, indices({0, 1, 0, 0}));
       }},
      {"logical_not(m)", [=] { return logical_not(m); }},
      {"leaky_relu(-x, slope=0.2)", [=] { return leaky_relu(neg(x), 0.2); }},
      {"matmul(x, y, transpose_b=true)", [=] { return matmul(x, y, {.transpose_b = true}); }},
      {"linear(x, y, v, activation=gelu)", [=] { return linear(x, y, v, Activation::gelu); }},
      {"linear(x, y, none, none)", [=] { return linear(x, y); }},
      {"einsum(\"ij, kj -> ki\", [x, y])",
       [=] {
         return einsum("ij,kj->ki", {x, y});
       }},
      {"sum(x, axis=1)", [=] { return sum(x, 1); }},
      {"mean(x, [0, 1], keepdims=true)",
       [=] {
         return mean(x, {0, 1}, {.keepdims = true});
       }},
      {"min(x, -1)", [=] { return min(x, -1); }},
      {"var(x, 0, correction=1)", [=] { return var(x, 0, {}, 1); }},
      {"std(x, 0)", [=] { return std(x, 0); }},
      {"standard_deviation(x, 0)", [=] { return std(x, 0); }},
      {"norm(x, axis=none)", [=] { return norm(x); }},
      {"norm(x, 0, order=3)", [=] { return norm(x, 0, {}, 3); }},
      {"cumsum(x, axis=0)", [=] { return cumsum(x, 0); }},
      {"argmax(x)", [=] { return argmax(x); }},
      {"softmax(x, axis=0, mask=y)", [=] { return softmax(x, 0, y); }},
      {"log_softmax(x, mask=causal_mask(4))", [=] { return log_softmax(x, -1, causal_mask(4, f64)); }},
      {"layer_norm(x, gamma=y, axes=2, eps=0.1)", [=] { return layer_norm(x, y, {}, {.axes = 2, .eps = 0.1}); }},
      {"residual_layer_norm(x, y, v, v)", [=] { return residual_layer_norm(x, y, v, v); }},
      {"rms_norm(x, eps=0.5)", [=] { return rms_norm(x, {}, 0.5); }},
      {"reshape(x, [2, 8])",
       [=] {
         return reshape(x, {2, 8});
       }},
      {"reshape(x, 16)", [=] { return reshape(x, {16}); }},
      {"transpose(z, [2, 0, 1])",
       [=] {
         return transpose(z, {2, 0, 1});
       }},
      {"transpose(z)", [=] { return transpose(z); }},
      {"slice(x, [1])", [=] { return slice(x, {1}); }},
      {"concat([x, y, [[1, 2, 3, 4]]], axis=0)",
       [=] {
         return concat({x, y, tensor({{1, 2, 3, 4}}, f64)}, 0);
       }},
      {"concat(split(x, [1, 3], axis=1), 1)", [=] { return x; }},
      {"stack([x, y], axis=-1)",
       [=] {
         return stack({x, y}, -1);
       }},
      {"split(x, [1, 3], axis=1)[1]",
       [=] {
         return split(x, {1, 3}, 1)[1];
       }},
      {"split(x, [1, 3])[-2]",
       [=] {
         return split(x, {1, 3})[0];
       }},
      {"squeeze(x[0:1], 0)", [=] { return squeeze(slice(x, {range(0, 1)}), 0); }},
      {"broadcast_to(v, [3, 4])",
       [=] {
         return broadcast_to(v, {3, 4});
       }},
      {"pad(x, [[0, 0], [1, 2]])",
       [=] {
         return pad(x, {{0, 0}, {1, 2}});
       }},
      {"repeat(x, [2, 1])",
       [=] {
         return repeat(x, {2, 1});
       }},
      {"roll(x, 1, axis=0)", [=] { return roll(x, 1, 0); }},
      {"tril(x, diagonal=-1)", [=] { return tril(x, -1); }},
      {"take(x, [0, 2], axis=1)",
       [=] {
         return take(x, indices({0, 2}), 1);
       }},
      {"take(x, 1)", [=] { return take(x, indices(1)); }},
      {"gather(x, [[0], [1], [2], [3]])",
       [=] {
         return gather(x, indices({{0}, {1}, {2}, {3}}));
       }},
      {"embedding(x, [0, 3], padding_idx=3)",
       [=] {
         return embedding(x, indices({0, 3}), {.padding_idx = 3});
       }},
      {"index(x, [ids, [0, 1, 2, -1]])",
       [=] {
         return retrace::index(x, {ids, indices({0, 1, 2, -1})});
       }},
      {"scatter_add(x, ids, y)", [=] { return scatter_add(x, ids, y); }},
      {"sort(x, 0, descending=true).values", [=] { return sort(x, 0, {.descending = true}).values; }},
      {"sort(x).indices", [=] { return sort(x).indices; }},
      {"topk(x, 2, largest=false)", [=] { return topk(x, 2, -1, {.largest = false}).values; }},
      {"cummax(x, 0).values", [=] { return cummax(x, 0).values; }},
      {"median(x).indices", [=] { return median(x).indices; }},
      {"quantile(x, 0.4)", [=] { return quantile(x, 0.4); }},
      {"all_nonzero(m, axis=0)", [=] { return all_nonzero(m, 0); }},
      {"nonzero(m)", [=] { return nonzero(m); }},
      {"masked_select(x, m)", [=] { return masked_select(x, m); }},
      {"cross_entropy(x, ids, reduction=sum, ignore_index=3)",
       [=] { return cross_entropy(x, ids, {.reduction = Reduction::sum, .ignore_index = 3}); }},
      {"cross_entropy(x, ids, label_smoothing=0.1, class_weights=[1, 2, 0.5, 3])",
       [=] {
         return cross_entropy(x, ids, {.label_smoothing = 0.1, .class_weights = tensor({1, 2, 0.5, 3}, f64)});
       }},
      {"cross_entropy(x, softmax(y))", [=] { return cross_entropy(x, softmax(y)); }},
      {"nll(x, [2, 0, 2, 3], none)", [=] { return nll(x, ids, {.reduction = Reduction::none}); }},
      {"mse(x, y, sum)", [=] { return mse(x, y, Reduction::sum); }},
      {"bce_with_logits(x, y, pos_weight=2)", [=] { return bce_with_logits(x, y, {.pos_weight = full({}, 2, f64)}); }},
      {"triplet_margin(x, y, 2 * x, margin=3)", [=] { return triplet_margin(x, y, 2 * x, {.margin = 3}); }},
      {"huber(x, y, 0.5, sum)", [=] { return huber(x, y, 0.5, Reduction::sum); }},
      {"kl_divergence(x, y, log_target=true)", [=] { return kl_divergence(x, y, {.log_target = true}); }},
      {"dropout(x, 0.5, seed=7)",
       [=] {
         Random of_7(7);
         return dropout(x, 0.5, &of_7);
       }},
      {"attention(x, y, x, heads=2, causal=true)", [=] { return attention(x, y, x, two_heads); }},
      {"attention(x, y, x, mask=m)", [=] { return attention(x, y, x, {.mask = m}); }},
      {"attention_with_weights(x, y, x).weights", [=] { return attention_with_weights(x, y, x).weights; }},
      {"attention_with_weights(x, y, x)", [=] { return attention_with_weights(x, y, x).y; }},
      {"split_heads(x, 2)", [=] { return split_heads(x, 2); }},
      {"combine_heads(split_heads(x, heads=2))", [=] { return x; }},
      {"causal_mask(3, 4, dtype=f64)", [=] { return causal_mask(3, 4, f64); }},
      {"padding_mask([3, 1], 3, f32)", [=] { return padding_mask(lengths, 3, f32); }},
      {"rotary(x, 2, first=1, pairs=halves)",
       [=] { return rotary(x, {.heads = 2, .first = 1, .pairs = RotaryPairs::halves}); }},
      {"rotary(x, size=2, positions=[3, 0, 1, 1])",
       [=] {
         return rotary(x, {.size = 2, .positions = indices({3, 0, 1, 1})});
       }},
      {"packed_attention(z, 2, heads=2, layout=by_head, queries=2)", [=] { return packed_attention(z, packed); }},
      {"packed_attention_with_weights(z, key_size=2, heads=2, layout=by_head, queries=2).weights",
       [=] { return packed_attention_with_weights(z, packed).weights; }},
      {"lstm_sequence(z, h, c, u, lengths=[3, 1])", [=] { return lstm_sequence(z, h, c, u, lengths).y; }},
      {"s = lstm_sequence(z, h, c, u); s.c + s.h",
       [=] {
         const LstmSequence all_steps = lstm_sequence(z, h, c, u);
         return all_steps.c + all_steps.h;
       }},
      {"lstm_step(z[:, 0], h, c, u).c",
       [=] {
         return lstm_step(slice(z, {all, 0}), h, c, u).c;
       }},
      {"gru_sequence(z[:, :, 0:9], h, u[0:9], b).h", [=] { return gru_sequence(z9, h, u9, b).h; }},
      {"gru_step(z[:, 0, 0:9], h, u[0:9], b)",
       [=] {
         return gru_step(slice(z9, {all, 0}), h, u9, b);
       }},
      {"rnn_sequence(z[:, :, 0:3], h, u[0:3], activation=relu)",
       [=] { return rnn_sequence(z3, h, u3, Activation::relu).y; }},
      {"rnn_step(z[:, 0, 0:3], h, u[0:3])",
       [=] {
         return rnn_step(slice(z3, {all, 0}), h, u3);
       }},
      {"gated_memory(memory, memory, w, g, forget_bias=1).forget_gate",
       [=] { return gated_memory(memory, memory, w, g, {.forget_bias = full({}, 1, f64)}).forget_gate; }},
      {"gated_memory(memory, memory, w[:, :, 0:3], g[:, 0:3], coupled=true)",
       [=] {
         return gated_memory(memory, memory, slice(w, {all, all, range(0, 3)}), slice(g, {all, range(0, 3)}),
                             {.coupled = true})
             .memory;
       }},
  };
  for (const Pair& pair : pairs) {
    const Expression f = parse_expression(pair.text);
    expect_same(f(all_inputs.used_by(f)), pair.same(), pair.text);
  }
}

TEST(Expression, KnowsEveryOpButThoseOfOnesOwn) {
  constexpr std::string_view ops[] = {
#define OP(name, ...) #name,
#define COMPOSITE(name, ...) #name,
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
  };
  const std::set<std::string_view> of_functions{"custom_op", "on_gradient"};  // an expression has none to give them
  for (const std::string_view name : ops)
    EXPECT_EQ(expressions::find_op(name) != nullptr, !of_functions.contains(name)) << name;
  EXPECT_EQ(expressions::op_names().size() + of_functions.size(), std::size(ops));
}

TEST(Expression, IsAFunctionThatGradientsCanBeCheckedOf) {
  const Expression f = parse_expression(
      "w = attention_with_weights(q, k, v, heads=2).weights; layer_norm(matmul(w, v), eps=0.1) + dropout(q, 0.5)[0, "
      "0]");
  Random random(4);
  const Tensors inputs{random.normal({3, 4}), random.normal({3, 4}), random.normal({3, 4})};
  const GradcheckResult result = gradcheck(
      [&](const Tensors& in) {
        return Tensors{f({{"q", in[0]}, {"k", in[1]}, {"v", in[2]}})};
      },
      inputs);
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_TRUE(result.not_exact.empty()) << result;
}

TEST(Expression, NeedsNoDeepStackForALongSum) {
  std::string sum = "x";
  for (int k = 0; k < 100000; ++k) sum += " + 1";
  EXPECT_EQ(value_of(sum, {{"x", number(0)}}), 100000);
  EXPECT_EQ(value_of(std::string(100000, '-') + "x", {{"x", number(3)}}), 3);
}

}  // namespace
}  // namespace retrace
