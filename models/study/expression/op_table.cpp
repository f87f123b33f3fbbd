#include <retrace/core/tape/identity.h>
#include <retrace/models/study/expression/op_binding.h>

#include <algorithm>

namespace retrace::expressions {

// The members of options that an expression may set, in the order of the signatures in ops.def.
template <>
inline constexpr std::tuple members_of<MatmulOptions>{&MatmulOptions::transpose_a, &MatmulOptions::transpose_b};
template <> inline constexpr std::tuple members_of<ReduceOptions>{&ReduceOptions::keepdims};
template <> inline constexpr std::tuple members_of<LayerNormOptions>{&LayerNormOptions::axes, &LayerNormOptions::eps};
template <> inline constexpr std::tuple members_of<SortOptions>{&SortOptions::descending};
template <> inline constexpr std::tuple members_of<TopkOptions>{&TopkOptions::largest};
template <>
inline constexpr std::tuple members_of<CrossEntropyOptions>{
    &CrossEntropyOptions::reduction, &CrossEntropyOptions::ignore_index, &CrossEntropyOptions::label_smoothing,
    &CrossEntropyOptions::class_weights};
template <>
inline constexpr std::tuple members_of<BceWithLogitsOptions>{&BceWithLogitsOptions::reduction,
                                                             &BceWithLogitsOptions::pos_weight};
template <>
inline constexpr std::tuple members_of<GaussianNllOptions>{&GaussianNllOptions::reduction, &GaussianNllOptions::full,
                                                           &GaussianNllOptions::eps};
template <>
inline constexpr std::tuple members_of<PoissonNllOptions>{&PoissonNllOptions::reduction, &PoissonNllOptions::log_input,
                                                          &PoissonNllOptions::full, &PoissonNllOptions::eps};
template <>
inline constexpr std::tuple members_of<CtcOptions>{&CtcOptions::reduction, &CtcOptions::blank,
                                                   &CtcOptions::zero_infinity};
template <>
inline constexpr std::tuple members_of<MultiMarginOptions>{&MultiMarginOptions::reduction, &MultiMarginOptions::power,
                                                           &MultiMarginOptions::margin,
                                                           &MultiMarginOptions::class_weights};
template <>
inline constexpr std::tuple members_of<TripletMarginOptions>{&TripletMarginOptions::reduction,
                                                             &TripletMarginOptions::margin, &TripletMarginOptions::eps,
                                                             &TripletMarginOptions::swap};
template <>
inline constexpr std::tuple members_of<KlDivergenceOptions>{&KlDivergenceOptions::reduction,
                                                            &KlDivergenceOptions::log_target};
template <>
inline constexpr std::tuple members_of<AttentionOptions>{&AttentionOptions::heads,     &AttentionOptions::causal,
                                                         &AttentionOptions::mask,      &AttentionOptions::scale,
                                                         &AttentionOptions::key_heads, &AttentionOptions::corner};
template <> inline constexpr std::tuple members_of<EmbeddingOptions>{&EmbeddingOptions::padding_idx};
template <>
inline constexpr std::tuple members_of<RotaryOptions>{
    &RotaryOptions::heads, &RotaryOptions::first,     &RotaryOptions::base,    &RotaryOptions::pairs,
    &RotaryOptions::size,  &RotaryOptions::positions, &RotaryOptions::cosines, &RotaryOptions::sines};
template <>
inline constexpr std::tuple members_of<PackedAttentionOptions>{
    &PackedAttentionOptions::key_size, &PackedAttentionOptions::heads,  &PackedAttentionOptions::layout,
    &PackedAttentionOptions::queries,  &PackedAttentionOptions::causal, &PackedAttentionOptions::mask};
template <>
inline constexpr std::tuple members_of<GatedMemoryOptions>{
    &GatedMemoryOptions::input_bias, &GatedMemoryOptions::forget_bias, &GatedMemoryOptions::coupled};

namespace {

/// The ops by name. Those of which an expression calls one overload, or which it calls in its own way, hide the others.
namespace called {
using namespace retrace;

template <class Result, class... P> using OfTensor = Result (*)(const Tensor&, P...);
template <class T> using List = std::span<const T>;

constexpr OfTensor<Tensor, const Tensor&> div = retrace::div;
constexpr OfTensor<Tensor, Dtype> to = retrace::to;
constexpr OfTensor<Tensor, const Tensor&, const Tensor&> where = retrace::where;
constexpr OfTensor<Tensor, const Axes&, ReduceOptions, double> var = retrace::var, std = retrace::std,
                                                               standard_deviation = retrace::standard_deviation,
                                                               norm = retrace::norm;
constexpr OfTensor<Tensor, List<std::int64_t>> reshape = retrace::reshape, repeat = retrace::repeat;
constexpr OfTensor<Tensor, List<SliceIndex>> slice = retrace::slice;
constexpr OfTensor<Tensor, List<Padding>> pad = retrace::pad;
constexpr OfTensor<Tensor, const Tensor&, const BceWithLogitsOptions&> bce_with_logits = retrace::bce_with_logits;
constexpr OfTensor<Tensors, List<std::int64_t>, int> split = retrace::split;

/// An op of two tensors that has an overload for a number.
template <OfTensor<Tensor, const Tensor&> of_tensor, auto of_number>
Tensor of_either(const Tensor& a, const NumberOrTensor& b) {
  if (const double* number = std::get_if<double>(&b)) return of_number(a, *number);
  return of_tensor(a, std::get<Tensor>(b));
}
using Compare = OfTensor<Tensor, Scalar>;
constexpr auto pow = of_either<retrace::pow, OfTensor<Tensor, double>(retrace::pow)>;
constexpr auto equal = of_either<retrace::equal, Compare(retrace::equal)>;
constexpr auto not_equal = of_either<retrace::not_equal, Compare(retrace::not_equal)>;
constexpr auto less = of_either<retrace::less, Compare(retrace::less)>;
constexpr auto less_equal = of_either<retrace::less_equal, Compare(retrace::less_equal)>;
constexpr auto greater = of_either<retrace::greater, Compare(retrace::greater)>;
constexpr auto greater_equal = of_either<retrace::greater_equal, Compare(retrace::greater_equal)>;

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  return retrace::linear(x, weight, bias, activation);
}

Tensor transpose(const Tensor& x, List<int> permutation) {
  return permutation.empty() ? retrace::transpose(x) : retrace::transpose(x, permutation);
}

/// The same elements are dropped whenever the expression is computed.
Tensor dropout(const Tensor& x, double probability, std::int64_t seed) {
  Random random(static_cast<std::uint64_t>(seed));
  return retrace::dropout(x, probability, &random);
}

Tensor causal_mask(std::int64_t queries, std::optional<std::int64_t> keys, Dtype dtype) {
  return retrace::causal_mask(queries, keys.value_or(queries), dtype);
}

}  // namespace called

const std::vector<ExpressionOp>& all_ops() {
  static const std::vector<ExpressionOp> ops{
#define OP(name, ...) __VA_OPT__(op(#name, __VA_ARGS__, called::name), )
#define COMPOSITE(name, ...) OP(name, __VA_ARGS__)
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
  };
  return ops;
}

}  // namespace

const ExpressionOp* find_op(std::string_view name) {
  const auto found = std::ranges::find(all_ops(), name, &ExpressionOp::name);
  return found == all_ops().end() ? nullptr : &*found;
}

std::span<const std::string_view> op_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const ExpressionOp& one : all_ops()) result.push_back(one.name);
    return result;
  }();
  return names;
}

}  // namespace retrace::expressions
