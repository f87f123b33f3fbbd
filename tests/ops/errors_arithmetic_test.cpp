// Invalid arguments of arithmetic, activations, products and reductions: the type and text of each error.
#include <set>
#include <string>

#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/ops/ops_of_type.h>

namespace retrace {
namespace {

TEST(ArithmeticErrors, FunctionsOfOneTensorNeedRealNumbers) {
  const std::set<std::string> of_integers_too{"identity", "neg", "abs", "transpose", "combine_heads"};
  for (const auto& [name, function] : ops_of_type<Tensor(const Tensor&)>())
    if (!of_integers_too.contains(name) && !gives_integers(name))
      expect_refused(
          Mistake::dtype, [f = function](const ErrorOperands& with) { f(with.whole); }, needs_real(name, "x[2, 3]"));
  for (const auto& [name, function] : ops_of_type<Tensor(const Tensor&, double)>())
    if (!gives_integers(name))
      expect_refused(
          Mistake::dtype, [f = function](const ErrorOperands& with) { f(with.whole, 2); }, needs_real(name, "x[2, 3]"));
}

TEST(ArithmeticErrors, FunctionsOfTwoTensorsBroadcastAndTakeOneDtype) {
  const std::set<std::string> not_elementwise{"outer", "embedding", "masked_select"},
      of_integers_too{"add", "sub", "mul", "remainder", "maximum", "minimum"};
  for (const auto& [name, function] : ops_of_type<Tensor(const Tensor&, const Tensor&)>()) {
    if (not_elementwise.contains(name) || gives_integers(name)) continue;
    const Binary f = function;
    expect_refused(
        Mistake::shape, [f](const ErrorOperands& with) { f(with.matrix, with.four); },
        name +
            ": a[2, 3] and b[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; reshape or transpose one "
            "of them");
    expect_refused(
        Mistake::dtype, [f](const ErrorOperands& with) { f(with.matrix, with.single); },
        dtypes_differ(name, "a[2, 3] is f64", "b[2, 3] is f32"));
    if (!of_integers_too.contains(name))
      expect_refused(
          Mistake::dtype, [f](const ErrorOperands& with) { f(with.whole, with.whole); }, needs_real(name, "a[2, 3]"));
  }
}

TEST(ArithmeticErrors, CorrectionsNeedMoreElements) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { std(with.matrix, 0, {}, 2); },
       "std: x[2, 3] has 2 elements along the reduced axes, but correction 2 needs more; reduce another axis or take "
       "correction 0"},
      {Mistake::shape, [](auto& with) { var(with.number, {}, {}, 1); },
       "var: x[] has 1 elements along the reduced axes, but correction 1 needs more; reduce another axis or take "
       "correction 0"},
      {Mistake::value, [](auto& with) { var(with.matrix, {}, {}, -1); },
       "var: x[2, 3] with correction -1; give 0 or more"},
      {Mistake::value, [](auto& with) { std(with.matrix, {}, {}, nan); },
       "std: x[2, 3] with correction nan; give 0 or more"},
      {Mistake::shape, [](auto& with) { swiglu(with.matrix); },
       "swiglu: x[2, 3] has no two halves; its last axis must be even, a gate beside each value"},
      {Mistake::shape, [](auto& with) { swiglu(with.number); },
       "swiglu: x[] has no two halves; its last axis must be even, a gate beside each value"},
  });
}

