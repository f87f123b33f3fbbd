// Values that masks, causal attention and lengths hide reach no result and no gradient of an op, whatever they are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/hidden_values.h>
#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

constexpr std::int64_t batch = 2;

/// A mask [B, 1, 1, keys], 1 where sample b sees the key, and 1 - mask as [B, keys, 1] for rows of k and v.
struct HiddenKeyRows {
  Tensor visible, rows;

  explicit HiddenKeyRows(std::int64_t keys)
      : visible(ones({batch, 1, 1, keys}, i64)), rows(zeros({batch, keys, 1}, i64)) {
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t b = 0; b < batch; ++b) {
        const bool hides = (j + b) % 3 == 0 && j > 0;
        const std::size_t place = static_cast<std::size_t>(b * keys + j);
        visible.mutable_values<std::int64_t>()[place] = hides ? 0 : 1;
        rows.mutable_values<std::int64_t>()[place] = hides ? 1 : 0;
      }
  }
};

struct Sizes {
  std::string name;
  std::int64_t queries, keys, features;
  int heads;
};
/// In registers, by matrix products, and in tiles.
const std::vector<Sizes> all_sizes{
    {"small", 3, 4, 4, 2}, {"of one head", 2, 4, 3, 1}, {"medium", 20, 37, 24, 3}, {"long", 190, 200, 2, 1}};

Tensors y_and_weights(const AttentionResult& result) { return {result.y, result.weights}; }

/// attention with and without weights; the mask as i64, and as biases of each head that hide the same keys.
std::vector<HidingCase> masked_attention(const Sizes& n, Dtype dtype) {
  Random random(3);
  const HiddenKeyRows hidden(n.keys);
  const Tensor biases = random.normal({n.heads, n.queries, n.keys}, dtype);
  const Tensor additive = where(hidden.visible, biases, -std::numeric_limits<double>::infinity());
  const std::vector<InputWithHidden> inputs{{random.normal({batch, n.queries, n.features}, dtype)},
                                            {random.normal({batch, n.keys, n.features}, dtype), hidden.rows},
                                            {random.normal({batch, n.keys, n.features}, dtype), hidden.rows}};
  std::vector<HidingCase> cases;
  for (const bool causal : {false, true})
    for (const Tensor& mask : {hidden.visible, additive}) {
      const AttentionOptions options{.heads = n.heads, .causal = causal, .mask = mask};
      const std::string name = text(n.name, " attention", causal ? ", causal" : "", " with a mask of ", mask.dtype());
      cases.push_back({.name = name,
                       .function = [=](const Tensors& in) { return Tensors{attention(in[0], in[1], in[2], options)}; },
                       .inputs = inputs,
                       .dtype = dtype});
      cases.push_back(
          {.name = name + " and weights",
           .function =
               [=](const Tensors& in) { return y_and_weights(attention_with_weights(in[0], in[1], in[2], options)); },
           .inputs = inputs,
           .dtype = dtype});
    }
  return cases;
}

/// [.., rows, 1], 1 (i64) from `first` on.
Tensor rows_from(std::int64_t first, std::int64_t rows) {
  return reshape(greater_equal(arange(0, rows, 1, i64), first), {rows, 1});
}

/// The last keys of causal attention are seen only by the last queries, which get no cotangent: what these read is
/// padding, too.
HidingCase causal_attention(const Sizes& n, Dtype dtype) {
  Random random(4);
  const std::int64_t padded = n.queries / 2;
  const AttentionOptions options{.heads = n.heads, .causal = true};
  return {.name = n.name + " causal attention",
          .function = [=](const Tensors& in) { return Tensors{attention(in[0], in[1], in[2], options)}; },
          .inputs = {{random.normal({batch, n.queries, n.features}, dtype), rows_from(n.queries - padded, n.queries)},
                     {random.normal({batch, n.keys, n.features}, dtype), rows_from(n.keys - padded, n.keys)},
                     {random.normal({batch, n.keys, n.features}, dtype), rows_from(n.keys - padded, n.keys)}},
          .unseen = {rows_from(n.queries - padded, n.queries)},
          .dtype = dtype};
}

