// What the cases of the ops in the gradient-check table are made with. Each theme has a header of its own, for
// op_cases.cpp alone: there an op without a case does not compile.
#pragma once

#include <limits>

#include <retrace/core/core.h>
#include <retrace/models/checks/check_case.h>
#include <retrace/ops/ops.h>

namespace retrace::op_checks {

enum class Op {
#define OP(name) name,
#define COMPOSITE(name) name,
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
};

using Cases = std::vector<CheckCase>;
/// An op without a specialisation here does not compile.
template <Op op> Cases cases_of() = delete;

inline Random& numbers() {
  static Random random;
  return random;
}
inline Tensor normal(const Shape& shape) { return numbers().normal(shape, f64); }
inline Tensor positive(const Shape& shape) { return numbers().uniform(shape, 0.5, 2, f64); }

using UnaryOp = Tensor (*)(const Tensor&);
inline CheckCase of(UnaryOp op, const Tensor& x, std::vector<double> kinks = {}) {
  return {[op](const Tensors& in) { return Tensors{op(in[0])}; }, {x}, std::move(kinks)};
}
inline Cases unary(UnaryOp op, std::vector<double> kinks = {}) {
  return {of(op, normal({3, 4}), kinks), of(op, normal({}), kinks), of(op, normal({0, 3}), kinks)};
}
inline Cases unary_positive(UnaryOp op) {
  return {of(op, positive({3, 4})), of(op, positive({})), of(op, positive({2, 0}))};
}

using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);
inline Cases binary(BinaryOp op, Tensor (*draw)(const Shape&) = normal) {
  const auto both = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  return {{both, {draw({3, 4}), draw({3, 4})}},
          {both, {draw({2, 1, 3, 1}), draw({4, 1, 5})}},
          {both, {draw({3, 4}), draw({4})}},
          {both, {draw({3, 4}), draw({})}},
          {both, {draw({1}), draw({2, 3})}},
          {both, {draw({0, 3}), draw({1, 3})}},
          {[op](const Tensors& in) { return Tensors{op(in[0], in[0])}; }, {draw({3})}}};
}

using ReduceOp = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);
inline Cases reductions(ReduceOp op, bool of_nothing = true) {
  const auto with = [op](const Axes& axes, ReduceOptions options) {
    return [op, axes, options](const Tensors& in) { return Tensors{op(in[0], axes, options)}; };
  };
  Cases cases{{with({}, {}), {normal({2, 3, 4})}},
              {with(1, {}), {normal({2, 3, 4})}},
              {with({0, 2}, {.keepdims = true}), {normal({2, 3, 4})}},
              {with(-1, {}), {normal({3, 33})}},
              {with({}, {}), {normal({})}}};
  if (of_nothing) cases.push_back({with(0, {}), {normal({4, 0})}});
  return cases;
}

template <class F> CheckCase one(F f, std::initializer_list<Tensor> inputs, std::vector<double> kinks = {}) {
  return {[f](const Tensors& in) { return Tensors{f(in)}; }, Tensors(inputs), std::move(kinks)};
}

inline const double infinity = std::numeric_limits<double>::infinity();

}  // namespace retrace::op_checks