TEST(ArithmeticErrors, EveryReductionChecksItsAxes) {
  const std::set<std::string> of_integers_too{"sum", "max", "min", "prod"};
  for (const auto& [listed, function] : ops_of_type<Tensor(const Tensor&, const Axes&, ReduceOptions)>()) {
    const std::string name = listed == "standard_deviation" ? "std" : listed;  // two names of one op
    const auto f = function;
    expect_refused(
        Mistake::shape, [f](const ErrorOperands& with) { f(with.matrix, 2, {}); },
        name + ": x[2, 3] has no axis 2; axes run from -2 to 1");
    expect_refused(
        Mistake::shape,
        [f](const ErrorOperands& with) {
          f(with.matrix, {1, -1}, {});
        },
        name + ": axis -1 of x[2, 3] is named twice; name each axis once");
    expect_refused(
        Mistake::shape, [f](const ErrorOperands& with) { f(with.number, 0, {}); },
        name + ": x[] is 0-d and has no axis 0; reshape it first");
    if (!of_integers_too.contains(name) && !gives_integers(name))
      expect_refused(
          Mistake::dtype, [f](const ErrorOperands& with) { f(with.whole, {}, {}); }, needs_real(name, "x[2, 3]"));
  }
}

TEST(ArithmeticErrors, OptionsAndOperands) {
  expect_refusals({
      {Mistake::value, [](auto& with) { clip(with.matrix, 1, 0); },
       "clip: x[2, 3] to the range from 1 to 0, which is empty; give low <= high"},
      {Mistake::value, [](auto& with) { clip(with.matrix, nan, 1); },
       "clip: x[2, 3] to the range from nan to 1, which is empty; give low <= high"},
      {Mistake::value, [](auto& with) { to(with.endless, i64); },
       "to: x[2] holds inf, which is no i64; clip it or fill it first"},
      {Mistake::value, [](auto& with) { to(with.undefined, f64); },
       "to: x is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
      {Mistake::value, [](auto& with) { add(with.matrix, with.undefined); },
       "add: b is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
      {Mistake::value, [](auto& with) { exp(with.undefined); },
       "exp: x is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
      {Mistake::shape, [](auto& with) { add(with.weight, with.vector); },
       "add: w[4, 2] and b[3] do not broadcast: axis -1 is 2 and 3, but must be equal or 1; reshape or transpose one "
       "of them"},
      {Mistake::shape, [](auto& with) { add(with.four, with.dual_vector); },
       "add: a[4] and b[3] do not broadcast: axis -1 is 4 and 3, but must be equal or 1; reshape or transpose one of "
       "them"},
  });
}

TEST(ArithmeticErrors, MasksAndConditions) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { where(with.flags, with.four, with.vector); },
       "where: a[4] and b[3] do not broadcast: axis -1 is 4 and 3, but must be equal or 1; reshape or transpose one of "
       "them"},
      {Mistake::shape, [](auto& with) { where(with.flags, with.vector, with.vector); },
       "where: condition[4] and a and b[3] do not broadcast: axis -1 is 4 and 3, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::shape, [](auto& with) { where(with.flags, with.vector, with.dual_vector); },
       "where: condition[4] and a and b[3] do not broadcast: axis -1 is 4 and 3, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::dtype, [](auto& with) { where(with.four, with.four, with.four); },
       "where: condition[4] is f64, but a condition is i64, 0 or not; convert it with to(i64)"},
      {Mistake::dtype, [](auto& with) { where(with.ids, with.matrix, with.single); },
       dtypes_differ("where", "a[2, 3] is f64", "b[2, 3] is f32")},
      {Mistake::shape, [](auto& with) { masked_fill(with.vector, with.flags, 1); },
       "masked_fill: x[3] and mask[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::shape, [](auto& with) { masked_fill(with.vector, with.whole, 1); },
       "masked_fill: mask[2, 3] does not broadcast to x[3]: it has more elements; reduce the mask or broadcast x "
       "first"},
      {Mistake::dtype, [](auto& with) { masked_fill(with.four, with.four, 1); },
       "masked_fill: mask[4] is f64, but a mask is i64, 0 or not; convert it with to(i64)"},
      {Mistake::dtype, [](auto& with) { masked_fill(with.whole, with.whole, 1); },
       needs_real("masked_fill", "x[2, 3]")},
  });
}

