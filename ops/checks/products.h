// Products, reductions, softmax and normalisation.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

inline CheckCase product(const Shape& a, const Shape& b, MatmulOptions options = {}) {
  return one([=](auto& x, auto& y) { return matmul(x, y, options); }, {normal(a), normal(b)});
}

/// einsum of as many tensors as there are shapes.
inline CheckCase contraction(const char* equation, std::initializer_list<Shape> shapes) {
  Tensors inputs;
  for (const Shape& shape : shapes) inputs.push_back(normal(shape));
  return {[=](const Tensors& in) { return Tensors{einsum(equation, in)}; }, std::move(inputs)};
}

inline CheckCase layer(const Shape& x, Activation activation = Activation::none) {
  return one([=](auto& rows, auto& weight, auto& bias) { return linear(rows, weight, bias, activation); },
             {normal(x), normal({6, 3}), normal({6})});
}

inline Cases with_zeros(Cases cases) {
  cases.push_back(one([](auto& x) { return prod(x, 1); }, {tensor({{1.5, 0.0, 2.0}, {0.0, 0.0, 3.0}}, f64)}));
  return cases;
}

using CorrectedOp = Tensor (*)(const Tensor&, const Axes&, ReduceOptions, double);
inline Cases corrected(Cases cases, CorrectedOp op) {
  cases.push_back(one([op](auto& x) { return op(x, 1, {}, 1); }, {normal({2, 3})}));
  return cases;
}

/// Which elements of x are doubled is decided by a count, which has no gradient itself.
inline Cases chosen_by_set(ReduceOp op) {
  const auto choose = [op](auto& x) {
    const Tensor mask = greater(op(less(x, 0.3), 1, {.keepdims = true}), 0);
    return where(mask, 2.0 * x, x);
  };
  return {one(choose, {normal({3, 2})})};
}

/// Of other orders than 2, those that are composed beside the norm itself, and of zeros, where that of order 3 has two
/// derivatives.
inline Cases of_orders(Cases cases) {
  const auto add = [&](double order, const Tensor& x) {
    cases.push_back(one([=](auto& of) { return norm(of, 1, {.keepdims = true}, order); }, {x}));
  };
  for (const double order : {3.0, 1.5, 0.5, -1.0}) add(order, normal({2, 4}));
  for (const double order : {1.0, infinity, -infinity})
    cases.push_back(one([=](auto& x) { return norm(x, 1, {}, order) * norm(x, 1); }, {normal({2, 4})}));
  add(3, tensor({{0.0, -1.5, 0.5}, {2.0, 0.0, 0.0}}, f64));
  return cases;
}

/// The second query sees nothing.
inline Tensor masked_softmax(const Tensor& x) {
  return softmax(x, -1, to(tensor({{0.0, -infinity, 0.5}, {-infinity, -infinity, -infinity}}, f64), x.dtype()));
}

