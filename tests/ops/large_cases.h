// Every op at a size that splits over blocks and over threads; see large_cases_test.cpp.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/ops_of_type.h>

namespace retrace {

struct LargeCase {
  std::string op;
  std::function<Tensors(const Tensors& inputs)> f;
  Tensors inputs;     // f64; integers are constants
  bool rows = false;  // a row of y is made of a row of the inputs that have as many
  std::string detail = {};
};

class LargeCases {
 public:
  LargeCases() {
    elementwise();
    reductions();
    products();
    rows_and_shapes();
    losses();
    alignments();
    composed_losses();
    attention_ops();
    recurrent_ops();
  }
  const std::vector<LargeCase>& list() const { return list_; }

 private:
  static constexpr std::int64_t many = 331, wide = 101;  // together more than two threads take of cheap elements

  Tensor positive(const Shape& shape) { return random_.uniform(shape, 0.5, 2, f64); }
  Tensor normal(const Shape& shape) { return random_.normal(shape, f64); }
  template <class F> void add(const std::string& op, Tensors inputs, bool rows, F f, const std::string& detail = {}) {
    list_.push_back({op, [f](const Tensors& in) { return Tensors{f(in)}; }, std::move(inputs), rows, detail});
  }
  template <class F>
  void add_several(const std::string& op, Tensors inputs, bool rows, F f, const std::string& detail = {}) {
    list_.push_back({op, f, std::move(inputs), rows, detail});
  }