TEST(ArithmeticErrors, ComparisonsAndLogic) {
  for (const auto& [name, function] : ops_of_type<Tensor(const Tensor&, const Tensor&)>()) {
    if (!gives_integers(name)) continue;
    const Binary f = function;
    const bool of_masks = name.starts_with("logical");
    expect_refused(
        Mistake::shape, [f](const ErrorOperands& with) { f(with.ids, with.flags); },
        name +
            ": a[2] and b[4] do not broadcast: axis -1 is 2 and 4, but must be equal or 1; reshape or transpose one "
            "of them");
    expect_refused(
        Mistake::dtype, [f](const ErrorOperands& with) { f(with.matrix, with.whole); },
        of_masks ? name + ": a[2, 3] is f64, but a mask is i64, 0 or not; convert it with to(i64)"
                 : dtypes_differ(name, "a[2, 3] is f64", "b[2, 3] is i64"));
    expect_refused(
        Mistake::value, [f](const ErrorOperands& with) { f(with.ids, with.undefined); },
        name + ": b is an undefined tensor (default-constructed or moved from); assign a tensor to it first");
  }
  expect_refusals({
      {Mistake::value, [](auto& with) { less(with.undefined, 1); },
       "less: a is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
      {Mistake::dtype, [](auto& with) { logical_not(with.four); },
       "logical_not: x[4] is f64, but a mask is i64, 0 or not; convert it with to(i64)"},
      {Mistake::value, [](auto& with) { where(with.ids, with.ids, 0.5); },
       "where: a[2] is i64, which does not hold 0.5; convert it with to(f32) or to(f64)"},
      {Mistake::value, [](auto& with) { where(with.ids, infinity, with.ids); },
       "where: b[2] is i64, which does not hold inf; convert it with to(f32) or to(f64)"},
      {Mistake::shape, [](auto& with) { masked_select(with.vector, with.flags); },
       "masked_select: x[3] and mask[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::dtype, [](auto& with) { masked_select(with.four, with.four); },
       "masked_select: mask[4] is f64, but a mask is i64, 0 or not; convert it with to(i64)"},
  });
}

TEST(ArithmeticErrors, Products) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.number); },
       "matmul: a[2, 3] and b[]: a 0-d operand has no axis to sum over; multiply with mul or scale"},
      {Mistake::shape, [](auto& with) { matmul(with.vector, with.matrix, {.transpose_a = true}); },
       "matmul: a[3] and b[2, 3]: a vector cannot be transposed; drop the option"},
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.vector, {.transpose_b = true}); },
       "matmul: a[2, 3] and b[3]: a vector cannot be transposed; drop the option"},
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.matrix); },
       "matmul: a[2, 3] and b[2, 3]: the inner lengths 3 and 2 differ; transpose an operand or set transpose_a or "
       "transpose_b"},
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.weight, {.transpose_b = true}); },
       "matmul: a[2, 3] and w[4, 2]: the inner lengths 3 and 2 differ; transpose an operand or set transpose_a or "
       "transpose_b"},
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.four); },
       "matmul: a[2, 3] and b[4]: the inner lengths 3 and 4 differ; transpose an operand or set transpose_a or "
       "transpose_b"},
      {Mistake::shape, [](auto& with) { matmul(with.matrix, with.dual_four); },
       "matmul: a[2, 3] and b[4]: the inner lengths 3 and 4 differ; transpose an operand or set transpose_a or "
       "transpose_b"},
      {Mistake::shape, [](auto& with) { matmul(with.cube, with.batch); },
       "matmul: the batch axes of a[2] and of b[3] do not broadcast: axis -1 is 2 and 3, but must be equal or 1; "
       "reshape or transpose one of them"},
      {Mistake::dtype, [](auto& with) { matmul(with.single, with.square); },
       dtypes_differ("matmul", "a[2, 3] is f32", "b[3, 3] is f64")},
      {Mistake::dtype, [](auto& with) { matmul(with.ids, with.vector); },
       dtypes_differ("matmul", "a[2] is i64", "b[3] is f64")},
      {Mistake::dtype, [](auto& with) { matmul(with.whole, with.whole, {.transpose_b = true}); },
       needs_real("matmul", "a[2, 3]")},
      {Mistake::shape, [](auto& with) { linear(with.matrix, with.vector); },
       "linear: W[3] must be a matrix [out, in]; reshape it"},
      {Mistake::shape, [](auto& with) { linear(with.matrix, with.weight); },
       "linear: x[2, 3] and w[4, 2]: x must be [..., in] for W [out, in]; transpose or reshape one of them"},
      {Mistake::shape, [](auto& with) { linear(with.number, with.weight); },
       "linear: x[] and w[4, 2]: x must be [..., in] for W [out, in]; transpose or reshape one of them"},
      {Mistake::shape, [](auto& with) { linear(with.weight, with.table, with.vector); },
       "linear: w[4, 2] and table[5, 2] with b[3]: b must be [5], one number per output"},
      {Mistake::dtype, [](auto& with) { linear(with.single, with.square); },
       dtypes_differ("linear", "x[2, 3] is f32", "W[3, 3] is f64")},
      {Mistake::dtype, [](auto& with) { linear(with.matrix, with.square, with.narrow); },
       dtypes_differ("linear", "x[2, 3] is f64", "b[3] is f32")},
      {Mistake::dtype, [](auto& with) { linear(with.whole, with.whole); }, needs_real("linear", "x[2, 3]")},
      {Mistake::shape, [](auto& with) { outer(with.matrix, with.vector); },
       "outer: a[2, 3] and b[3]: both must be vectors; reshape them"},
      {Mistake::shape, [](auto& with) { outer(with.vector, with.number); },
       "outer: a[3] and b[]: both must be vectors; reshape them"},
      {Mistake::shape, [](auto& with) { outer(with.matrix, with.dual_vector); },
       "outer: a[2, 3] and b[3]: both must be vectors; reshape them"},
      {Mistake::dtype, [](auto& with) { outer(with.vector, with.narrow); },
       dtypes_differ("outer", "a[3] is f64", "b[3] is f32")},
      {Mistake::dtype, [](auto& with) { outer(with.ids, with.ids); }, needs_real("outer", "a[2]")},
  });
}

