// Shared by the two attention ops, besides their loops: the call that records them, and their formulas.
#pragma once

#include <retrace/ops/attention/choose.h>

namespace retrace {

/// The numbers of heads, and the factor of q k^T.
struct AttentionHeads {
  std::int64_t of_queries, of_keys;
  double scale;
};

/// The attributes of a record: how the heads lie in the operands, and how keys are hidden.
template <class Layout> struct AttentionAttributes {
  Layout layout;
  Hiding hiding;
};

/// The masks that hide keys from the queries of q [..., queries, features] or of y.
inline HiddenKeys hidden_keys(bool causal, const Tensor& mask, const Shape& q, std::int64_t keys, int heads,
                              Dtype dtype, CausalCorner corner = CausalCorner::lower_right) {
  HiddenKeys hidden{causal, additive_mask(mask, attention_scores_shape(q, keys, heads), dtype),
                    attention_weights_shape(q, keys, heads)};
  if (causal && corner == CausalCorner::upper_left && q[-2] != keys) {  // the loops know the other corner
    const Tensor triangle = upper_left_mask(q[-2], keys, dtype);
    hidden.mask = hidden.mask.defined() ? hidden.mask + triangle : triangle;
    hidden.causal = false;
  }
  return hidden;
}

/// The recorded results, of a shape of y. forward(T{}, results) fills them and returns its zeros.
template <class Layout, class Forward, class... Operands>
AttentionResult recorded_attention(const OpInfo& info, BackwardFunction backward, const Layout& layout,
                                   const AttentionSizes& n, const HiddenKeys& hidden, AttentionWeights asked,
                                   const Shape& y, Dtype dtype, const Forward& forward, const Operands&... operands) {
  AttentionResult result{empty(y, dtype, info.name), {}};
  const bool stored = stores_weights(n, asked, hidden, dtype);
  if (stored) result.weights = empty(hidden.weights_shape, dtype, info.name);
  const Zeros zeros = dispatch_real(dtype, info.name, [&](auto zero) { return forward(zero, result); });
  const AttentionAttributes<Layout> attributes{layout, {hidden.causal, hidden.mask.defined(), zeros}};
  if (hidden.wants_gradient())
    record(info, backward, {&operands..., &hidden.mask}, {&result.y, &result.weights}, {&operands..., &result.weights},
           attributes);
  else if (stored)
    record(info, backward, {&operands...}, {&result.y, &result.weights}, {&operands..., &result.weights}, attributes);
  else
    record(info, backward, {&operands...}, {&result.y}, {&operands..., &hidden.mask}, attributes);
  return result;
}

/// The formulas of attention on q, k and v of one head; the mask is the input after `operands` others, or constant.
inline Formulas attention_formulas(const Record& r, const AttentionSizes& n, const Hiding& hiding, int operands) {
  const bool is_usual = n.scale == usual_scale(n.features);
  const std::string root = is_usual ? text(" / sqrt(", std::max<std::int64_t>(n.features, 1), ")") : "";
  const std::string factor = is_usual ? "" : n.scale < 0 ? text("(", n.scale, ") ") : text(n.scale, " ");
  const std::string hidden = text(hiding.causal ? " + causal" : "", hiding.masked ? " + mask" : "");
  return {text("w = softmax(", factor, "q k^T", root, hidden, "), y = w v"),
          text("dw = dy v^T, ds = w (dw - sum dw w) along axis -1, dq = ", factor, "ds k", root, ", dk = ", factor,
               "ds^T q", root, ", dv = w^T dy", wants_mask(r, operands) ? ", dmask = ds" : "")};
}
/// The ending of these formulas.
inline std::string for_each_head(std::int64_t heads) { return heads == 1 ? "" : ", for each head"; }

/// The attributes that a reader of the tape needs to compute the attention again. The mask is listed only where the
/// weights are not stored: stored weights are an output and show it, but for its strong zeros.
inline AttributeList attention_attributes(const Record& r, std::int64_t heads, const Hiding& hiding) {
  AttributeList list{{"heads", heads}, {"causal", hiding.causal}};
  if (const SavedValue& mask = r.saved(r.saved_values() - 1); !stored_weights(r) && mask)
    list.push_back({"mask", mask.tensor()});
  else
    list = with_zeros(std::move(list), hiding.masked ? Zeros::strong : Zeros::ordinary);
  return list;
}

}  // namespace retrace
