// Losses and dropout.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

/// With class weights in the dtype of the scores.
inline CrossEntropyOptions like(const Tensor& scores, CrossEntropyOptions options) {
  if (options.class_weights.defined()) options.class_weights = options.class_weights.to(scores.dtype());
  return options;
}

using ClassLoss = Tensor (*)(const Tensor&, const Tensor&, CrossEntropyOptions);
inline CheckCase classes(const CrossEntropyOptions& options, ClassLoss loss = cross_entropy) {
  return one([=](auto& targets, auto& x) { return loss(x, targets, like(x, options)); },
             {indices({1, 0, 3, 1}), normal({4, 5})});
}
inline CheckCase soft_classes(Reduction reduction) {
  return one([=](auto& logits, auto& targets) { return cross_entropy(logits, targets, {.reduction = reduction}); },
             {normal({2, 3, 4}), positive({2, 3, 4})});
}

/// Of four classes, with everything that may replace a target.
inline CheckCase weighted(ClassLoss loss, const Tensor& target) {
  const CrossEntropyOptions options{
      .reduction = Reduction::none, .label_smoothing = 0.2, .class_weights = positive({4})};
  return one([=](auto& t, auto& x) { return loss(x, t, like(x, options)); }, {target, normal({3, 4})});
}

inline CheckCase pair(Tensor (*loss)(const Tensor&, const Tensor&, Reduction), Reduction reduction) {
  return one([=](auto& x, auto& target) { return loss(x, target, reduction); }, {normal({3, 4}), normal({3, 4})});
}
inline Cases pairs(Tensor (*loss)(const Tensor&, const Tensor&, Reduction)) {
  return {pair(loss, Reduction::mean), pair(loss, Reduction::sum), pair(loss, Reduction::none)};
}

/// Errors of 0.185 to 2.035 on both sides of 0, none of them near the width.
inline CheckCase smooth(Tensor (*loss)(const Tensor&, const Tensor&, double, Reduction), double width,
                        Reduction reduction) {
  const Tensor target = normal({3, 4}), x = target + reshape(arange(-5.5, 6, 1, f64), {3, 4}) * 0.37;
  return one([=](auto& a, auto& t) { return loss(a, t, width, reduction); }, {x, target});
}

inline Tensor seeded_dropout(const Tensor& x) {
  Random random(5);
  return dropout(x, 0.4, &random);
}

// clang-format off
inline constexpr OpChecks losses[] = {
    {"cross_entropy", [] { return Cases{
        classes({}),
        classes({.reduction = Reduction::sum}),
        classes({.reduction = Reduction::none}),
        classes({.ignore_index = 1}),
        classes({.reduction = Reduction::sum, .ignore_index = 1}),
        classes({.reduction = Reduction::none, .ignore_index = 1}),
        soft_classes(Reduction::mean),
        soft_classes(Reduction::sum),
        soft_classes(Reduction::none),
        classes({.label_smoothing = 0.3}),
        classes({.ignore_index = 1, .class_weights = positive({5})}),
        classes({.reduction = Reduction::sum, .label_smoothing = 0.1, .class_weights = positive({5})}),
        weighted(cross_entropy, positive({3, 4}))}; }},
    {"nll", [] { return Cases{
        classes({}, nll),
        classes({.ignore_index = 1}, nll),
        classes({.reduction = Reduction::sum, .ignore_index = 1}, nll),
        classes({.reduction = Reduction::none, .ignore_index = 1}, nll),
        weighted(nll, indices({1, 0, 3}))}; }},
    {"mse", [] { return pairs(mse); }},
    {"bce_with_logits", [] { return pairs(bce_with_logits); }},
    {"smooth_l1", [] { return Cases{
        smooth(smooth_l1, 1, Reduction::mean),
        smooth(smooth_l1, 0.5, Reduction::sum),
        smooth(smooth_l1, 2, Reduction::none),
        smooth(smooth_l1, 0, Reduction::sum)}; }},
    {"huber", [] { return Cases{smooth(huber, 1, Reduction::mean), smooth(huber, 0.5, Reduction::none)}; }},
    {"kl_divergence", [] { return Cases{
        one([](auto& x, auto& t) { return kl_divergence(x, t); }, {normal({3, 4}), positive({3, 4})}),
        one([](auto& x, auto& t) { return kl_divergence(x, t, {.reduction = Reduction::sum}); },
            {normal({2, 3, 2}), positive({2, 3, 2})}),
        one([](auto& x, auto& t) { return kl_divergence(x, t, {Reduction::none, true}); },
            {normal({3, 4}), normal({3, 4})}),
        one([](auto& x, auto& t) { return kl_divergence(x, t); }, {normal({}), positive({})})}; }},
    {"dropout", [] { return Cases{one(seeded_dropout, {normal({5, 5})})}; }},
};
// clang-format on

}  // namespace retrace::op_checks
