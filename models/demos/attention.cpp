#include <retrace/core/base/error.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/demos/measures.h>
#include <retrace/nn/layers/multi_head_attention.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

constexpr std::int64_t batch = 2, length = 5, key_size = 8, model_size = 64;
constexpr double limit = 1e-12;

/// The result of attention, and the values weighted by its weights.
struct Case {
  std::string name;
  std::int64_t heads;
  AttentionResult result;
  Tensor combined;
  bool causal;
};

/// y_i = sum_j w_ij v_j, summed as it is written.
Tensor combination(const Tensor& weights, const Tensor& v) {
  const Tensor each_weight = unsqueeze(weights, -1), each_value = unsqueeze(v, -3);
  return sum(each_weight * each_value, -2);
}

Case scaled_dot_product(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  AttentionResult result = attention_with_weights(q, k, v, {.causal = causal});
  Tensor combined = combination(result.weights, v);
  return {causal ? "scaled dot product, causal" : "scaled dot product", 1, std::move(result), std::move(combined),
          causal};
}

/// The columns of the values that belong to each head, weighted by its weights, side by side as in the module.
Tensor combine(const MultiHeadAttention& attend, const Tensor& weights, const Tensor& x) {
  const Tensor values = reshape(attend.value(x), {batch, length, attend.heads, model_size / attend.heads});
  const Tensor of_heads = combination(weights, transpose(values, {0, 2, 1, 3}));
  return attend.out(reshape(transpose(of_heads, {0, 2, 1, 3}), {batch, length, model_size}));
}

Case multi_head(const Tensor& x, int heads, bool causal) {
  Random random(demo_seed);
  const MultiHeadAttention attend(model_size, random, {.heads = heads});
  AttentionResult result = attend(x, causal ? causal_mask(length) : Tensor());
  Tensor combined = combine(attend, result.weights, x);
  return {causal ? "multi-head, causal" : "multi-head", heads, std::move(result), std::move(combined), causal};
}

std::vector<Case> run_cases() {
  Random inputs = Random(demo_seed).stream("inputs");
  const auto draw = [&](std::int64_t size) { return inputs.normal({batch, length, size}); };
  const Tensor q = draw(key_size), k = draw(key_size), v = draw(key_size), x = draw(model_size);
  std::vector<Case> cases;
  for (const bool causal : {false, true}) cases.push_back(scaled_dot_product(q, k, v, causal));
  for (const int heads : {1, 2, 4, 8}) cases.push_back(multi_head(x, heads, false));
  cases.push_back(multi_head(x, 4, true));
  return cases;
}

/// The largest weight that a row gives to a later one.
double largest_after_now(const Tensor& weights) {
  const Tensor of_all_heads = reshape(weights, {weights.numel() / (length * length), length, length});
  double largest = 0;
  for (std::int64_t row = 0; row + 1 < length; ++row)
    largest = std::max(largest, max(slice(of_all_heads, {all, row, range(row + 1)})).item());
  return largest;
}

DemoTable properties_table() {
  DemoTable table{
      .title = "Properties of attention (2 sequences of 5 rows)",
      .see =
          "Every row of weights sums to one and has no negative weight, a causal row gives nothing to later "
          "rows, and the output is the weighted combination of V.",
      .columns = {"case", "heads", "|row sum - 1|", "smallest weight", "weight of later rows", "|output - weights V|"},
      .rows = {},
      .finding = {}};
  double off = 0, smallest = 1, after_now = 0;
  for (const Case& each : run_cases()) {
    const Tensor& weights = each.result.weights;
    const Tensor sums = sum(weights, -1);
    const double sum_off = largest_difference(sums, ones_like(sums)), smallest_weight = min(weights).item();
    const double later = largest_after_now(weights), output_off = largest_difference(each.result.y, each.combined);
    table.rows.push_back({each.name, each.heads, sum_off, smallest_weight, later, output_off});
    off = std::max({off, sum_off, output_off});
    smallest = std::min(smallest, smallest_weight);
    if (each.causal) after_now = std::max(after_now, later);
  }
  table.finding = text("largest deviation ", off, ", smallest weight ", smallest,
                       ", largest weight of a later row under ", "the causal mask ", after_now);
  table.holds = off < limit && smallest >= 0 && after_now == 0;
  return table;
}

DemoTable causal_table() {
  Random inputs = Random(demo_seed).stream("inputs");
  const Tensor x = inputs.normal({batch, length, model_size});
  const Tensor weights = multi_head(x, 4, true).result.weights[0][0];
  DemoTable table{.title = "Causal weights of head 0, first sequence",
                  .see = "A triangle: row i looks at rows 0 to i, and row 0 only at itself.",
                  .columns = {"row"},
                  .rows = {},
                  .finding = {}};
  for (std::int64_t key = 0; key < length; ++key) table.columns.push_back(text("to ", key));
  for (std::int64_t row = 0; row < length; ++row) {
    table.rows.push_back({row});
    for (std::int64_t key = 0; key < length; ++key) table.rows.back().push_back(weights.at({row, key}));
  }
  const double first = weights.at({0, 0}), later = largest_after_now(weights);
  table.finding = text("row 0 gives itself ", first, ", later rows get at most ", later);
  table.holds = std::abs(first - 1) < limit && later == 0;
  return table;
}

}  // namespace

Demo attention_demo() {
  return {.name = {}, .title = "what attention must satisfy", .tables = {properties_table(), causal_table()}};
}

}  // namespace retrace