/// Queries that see no key, by a mask and as the first of more queries than keys.
std::vector<HidingCase> blind_queries(Dtype dtype) {
  Random random(5);
  const Tensor visible = indices({{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 0, 0}});
  const auto qkv = [&](std::int64_t queries, const Tensor& blind) {
    return std::vector<InputWithHidden>{{random.normal({batch, queries, 4}, dtype), blind},
                                        {random.normal({batch, 3, 4}, dtype)},
                                        {random.normal({batch, 3, 4}, dtype)}};
  };
  const auto run = [](const AttentionOptions& options) {
    return [=](const Tensors& in) { return y_and_weights(attention_with_weights(in[0], in[1], in[2], options)); };
  };
  return {{.name = "a mask that hides all keys of some queries",
           .function = run({.heads = 2, .mask = visible}),
           .inputs = qkv(4, indices({{1}, {0}, {0}, {1}})),
           .dtype = dtype},
          {.name = "causal attention of more queries than keys",
           .function = run({.heads = 2, .causal = true}),
           .inputs = qkv(4, indices({{1}, {0}, {0}, {0}})),
           .dtype = dtype}};
}

/// Rows of q, k and v side by side. Queries read their own row, so the hidden ones are no queries.
std::vector<HidingCase> packed(Dtype dtype) {
  Random random(6);
  std::vector<HidingCase> cases;
  for (const PackedLayout layout : {PackedLayout::by_head, PackedLayout::by_kind})
    for (const std::int64_t rows : {5, 40}) {
      const PackedAttentionOptions options{.heads = 2,
                                           .key_size = 2,
                                           .layout = layout,
                                           .queries = rows - 2,
                                           .mask = less(arange(0, rows, 1, i64), rows - 2)};
      cases.push_back(
          {.name = text("packed attention of ", rows, " rows"),
           .function = [=](const Tensors& in) { return y_and_weights(packed_attention_with_weights(in[0], options)); },
           .inputs = {{random.normal({batch, rows, 14}, dtype), rows_from(rows - 2, rows)}},
           .dtype = dtype});
    }
  return cases;
}

std::vector<HidingCase> row_ops(Dtype dtype) {
  Random random(7);
  const double hides = -std::numeric_limits<double>::infinity();
  const Tensor mask = tensor({{0, hides, 0.5, hides}, {hides, hides, hides, hides}, {0, 0, 0, 0}}, dtype);
  const Tensor is_hidden = equal(mask, hides);
  const auto case_of = [&](const char* name, auto f) {
    return HidingCase{.name = name,
                      .function = [=](const Tensors& in) { return Tensors{f(in[0])}; },
                      .inputs = {{random.normal({3, 4}, dtype), is_hidden}},
                      .dtype = dtype};
  };
  const Tensor rows = indices({{1, 1, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}});
  HidingCase ignored = case_of("cross_entropy, ignored rows", [](const Tensor& x) {
    return cross_entropy(x, indices({-1, 2, 0}), {.ignore_index = -1});
  });
  HidingCase weighted = case_of("cross_entropy, smoothed, ignored rows", [](const Tensor& x) {
    return cross_entropy(x, indices({-1, 2, 0}), {.ignore_index = -1, .label_smoothing = 0.2});
  });
  HidingCase ignored_nll = case_of("nll, ignored rows", [](const Tensor& x) {
    return nll(x, indices({-1, 2, 0}), {.ignore_index = -1});
  });
  for (HidingCase* one : {&ignored, &weighted, &ignored_nll}) one->inputs[0].hidden = rows;
  return {case_of("softmax", [=](const Tensor& x) { return softmax(x, -1, mask); }),
          case_of("softmax along axis 0", [=](const Tensor& x) { return softmax(x, 0, mask); }),
          case_of("log_softmax", [=](const Tensor& x) { return masked_fill(log_softmax(x, -1, mask), is_hidden, 0); }),
          case_of("masked_fill", [=](const Tensor& x) { return masked_fill(x, is_hidden, 3); }),
          case_of("where", [=](const Tensor& x) { return where(is_hidden, 0.5, x); }),
          case_of("masked_select", [=](const Tensor& x) { return masked_select(x, logical_not(is_hidden)); }),
          ignored,
          weighted,
          ignored_nll};
}

