// A row of the table, and functions that make its cases. Each theme has a header of rows, which only op_checks.cpp
// includes.
#pragma once

#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include <retrace/core/core.h>
#include <retrace/ops/checks/check_case.h>
#include <retrace/ops/ops.h>

namespace retrace::op_checks {

/// A line of ops.def.
struct ListedOp {
  std::string_view name;
  bool records_itself;  // under its name; a composite op is made of others
};
inline constexpr ListedOp listed_ops[] = {
#define OP(name, ...) {#name, true},
#define COMPOSITE(name, ...) {#name, false},
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
};

/// The op of a row. Any name that ops.def does not list does not compile.
struct OpName {
  ListedOp op;
  consteval OpName(const char* name) : op(found(name)) {}

 private:
  static constexpr ListedOp found(std::string_view name) {
    for (const ListedOp& op : listed_ops)
      if (op.name == name) return op;
    throw "ops.def lists no op of this name";
  }
};

using Cases = CheckCases;

/// A row: an op and its cases, whose points are drawn when it is called.
struct OpChecks {
  OpName name;
  Cases (*cases)();
};

// ---- points

/// All rows draw from one generator, in the order of the table.
inline Random& numbers() {
  static Random random;
  return random;
}
inline Tensor normal(const Shape& shape) { return numbers().normal(shape, f64); }
inline Tensor positive(const Shape& shape) { return numbers().uniform(shape, 0.5, 2, f64); }

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- one case

// Every result of an op, so that gradients come through all of them.
inline Tensors all_results(const Tensor& y) { return {y}; }
inline Tensors all_results(const Tensors& y) { return y; }
inline Tensors all_results(const SortResult& r) { return {r.values}; }  // indices have no gradient
inline Tensors all_results(const AttentionResult& r) { return {r.y, r.weights}; }
inline Tensors all_results(const LstmStep& r) { return {r.h, r.c}; }
inline Tensors all_results(const LstmSequence& r) { return {r.y, r.h, r.c}; }
inline Tensors all_results(const RnnSequence& r) { return {r.y, r.h}; }
inline Tensors all_results(const GatedMemoryResult& r) {
  return r.forget_gate.defined() ? Tensors{r.memory, r.input_gate, r.forget_gate} : Tensors{r.memory, r.input_gate};
}

/// f(in[0], in[1], ...), with as many inputs as f takes.
template <class F, class... X> auto apply(const F& f, const Tensors& in, const X&... x) {
  if constexpr (std::is_invocable_v<const F&, const X&...>)
    return f(x...);
  else
    return apply(f, in, x..., in.at(sizeof...(x)));
}

/// The case f(x), f(x, y), ... at these inputs.
template <class F> CheckCase one(F f, Tensors inputs, std::vector<double> kinks = {}) {
  return {[f](const Tensors& in) { return all_results(apply(f, in)); }, std::move(inputs), std::move(kinks)};
}

/// At a point that has no second derivative.
inline CheckCase differentiable_once(CheckCase one) {
  one.derivatives = 1;
  return one;
}

// ---- the cases of similar ops

using UnaryOp = Tensor (*)(const Tensor&);
struct UnaryCases {
  Tensor (*draw)(const Shape&) = normal;
  std::vector<double> kinks = {};
};
/// A matrix, a 0-d and an empty tensor.
inline Cases unary(UnaryOp op, const UnaryCases& options = {}) {
  return {one(op, {options.draw({3, 4})}, options.kinks), one(op, {options.draw({})}, options.kinks),
          one(op, {options.draw({0, 3})}, options.kinks)};
}

using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);
/// Equal shapes, every way of broadcasting, and one tensor as both operands.
inline Cases binary(BinaryOp op, Tensor (*draw)(const Shape&) = normal) {
  return {one(op, {draw({3, 4}), draw({3, 4})}),
          one(op, {draw({2, 1, 3, 1}), draw({4, 1, 5})}),
          one(op, {draw({2, 1, 2, 1, 4}), draw({2, 1, 2, 1})}),
          one(op, {draw({2, 3, 4}), draw({2, 1, 4})}),
          one(op, {draw({3, 4}), draw({4})}),
          one(op, {draw({4}), draw({3, 4})}),
          one(op, {draw({3, 4}), draw({3, 1})}),
          one(op, {draw({3, 4}), draw({})}),
          one(op, {draw({1}), draw({2, 3})}),
          one(op, {draw({0, 3}), draw({1, 3})}),
          one([op](auto& x) { return op(x, x); }, {draw({3})})};
}

using ReduceOp = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);
enum class EmptyReduction { defined, refused };
/// All axes, one, some, a long one, and those of a 0-d and an empty tensor.
inline Cases reductions(ReduceOp op, EmptyReduction of_nothing = EmptyReduction::defined) {
  const auto along = [op](const Axes& axes, const Shape& shape, ReduceOptions options = {}) {
    return one([=](auto& x) { return op(x, axes, options); }, {normal(shape)});
  };
  Cases cases{along({}, {2, 3, 4}), along(1, {2, 3, 4}), along({0, 2}, {2, 3, 4}, {.keepdims = true}),
              along(-1, {3, 33}), along({}, {})};
  if (of_nothing == EmptyReduction::defined) cases.push_back(along(0, {4, 0}));
  return cases;
}

}  // namespace retrace::op_checks