  void elementwise() {
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&)>()) {
      if (gives_integers(name) || name == "transpose" || name == "combine_heads") continue;
      add(name, {positive({many, name == "swiglu" ? 2 * wide : wide})}, true,
          [f = f, name](const Tensors& in) { return f(is_inside_one(name) ? 0.4 * in[0] : in[0]); });
    }
    for (const std::optional<double> eps : {std::optional<double>(), std::optional(0.3)})
      add(
          "logit", {positive({many, wide})}, true, [=](const Tensors& in) { return logit(0.4 * in[0], eps); },
          eps ? "clipped" : "");
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, double)>())
      add(name, {positive({many, wide})}, true, [f = f](const Tensors& in) { return f(in[0], 0.7); });
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, double, double)>())
      add(name, {positive({many, wide})}, true, [f = f](const Tensors& in) { return f(in[0], 0.7, 1.5); });
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, const Tensor&)>()) {
      if (name == "outer" || name == "embedding" || name == "masked_select") continue;
      if (gives_integers(name)) continue;
      add(name, {positive({many, wide}), positive({many, 1})}, true,
          [f = f](const Tensors& in) { return f(in[0], in[1]); });
    }
    const auto choose = [this](const char* name, auto compare) {
      add(name, {normal({many, wide}), normal({many, wide})}, true,
          [=](const Tensors& in) { return where(compare(in[0], in[1]), in[0], 2.0 * in[1]); });
    };
    choose("equal", [](const Tensor& a, const Tensor& b) { return equal(floor(a.detach()), floor(b.detach())); });
    choose("not_equal",
           [](const Tensor& a, const Tensor& b) { return not_equal(floor(a.detach()), floor(b.detach())); });
    choose("less", [](const Tensor& a, const Tensor& b) { return less(a, b); });
    choose("less_equal", [](const Tensor& a, const Tensor& b) { return less_equal(a, b); });
    choose("greater", [](const Tensor& a, const Tensor& b) { return greater(a, b); });
    choose("greater_equal", [](const Tensor& a, const Tensor& b) { return greater_equal(a, b); });
    choose("logical_and", [](const Tensor& a, const Tensor& b) { return logical_and(less(a, b), less(a, 0.5)); });
    choose("logical_or", [](const Tensor& a, const Tensor& b) { return logical_or(less(a, b), less(a, 0.5)); });
    choose("logical_xor", [](const Tensor& a, const Tensor& b) { return logical_xor(less(a, b), less(a, 0.5)); });
    choose("logical_not", [](const Tensor& a, const Tensor& b) { return logical_not(less(a, b)); });
    choose("where", [](const Tensor& a, const Tensor&) { return less(a, 0.2); });
    add("masked_fill", {normal({many, wide})}, true,
        [](const Tensors& in) { return masked_fill(in[0], less(in[0], 0.2), 3); });
    add("masked_select", {normal({many, wide})}, false,
        [](const Tensors& in) { return masked_select(in[0], less(in[0], 0.2)); });
    add("nonzero", {normal({many, wide})}, false, [](const Tensors& in) {
      return in[0] + to(slice(nonzero(less(in[0], 3)), {0, 1}), in[0].dtype());
    });
    add("to", {normal({many, wide})}, true, [](const Tensors& in) {
      return in[0].dtype() == dual ? in[0] : to(to(in[0], in[0].dtype() == f32 ? f64 : dual), in[0].dtype());
    });
    add("dropout", {normal({many, wide})}, false, [](const Tensors& in) {
      Random same(5);
      return dropout(in[0], 0.4, &same);
    });
    add("custom_op", {normal({many, wide})}, true, [](const Tensors& in) {
      return custom_op(
          "thrice", {in[0]}, [](const Tensors& x) { return 3.0 * x[0]; },
          [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{3.0 * dy}; });
    });
    add("on_gradient", {normal({many, wide})}, true,
        [](const Tensors& in) { return on_gradient(in[0], [](const Tensor& dy) { return 1.0 * dy; }); });
  }

  void reductions() {
    using Reduce = Tensor(const Tensor&, const Axes&, ReduceOptions);
    for (const auto& [name, f] : ops_of_type<Reduce>()) {
      if (gives_integers(name)) {
        add(name, {normal({many, wide})}, true, [f = f](const Tensors& in) {
          return where(greater(f(less(in[0], 2), 1, {.keepdims = true}), 0), in[0], 2.0 * in[0]);
        });
        continue;
      }
      add(name, {positive({many, wide})}, true, [f = f](const Tensors& in) { return f(in[0], 1, {}); });
      add(
          name, {positive({wide, many})}, false, [f = f](const Tensors& in) { return f(in[0], 0, {}); }, "columns");
    }
    for (const double order : {1.5, std::numeric_limits<double>::infinity()})
      add(
          "norm", {normal({many, wide})}, true, [=](const Tensors& in) { return norm(in[0], 1, {}, order); },
          text("of order ", order));
    for (const char* name : {"argmax", "argmin"})
      add(name, {normal({many, wide})}, true, [=](const Tensors& in) {
        const Tensor ids = name[3] == 'a' ? argmax(in[0]) : argmin(in[0]);
        return gather(in[0], unsqueeze(ids, -1));
      });
  }

  void products() {
    add("matmul", {normal({many, 40}), normal({40, wide})}, true,
        [](const Tensors& in) { return matmul(in[0], in[1]); });
    add(
        "matmul", {normal({70, 20, 30}), normal({70, 30, 20})}, true,
        [](const Tensors& in) { return matmul(in[0], in[1]); }, "of a batch");
    for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid,
                                        Activation::gelu, Activation::gelu_tanh})
      add(
          "linear", {normal({9, 5}), normal({2100, 5}), normal({2100})}, true,
          [=](const Tensors& in) { return linear(in[0], in[1], in[2], activation); },
          text("of many outputs, activation ", static_cast<int>(activation)));
    add(
        "linear", {normal({many, 40}), normal({wide, 40})}, true,
        [](const Tensors& in) { return linear(in[0], in[1], {}, Activation::gelu); }, "of many rows");
    add("outer", {normal({many}), normal({wide})}, true, [](const Tensors& in) { return outer(in[0], in[1]); });
    add("einsum", {normal({70, 20, 30}), normal({70, 30, 20})}, true,
        [](const Tensors& in) { return einsum("bij,bjk->bik", in); });
    // The axes of "..." may be of length 1, or empty.
    add(
        "einsum", {normal({70, 1, 20, 30}), normal({3, 30, 20})}, true,
        [](const Tensors& in) { return einsum("...ij,...jk->...ik", in); }, "with an axis of length 1");
    add(
        "einsum", {normal({2, 1, 0, 4}), normal({2, 5, 1, 4})}, true,
        [](const Tensors& in) { return einsum("...i,...i->...", in); }, "with an empty axis");
  }

  void rows_and_shapes() {
    const auto row_op = [this](const char* name, std::int64_t width, auto f, const char* detail = "") {
      add(
          name, {normal({many, width})}, true, [f](const Tensors& in) { return f(in[0]); }, detail);
    };
    row_op("softmax", wide, [](const Tensor& x) { return softmax(x); });
    row_op("log_softmax", wide, [](const Tensor& x) { return log_softmax(x); });
    row_op("cumsum", wide, [](const Tensor& x) { return cumsum(x); });
    row_op("cumprod", 9, [](const Tensor& x) { return cumprod(x); });
    row_op("logcumsumexp", wide, [](const Tensor& x) { return logcumsumexp(x); });
    row_op("cummax", wide, [](const Tensor& x) { return cummax(x).values; });
    row_op("cummin", wide, [](const Tensor& x) { return cummin(x).values; });
    row_op("median", wide, [](const Tensor& x) { return median(x).values; });
    row_op("quantile", wide, [](const Tensor& x) { return quantile(x, 0.7); });
    add(
        "softmax", {normal({wide, many})}, false, [](const Tensors& in) { return softmax(in[0], 0); }, "of columns");
    add("layer_norm", {normal({1100, 33}), positive({33}), normal({33})}, true,
        [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); });
    add("residual_layer_norm", {normal({1100, 33}), normal({1100, 33}), positive({33}), normal({33})}, true,
        [](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3]); });
    add("rms_norm", {normal({1100, 33}), positive({33})}, true,
        [](const Tensors& in) { return rms_norm(in[0], in[1]); });
    row_op("reshape", wide, [](const Tensor& x) { return reshape(x, {x.dim(0), 1, wide}); });
    row_op("squeeze", wide, [](const Tensor& x) { return squeeze(unsqueeze(x, 1), 1); });
    row_op("unsqueeze", wide, [](const Tensor& x) { return unsqueeze(x, -1); });
    row_op("split", wide, [](const Tensor& x) { return split(x, {40, 61}, 1).at(1); });
    row_op("slice", wide, [](const Tensor& x) { return slice(x, {all, range(1, 100, 2)}); });
    row_op("broadcast_to", wide, [](const Tensor& x) { return broadcast_to(unsqueeze(x, 1), {x.dim(0), 3, wide}); });
    row_op("flip", wide, [](const Tensor& x) { return flip(x, 1); });
    row_op("pad", wide, [](const Tensor& x) { return pad(x, {{0, 0}, {2, 3}}); });
    row_op("repeat", wide, [](const Tensor& x) { return repeat(x, {1, 2}); });
    row_op("roll", wide, [](const Tensor& x) { return roll(x, 3, 1); });
    row_op("take", wide, [](const Tensor& x) { return take(x, indices({3, 0, 100, 3}), 1); });
    row_op("sort", wide, [](const Tensor& x) { return sort(x).values; });
    row_op("topk", wide, [](const Tensor& x) { return topk(x, 7).values; });
    row_op("argsort", wide, [](const Tensor& x) { return gather(x, argsort(x)); });
    row_op("gather", wide, [](const Tensor& x) { return gather(x, argsort(x)); });
    row_op("stack", wide, [](const Tensor& x) { return stack({x, 2.0 * x}, 1); });
    row_op("concat", wide, [](const Tensor& x) { return concat({x, 2.0 * x}, 1); });
    add("transpose", {normal({many, wide})}, false, [](const Tensors& in) { return transpose(in[0]); });
    const auto of_matrices = [this](const char* name, auto f) {
      add(name, {normal({40, 20, 30})}, true, [f](const Tensors& in) { return f(in[0]); });
    };
    of_matrices("tril", [](const Tensor& x) { return tril(x, 2); });
    of_matrices("triu", [](const Tensor& x) { return triu(x, 2); });
    of_matrices("diagonal", [](const Tensor& x) { return diagonal(x, 1); });
    of_matrices("split_heads", [](const Tensor& x) { return split_heads(x, 3); });
    of_matrices("combine_heads", [](const Tensor& x) { return combine_heads(split_heads(x, 5)); });
    row_op("diag_embed", 30, [](const Tensor& x) { return diag_embed(x); });
    add("diag", {normal({200})}, false, [](const Tensors& in) { return diag(in[0]); });
    const Tensor ids = random_.integers({300}, 40);
    add("embedding", {normal({40, 130})}, false, [=](const Tensors& in) { return embedding(in[0], ids); });
    add("index", {normal({40, 40, 13})}, false, [=](const Tensors& in) { return index(in[0], {ids, ids}); });
    add("scatter_add", {normal({40, 130}), normal({300, 130})}, false,
        [=](const Tensors& in) { return scatter_add(in[0], ids, in[1]); });
    add(
        "scatter_add", {normal({many, 40}), normal({many, 300})}, true,
        [=](const Tensors& in) { return scatter_add(in[0], ids, in[1], 1); }, "of columns");
    const auto places = [](const Tensor& updates) { return argsort(updates.detach()); };
    add("scatter", {normal({many, wide}), normal({many, wide})}, true,
        [=](const Tensors& in) { return scatter(in[0], places(in[1]), in[1], 1); });
    add(
        "scatter_add", {normal({many, wide}), normal({many, wide})}, true,
        [=](const Tensors& in) { return scatter_add(in[0], places(in[1]), in[1], 1); }, "element by element");
  }

  void losses() {
    const CrossEntropyOptions each{.reduction = Reduction::none};
    const Tensor labels = random_.integers({700}, 13);
    add("cross_entropy", {normal({700, 13}), labels}, true,
        [=](const Tensors& in) { return cross_entropy(in[0], in[1], each); });
    add(
        "cross_entropy", {normal({700, 13}), positive({700, 13})}, true,
        [=](const Tensors& in) { return cross_entropy(in[0], in[1], each); }, "of soft targets");
    add("nll", {normal({700, 13}), labels}, true, [=](const Tensors& in) { return nll(in[0], in[1], each); });
    using PairLoss = Tensor (*)(const Tensor&, const Tensor&, Reduction);
    const std::pair<const char*, PairLoss> pairs[] = {{"mse", mse}, {"bce_with_logits", bce_with_logits}};
    for (const auto& [name, loss] : pairs)
      for (const Reduction reduction : {Reduction::none, Reduction::mean})
        add(name, {normal({many, wide}), positive({many, wide})}, reduction == Reduction::none,
            [loss = loss, reduction](const Tensors& in) { return loss(in[0], in[1], reduction); });
    add("bce", {positive({many, wide}), positive({many, wide})}, true,
        [](const Tensors& in) { return bce(0.45 * in[0], in[1], Reduction::none); });
    add("smooth_l1", {normal({many, wide}), normal({many, wide})}, true,
        [](const Tensors& in) { return smooth_l1(in[0], in[1], 0.7, Reduction::none); });
    add("huber", {normal({many, wide}), normal({many, wide})}, true,
        [](const Tensors& in) { return huber(in[0], in[1], 0.7, Reduction::none); });
    add("kl_divergence", {normal({many, wide}), positive({many, wide})}, true,
        [](const Tensors& in) { return kl_divergence(in[0], in[1], {.reduction = Reduction::none}); });
  }

  void alignments() {
    const Tensor labels = random_.integers({90, 7}, 5) + indices(1), steps = random_.integers({90}, 20) + indices(20);
    const Tensor counts = random_.integers({90}, 8);
    add("ctc", {normal({90, 40, 6}), labels, steps, counts}, true, [](const Tensors& in) {
      return ctc(in[0], in[1], in[2], in[3], {.reduction = Reduction::none, .zero_infinity = true});
    });
  }

  void composed_losses() {
    const auto add_loss = [this](const char* name, std::size_t operands, auto loss) {
      add(name, Tensors(operands, normal({many, wide})), true, loss);
    };
    add_loss("gaussian_nll", 3, [](const Tensors& in) {
      return gaussian_nll(in[0], 2.0 * in[1], exp(in[2]), {.reduction = Reduction::none});
    });
    add_loss("poisson_nll", 2, [](const Tensors& in) {
      return poisson_nll(in[0], exp(in[1]), {.reduction = Reduction::none, .full = true});
    });
    add_loss("hinge_embedding", 2,
             [](const Tensors& in) { return hinge_embedding(in[0], sign(in[1]), 1, Reduction::none); });
    add_loss("margin_ranking", 3,
             [](const Tensors& in) { return margin_ranking(in[0], 2.0 * in[1], sign(in[2]), 0.5, Reduction::none); });
    add_loss("soft_margin", 2, [](const Tensors& in) { return soft_margin(in[0], sign(in[1]), Reduction::none); });
    add_loss("multi_margin", 1, [](const Tensors& in) {
      return multi_margin(in[0], argmax(in[0].detach()), {.reduction = Reduction::none, .power = 2, .margin = 1.5});
    });
    add_loss("cosine_embedding", 2, [](const Tensors& in) {
      return cosine_embedding(in[0], 1.0 + in[1], sign(slice(in[1], {all, 0})), -0.5, Reduction::none);
    });
    add_loss("triplet_margin", 3, [](const Tensors& in) {
      return triplet_margin(in[0], 0.5 * in[1], 2.0 + in[2], {.reduction = Reduction::none, .margin = 50});
    });
  }

  void attention_ops() {
    const auto attend = [this](const char* detail, std::int64_t batch, std::int64_t queries, std::int64_t keys,
                               int heads, std::int64_t size, bool causal, bool masked) {
      Tensor mask;
      if (masked) mask = less(random_.uniform({queries, keys}, 0, 1, f64), 0.7);
      const AttentionOptions options{.heads = heads, .causal = causal, .mask = mask};
      const Tensors inputs{normal({batch, queries, heads * size}), normal({batch, keys, heads * size}),
                           normal({batch, keys, heads * size})};
      add(
          "attention", inputs, true, [=](const Tensors& in) { return attention(in[0], in[1], in[2], options); },
          detail);
      add_several(
          "attention_with_weights", inputs, true,
          [=](const Tensors& in) {
            const AttentionResult r = attention_with_weights(in[0], in[1], in[2], options);
            return Tensors{r.y, r.weights};
          },
          detail);
    };
    attend("in registers", 330, 3, 4, 2, 3, false, false);
    attend("in registers, causal", 330, 3, 4, 2, 3, true, false);
    attend("of fewer queries than keys, causal", 40, 5, 23, 2, 4, true, false);
    attend("with a mask", 40, 20, 23, 2, 4, false, true);
    attend("of long sequences", 2, 190, 200, 2, 2, true, false);
    const AttentionOptions shared{.heads = 4, .causal = true, .scale = 0.4, .key_heads = 2};
    for (const std::int64_t keys : {4, 70})
      add(
          "attention", {normal({60, keys, 12}), normal({60, keys, 6}), normal({60, keys, 6}), normal({4, 1, keys})},
          true,
          [=](const Tensors& in) {
            AttentionOptions options = shared;
            options.mask = in[3];
            return attention(in[0], in[1], in[2], options);
          },
          text("of shared heads, with a mask that wants a gradient, ", keys, " keys"));
    // 8 heads of 64, 64 and 128 features: rows of f32 and f64 are whole pages.
    for (const PackedLayout layout : {PackedLayout::by_head, PackedLayout::by_kind})
      for (const std::int64_t queries : {0, 3}) {
        const PackedAttentionOptions options{
            .heads = 8, .key_size = 64, .layout = layout, .queries = queries, .causal = true};
        const Tensors inputs{normal({6, 7, 8 * 256})};
        add(
            "packed_attention", inputs, true, [=](const Tensors& in) { return packed_attention(in[0], options); },
            text("of whole pages, ", queries, " queries"));
        add_several(
            "packed_attention_with_weights", inputs, true,
            [=](const Tensors& in) {
              const AttentionResult r = packed_attention_with_weights(in[0], options);
              return Tensors{r.y, r.weights};
            },
            text("of whole pages, ", queries, " queries"));
      }
    for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves})
      add("rotary", {normal({50, 40, 24})}, true,
          [=](const Tensors& in) { return rotary(in[0], {.heads = 3, .first = 5, .pairs = pairs}); });
    const Tensor positions = random_.integers({50, 40}, 100);
    add(
        "rotary", {normal({50, 40, 24})}, false,
        [=](const Tensors& in) { return rotary(in[0], {.heads = 3, .size = 6, .positions = positions}); },
        "of a part of each head, by positions");
    // Fewer queries than keys, with the positions of the last ones.
    add_several(
        "rotary", {normal({40, 3, 8}), normal({40, 9, 8})}, true,
        [](const Tensors& in) {
          const Tensor q = rotary(in[0], {.heads = 2, .first = 6}), k = rotary(in[1], {.heads = 2});
          return Tensors{attention(q, k, in[1], {.heads = 2, .causal = true})};
        },
        "of fewer queries than keys");
    add("causal_mask", {normal({150, 150})}, false,
        [](const Tensors& in) { return softmax(in[0], -1, causal_mask(150, in[0].dtype() == f32 ? f32 : f64)); });
    add("padding_mask", {normal({9, 4, 30, 30})}, true, [](const Tensors& in) {
      const Tensor lengths = full({in[0].dim(0)}, 20, i64);
      return softmax(in[0], -1, padding_mask(lengths, 30, in[0].dtype() == f32 ? f32 : f64));
    });
  }

  void recurrent_ops() {
    const std::int64_t batch = 1400, time = 2, hidden = 5;
    const auto p = [&](std::int64_t gates) { return normal({batch, time, gates * hidden}); };
    const auto step = [&](std::int64_t gates) { return normal({batch, gates * hidden}); };
    const auto state = [&] { return normal({batch, hidden}); };
    const auto weight = [&](std::int64_t gates) { return normal({gates * hidden, hidden}); };
    add_several("lstm_sequence", {p(4), state(), state(), weight(4)}, true, [](const Tensors& in) {
      const LstmSequence r = lstm_sequence(in[0], in[1], in[2], in[3]);
      return Tensors{r.y, r.h, r.c};
    });
    add_several("lstm_step", {step(4), state(), state(), weight(4)}, true, [](const Tensors& in) {
      const LstmStep r = lstm_step(in[0], in[1], in[2], in[3]);
      return Tensors{r.h, r.c};
    });
    const Tensor bias = normal({3 * hidden});
    add_several("gru_sequence", {p(3), state(), weight(3), bias}, true, [](const Tensors& in) {
      const RnnSequence r = gru_sequence(in[0], in[1], in[2], in[3]);
      return Tensors{r.y, r.h};
    });
    add("gru_step", {step(3), state(), weight(3), bias}, true,
        [](const Tensors& in) { return gru_step(in[0], in[1], in[2], in[3]); });
    add_several("rnn_sequence", {p(1), state(), weight(1)}, true, [](const Tensors& in) {
      const RnnSequence r = rnn_sequence(in[0], in[1], in[2]);
      return Tensors{r.y, r.h};
    });
    add("rnn_step", {step(1), state(), weight(1)}, true,
        [](const Tensors& in) { return rnn_step(in[0], in[1], in[2]); });
    add_several("gated_memory", {normal({300, 3, 5}), normal({300, 3, 5}), normal({300, 3, 10}), normal({300, 10})},
                true, [](const Tensors& in) {
                  const GatedMemoryResult r = gated_memory(in[0], in[1], in[2], in[3]);
                  return Tensors{r.memory, r.input_gate, r.forget_gate};
                });
  }

  Random random_{31};
  std::vector<LargeCase> list_;
};

}  // namespace retrace