TEST(ArithmeticErrors, ReductionsOfNothingAndAlongAnAxis) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { max(with.hollow); },
       "max: x[2, 0] has no elements along the reduced axes; reduce another axis or skip it"},
      {Mistake::shape, [](auto& with) { max(with.hollow, 1); },
       "max: x[2, 0] has no elements along the reduced axes; reduce another axis or skip it"},
      {Mistake::shape, [](auto& with) { min(with.hollow, {-1}); },
       "min: x[2, 0] has no elements along the reduced axes; reduce another axis or skip it"},
      {Mistake::shape,
       [](auto& with) {
         min(with.hollow, {0, 1}, {.keepdims = true});
       },
       "min: x[2, 0] has no elements along the reduced axes; reduce another axis or skip it"},
      {Mistake::shape,
       [](auto& with) {
         sum(with.matrix, {0, 1, 0, 1, 0, 1, 0, 1, 0});
       },
       "sum: 9 axes of x[2, 3] are more than the 8 that a tensor can have; name each axis once"},
      {Mistake::shape, [](auto& with) { cumsum(with.matrix, 2); },
       "cumsum: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { cumsum(with.number); },
       "cumsum: x[] is 0-d and has no axis -1; reshape it first"},
      {Mistake::shape, [](auto& with) { argmax(with.matrix, -3); },
       "argmax: x[2, 3] has no axis -3; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { argmax(with.number); },
       "argmax: x[] is 0-d and has no axis -1; reshape it first"},
      {Mistake::shape, [](auto& with) { argmax(with.hollow); },
       "argmax: axis 1 of x[2, 0] is empty and has no largest element; choose another axis"},
  });
}

}  // namespace
}  // namespace retrace