std::vector<HidingCase> recurrent_sequences(Dtype dtype) {
  Random random(8);
  const std::int64_t time = 4, hidden = 3;
  const Tensor lengths = indices({2, 4}), is_padding = unsqueeze(indices({{0, 0, 1, 1}, {0, 0, 0, 0}}), 2);
  const auto projected = [&](std::int64_t gates) {
    return InputWithHidden{random.normal({batch, time, gates * hidden}, dtype), is_padding};
  };
  const auto state = [&] { return InputWithHidden{random.normal({batch, hidden}, dtype)}; };
  const auto weight = [&](std::int64_t gates) {
    return InputWithHidden{random.normal({gates * hidden, hidden}, dtype)};
  };
  return {{.name = "lstm_sequence",
           .function =
               [=](const Tensors& in) {
                 const LstmSequence r = lstm_sequence(in[0], in[1], in[2], in[3], lengths);
                 return Tensors{r.y, r.h, r.c};
               },
           .inputs = {projected(4), state(), state(), weight(4)},
           .dtype = dtype},
          {.name = "gru_sequence",
           .function =
               [=](const Tensors& in) {
                 const RnnSequence r = gru_sequence(in[0], in[1], in[2], in[3], lengths);
                 return Tensors{r.y, r.h};
               },
           .inputs = {projected(3), state(), weight(3), {random.normal({3 * hidden}, dtype)}},
           .dtype = dtype},
          {.name = "rnn_sequence",
           .function =
               [=](const Tensors& in) {
                 const RnnSequence r = rnn_sequence(in[0], in[1], in[2], Activation::relu, lengths);
                 return Tensors{r.y, r.h};
               },
           .inputs = {projected(1), state(), weight(1)},
           .dtype = dtype}};
}

std::vector<HidingCase> all_cases(Dtype dtype) {
  std::vector<HidingCase> cases;
  const auto append = [&](std::vector<HidingCase> more) {
    for (HidingCase& one : more) cases.push_back(std::move(one));
  };
  for (const Sizes& n : all_sizes) {
    append(masked_attention(n, dtype));
    append({causal_attention(n, dtype)});
  }
  append(blind_queries(dtype));
  append(packed(dtype));
  append(row_ops(dtype));
  append(recurrent_sequences(dtype));
  return cases;
}

class HiddenValues : public testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, HiddenValues, testing::Values(f32, f64, dual));

TEST_P(HiddenValues, ReachNothingOfAnyOp) {
  for (const HidingCase& one : all_cases(GetParam())) expect_hidden(one);
}

/// Every declaration of ops.h with a mask, lengths, causal attention or ignored labels among its parameters or options.
TEST(HiddenValuesOfOps, AreTestedForEveryOpThatHides) {
  const std::string ops = source_text("ops/ops.h");
  NameSet tested{"attention",
                 "softmax",
                 "log_softmax",
                 "masked_fill",
                 "where",
                 "masked_select",
                 "nll",
                 "cross_entropy",
                 "lstm_sequence",
                 "gru_sequence",
                 "rnn_sequence",
                 "attention_with_weights",
                 "packed_attention",
                 "packed_attention_with_weights"};
  NameSet hiding;
  const std::regex declaration(R"(\n(?:Tensor|[A-Z][A-Za-z]+) ([a-z_0-9]+)\(([^;]*)\);)");
  for (std::sregex_iterator it(ops.begin(), ops.end(), declaration), end; it != end; ++it)
    if (std::regex_search((*it)[2].str(),
                          std::regex("mask|condition|Tensor& lengths = |AttentionOptions|CrossEntropyOptions")))
      hiding.insert((*it)[1]);
  EXPECT_EQ(missing(hiding, tested), "");
  EXPECT_GT(hiding.size(), 10u);
}

