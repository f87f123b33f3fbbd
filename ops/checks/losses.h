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

/// Targets 1 and -1. No error at the points of `with_errors` is near 0, where the margin is reached.
inline Tensor signs(const Shape& shape) {
  const Tensor all = indices({1, -1, -1, 1, 1, -1, 1, -1, -1, -1, 1, 1});
  return reshape(slice(all, {range(0, shape.numel())}), shape);
}
inline Tensor with_errors(const Tensor& x) { return x + reshape(arange(-5.5, 6, 1, f64), {3, 4}) * 0.37; }

/// Labels that repeat, lengths below the most, and (the last) a sample that cannot be aligned.
inline CheckCase alignments(const CtcOptions& options) {
  return one([=](auto& labels, auto& steps, auto& counts, auto& x) { return ctc(x, labels, steps, counts, options); },
             {indices({{1, 1, 3}, {3, 2, 0}, {2, 1, 3}}), indices({6, 5, 2}), indices({3, 2, 3}), normal({3, 6, 4})});
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
    {"bce_with_logits", [] {
        Cases cases = pairs(bce_with_logits);
        for (const Reduction reduction : {Reduction::mean, Reduction::none})
          cases.push_back(one([=](auto& x, auto& t, auto& p) {  // composed beside the loss itself
            return bce_with_logits(x, t, {.reduction = reduction, .pos_weight = p}) + bce_with_logits(x, t); },
            {normal({3, 4}), normal({3, 4}), positive({4})}));
        return cases; }},
    {"bce", [] { return Cases{
        one([](auto& x, auto& t) { return bce(x, t); }, {positive({3, 4}) * 0.45, normal({3, 4})}),
        one([](auto& x, auto& t) { return bce(x, t, Reduction::sum); }, {positive({}) * 0.45, normal({})}),
        one([](auto& x, auto& t) { return bce(x, t, Reduction::none); }, {positive({3, 4}) * 0.45, normal({3, 4})})}; }},
    {"gaussian_nll", [] { return Cases{
        one([](auto& x, auto& t, auto& v) { return gaussian_nll(x, t, v); },
            {normal({3, 4}), normal({3, 4}), positive({3, 4})}),
        one([](auto& x, auto& t, auto& v) { return gaussian_nll(x, t, v, {Reduction::none, true, 0}); },
            {normal({3, 4}), normal({3, 4}), positive({3, 1})})}; }},
    {"poisson_nll", [] { return Cases{
        one([](auto& x, auto& t) { return poisson_nll(x, t); }, {normal({3, 4}), positive({3, 4})}),
        one([](auto& x, auto& t) { return poisson_nll(x, t, {Reduction::none, false, true, 0.1}); },
            {positive({3, 4}), tensor({{0.2, 0.7, 1.4, 3}, {2, 5, 0, 1.2}, {9, 0.5, 1.1, 7}}, f64)}),
        one([](auto& x, auto& t) { return poisson_nll(x, t, {.reduction = Reduction::sum}); },
            {normal({}), normal({})})}; }},
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
    {"ctc", [] { return Cases{
        alignments({.zero_infinity = true}),
        alignments({.reduction = Reduction::sum, .zero_infinity = true}),
        one([](auto& labels, auto& x) {
              return ctc(x, labels, indices({4, 3}), indices({2, 0}), {Reduction::none, 2}); },
            {indices({{0, 1}, {0, 0}}), normal({2, 4, 3})}),
        one([](auto& labels, auto& x) { return ctc(x, labels, indices(5), indices(2)); },
            {indices({3, 3}), normal({5, 4})})}; }},
    {"hinge_embedding", [] { return Cases{
        one([](auto& t, auto& x) { return hinge_embedding(x, t); }, {signs({3, 4}), with_errors(ones({3, 4}, f64))}),
        one([](auto& t, auto& x) { return hinge_embedding(x, t, 0.5, Reduction::none); },
            {signs({3, 4}), with_errors(full({3, 4}, 0.5, f64))})}; }},
    {"margin_ranking", [] {
        const Tensor b = normal({3, 4});
        return Cases{
        one([](auto& t, auto& x, auto& y) { return margin_ranking(x, y, t); }, {signs({3, 4}), with_errors(b), b}),
        one([](auto& t, auto& x, auto& y) { return margin_ranking(x, y, t, 0.01, Reduction::none); },
            {signs({3, 4}), with_errors(b), b})}; }},
    {"soft_margin", [] { return Cases{
        one([](auto& t, auto& x) { return soft_margin(x, t); }, {signs({3, 4}), normal({3, 4})}),
        one([](auto& t, auto& x) { return soft_margin(x, t, Reduction::none); }, {signs({3}), normal({3})})}; }},
    {"multi_margin", [] {
        const Tensor labels = indices({1, 0, 3}), x = tensor({{0.1, 0.7, -0.9, 0.2}, {1.5, 0.2, 0.9, -1}, {0, 2, -2, 1.3}}, f64);
        return Cases{
        one([](auto& t, auto& at) { return multi_margin(at, t); }, {labels, x}),
        one([](auto& t, auto& at) { return multi_margin(at, t, {Reduction::none, 2, 0.5}); }, {labels, x}),
        one([w = positive({4})](auto& t, auto& at) {
              return multi_margin(at, t, {.class_weights = w.to(at.dtype())}); }, {labels, x})}; }},
    {"cosine_embedding", [] {
        const Tensor b = normal({3, 4});
        return Cases{
        one([](auto& t, auto& x, auto& y) { return cosine_embedding(x, y, t, 0.1); },
            {indices({1, -1, -1}), normal({3, 4}), b}),
        one([](auto& t, auto& x, auto& y) { return cosine_embedding(x, y, t, -1, Reduction::none); },
            {indices({1, -1, -1}), normal({3, 4}), b})}; }},
    {"triplet_margin", [] {
        const auto loss = [](TripletMarginOptions options) {
          return one([=](auto& a, auto& p, auto& n) { return triplet_margin(a, p, n, options); },
                     {normal({3, 4}), normal({3, 4}), normal({3, 4})});
        };
        return Cases{loss({.margin = 5}), loss({.reduction = Reduction::none, .margin = 4, .eps = 0.1, .swap = true})}; }},
    {"dropout", [] { return Cases{one(seeded_dropout, {normal({5, 5})})}; }},
};
// clang-format on

}  // namespace retrace::op_checks