// clang-format off
inline constexpr OpChecks products[] = {
    {"matmul", [] { return Cases{
        product({3, 4}, {4, 5}),
        product({5}, {5}),
        product({3, 4}, {4}),
        product({3}, {3, 4}),
        product({2, 3, 4}, {2, 4, 5}),
        product({2, 3, 4}, {4, 5}),
        product({3, 4}, {2, 4, 5}),
        product({2, 1, 3, 4}, {5, 4, 2}),
        product({2, 3, 4}, {4}),
        product({4}, {2, 4, 3}),
        product({3, 0}, {0, 2}),
        product({0, 3}, {3, 2}),
        product({4, 3}, {5, 4}, {.transpose_a = true, .transpose_b = true}),
        product({2, 4, 3}, {4, 5}, {.transpose_a = true}),
        product({2, 3, 4}, {5, 4}, {.transpose_b = true}),
        product({3, 2, 3, 4}, {2, 5, 4}, {.transpose_b = true}),
        one([](auto& x) { return matmul(x, x); }, {normal({3, 3})}),
        one([](auto& x) { return matmul(x, x, {.transpose_a = true}); }, {normal({3, 3})}),
        one([](auto& x) { return matmul(x, x, {.transpose_b = true}); }, {normal({4, 3})})}; }},
    {"linear", [] { return Cases{
        layer({4, 3}),
        layer({2, 5, 3}),
        layer({0, 3}),
        one([](auto& x, auto& weight) { return linear(x, weight); }, {normal({3}), normal({6, 3})}),
        one([](auto& x) { return linear(x, x, {}, Activation::tanh); }, {normal({4, 4})}),
        layer({4, 3}, Activation::relu),
        layer({4, 3}, Activation::tanh),
        layer({4, 3}, Activation::sigmoid),
        layer({4, 3}, Activation::gelu),
        layer({4, 3}, Activation::gelu_tanh)}; }},
    {"outer", [] { return Cases{one(outer, {normal({3}), normal({4})})}; }},
    {"einsum", [] { return Cases{
        contraction("ij,jk->ik", {{3, 4}, {4, 5}}),
        contraction("bhqd,bhkd->bhqk", {{2, 2, 3, 4}, {2, 2, 5, 4}}),
        contraction("ij,kj,il->lk", {{3, 4}, {5, 4}, {3, 2}}),
        contraction("ii->i", {{4, 4}}),
        contraction("iji,jk->k", {{3, 2, 3}, {2, 4}}),
        contraction("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}),
        contraction("...i,i->...", {{2, 3, 4}, {4}}),
        contraction("i,j", {{3}, {4}}),
        contraction(",ij->j", {{}, {2, 3}}),
        contraction("ij,jk->ik", {{3, 0}, {0, 2}}),
        one([](auto& x) { return einsum("ij,kj->ik", {x, x}); }, {normal({3, 4})})}; }},
    {"sum", [] { return reductions(sum); }},
    {"mean", [] { return reductions(mean); }},
    {"max", [] { return reductions(max, EmptyReduction::refused); }},
    {"min", [] { return reductions(min, EmptyReduction::refused); }},
    {"var", [] { return corrected(reductions(var), var); }},
    {"std", [] { return corrected(reductions(std), std); }},
    {"standard_deviation", [] { return corrected(reductions(standard_deviation), standard_deviation); }},
    {"prod", [] { return with_zeros(reductions(prod)); }},
    {"logsumexp", [] { return reductions(logsumexp); }},
    {"norm", [] { return of_orders(reductions(norm)); }},
    {"cumsum", [] { return Cases{
        one([](auto& x) { return cumsum(x, 1); }, {normal({2, 3, 4})}),
        one([](auto& x) { return cumsum(x, 0); }, {normal({3, 2, 4})}),
        one([](auto& x) { return cumsum(x); }, {normal({5})})}; }},
    {"cumprod", [] { return Cases{
        one([](auto& x) { return cumprod(x, 1); }, {normal({2, 3, 4})}),
        one([](auto& x) { return cumprod(x); },
            {tensor({{1.5, 0.0, 2.0, -1.0}, {0.0, 3.0, 0.0, 2.0}, {1.0, 2.0, 3.0, 0.0}}, f64)}),
        one([](auto& x) { return cumprod(x, 0); }, {normal({0, 3})})}; }},
    {"logcumsumexp", [] { return Cases{
        one([](auto& x) { return logcumsumexp(x, 1); }, {normal({2, 3, 4})}),
        one([](auto& x) { return logcumsumexp(x, 0); }, {normal({3, 2})}),
        one([](auto& x) { return logcumsumexp(x); }, {tensor({-700.0, 3.0, 690.0, 689.0, -5.0}, f64)})}; }},
    {"argmax", [] { return Cases{
        one([](auto& x) { return gather(x, unsqueeze(argmax(x, 1), 1), 1); }, {normal({3, 4})})}; }},
    {"argmin", [] { return Cases{
        one([](auto& x) { return gather(x, unsqueeze(argmin(x, 0), 0), 0); }, {normal({3, 4})})}; }},
    {"count_nonzero", [] { return chosen_by_set(count_nonzero); }},
    {"any_nonzero", [] { return chosen_by_set(any_nonzero); }},
    {"all_nonzero", [] { return chosen_by_set(all_nonzero); }},
    {"softmax", [] { return Cases{
        one([](auto& x) { return softmax(x); }, {normal({3, 5})}),
        one([](auto& x) { return softmax(x, 1); }, {normal({2, 3, 4})}),
        one([](auto& x) { return softmax(x, 0); }, {normal({3, 2, 4})}),
        one([](auto& x) { return softmax(x, 0); }, {normal({17})}),
        one(masked_softmax, {normal({4, 2, 3})})}; }},
    {"log_softmax", [] { return Cases{
        one([](auto& x) { return log_softmax(x); }, {normal({3, 5})}),
        one([](auto& x) { return log_softmax(x, 1); }, {normal({2, 3, 4})}),
        one([](auto& x) { return log_softmax(x, 0); }, {normal({3, 2, 4})}),
        one([](auto& x) { return log_softmax(x, -1, tensor({0.5, -2.0, 0.0, 1.0}, x.dtype())); },
            {normal({3, 4})})}; }},
    {"layer_norm", [] { return Cases{
        one([](auto& x, auto& gamma, auto& beta) { return layer_norm(x, gamma, beta); },
            {normal({3, 6}), normal({6}), normal({6})}),
        one([](auto& x, auto& gamma) { return layer_norm(x, gamma, {}, {.axes = 2}); },
            {normal({2, 3, 4}), normal({3, 4})}),
        one([](auto& x, auto& beta) { return layer_norm(x, {}, beta); }, {normal({2, 5}), normal({5})}),
        one([](auto& x) { return layer_norm(x, {}, {}, {.axes = 2}); }, {normal({2, 3, 4})}),
        one([](auto& x) { return layer_norm(x, x, x); }, {normal({4})}),
        one([](auto& x) { return layer_norm(x); }, {normal({3, 9})})}; }},
    {"residual_layer_norm", [] { return Cases{
        one([](auto& x, auto& r, auto& gamma, auto& beta) { return residual_layer_norm(x, r, gamma, beta); },
            {normal({3, 6}), normal({3, 6}), normal({6}), normal({6})}),
        one([](auto& x, auto& r) { return residual_layer_norm(x, r, {}, {}, {.axes = 2}); },
            {normal({2, 3, 4}), normal({2, 3, 4})}),
        one([](auto& x, auto& gamma) { return residual_layer_norm(x, x, gamma); }, {normal({2, 5}), normal({5})})}; }},
    {"rms_norm", [] { return Cases{
        one([](auto& x, auto& gamma) { return rms_norm(x, gamma); }, {normal({2, 3, 5}), normal({5})}),
        one([](auto& x) { return rms_norm(x); }, {normal({3, 5})})}; }},
};
// clang-format on

}  // namespace retrace::op_checks