/// A NaN that a query sees reaches that query, and no other.
TEST(HiddenValuesOfOps, DoNotIncludeWhatIsSeen) {
  for (const std::int64_t length : {4, 40, 300}) {
    Tensor x = Random(9).normal({1, length, 2}, f32);
    x.mutable_values<float>()[4] = std::numeric_limits<float>::quiet_NaN();  // of row 2
    const Tensor y = attention(x, x, x, {.causal = true});
    for (std::int64_t row = 0; row < length; ++row)
      EXPECT_EQ(std::isnan(y.at({0, row, 0})), row >= 2) << length << ", " << row;
  }
}

/// Of every activation, in linear, whose slope may be NaN, too; and of the normalisations, which have no option for it.
TEST(StrongZeros, ARowWithoutAGradientGivesNone) {
  for (const Dtype dtype : {f32, f64}) {
    const auto expect_none = [&](const std::string& name, const Tensors& weights, const auto& f) {
      for (const double value : hidden_values(dtype)) {
        const Tensor x =
            parameter(where(tensor({{0}, {1}, {0}}, i64), full({}, value, dtype), Random(3).normal({3, 4}, dtype)));
        Tape tape;
        const Tensor y = f(x), dy = where(tensor({{0}, {1}, {0}}, i64), full({}, 0, dtype), ones(y.shape(), dtype));
        tape.backward({y}, {dy});
        EXPECT_TRUE(same_bits(x.grad()[1], zeros({4}, dtype))) << name << ", " << value;
        for (const Tensor& w : weights) {
          EXPECT_TRUE(std::isfinite(sum(w.grad()).item())) << name << ", " << value;
          w.zero_grad();
        }
      }
    };
    Random random(2);
    const Tensor w = parameter(random.normal({4, 4}, dtype)), b = parameter(random.normal({4}, dtype)),
                 gamma = parameter(random.uniform({4}, 0.5, 2, dtype)), beta = parameter(random.normal({4}, dtype));
    for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid,
                                        Activation::gelu, Activation::gelu_tanh})
      expect_none(text("linear with activation ", static_cast<int>(activation)), {w, b},
                  [&](const Tensor& x) { return linear(x, w, b, activation, Zeros::strong); });
    expect_none("layer_norm", {gamma, beta}, [&](const Tensor& x) { return layer_norm(x, gamma, beta); });
    expect_none("rms_norm", {gamma}, [&](const Tensor& x) { return rms_norm(x, gamma); });
  }
}

TEST(StrongZeros, HideWhatTheyMultiply) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : {f32, f64, dual}) {
    const Tensor a = parameter(tensor({{0, 2}, {3, 0}}, dtype)),
                 b = parameter(tensor({{nan, infinite}, {1, 2}}, dtype));
    Tape tape;
    const Tensor y = matmul(a, b, {.zeros = Zeros::strong});
    EXPECT_TRUE(same_bits(y[0], tensor({2, 4}, dtype)));
    EXPECT_TRUE(std::isnan(y.at({1, 0})) && std::isinf(y.at({1, 1})));
    tape.backward({y}, {tensor({{1, 1}, {0, 0}}, dtype)});
    EXPECT_TRUE(same_bits(b.grad(), tensor({{0, 0}, {2, 2}}, dtype)));
    EXPECT_TRUE(same_bits(a.grad()[1], tensor({0, 0}, dtype)));
    EXPECT_TRUE(std::isnan(matmul(a, b).at({0, 0}))) << "ordinary zeros do not";
  }
}

}  // namespace
}  // namespace retrace
