// Custom ops are recorded, printed and checked like the library's own.
#include <gtest/gtest.h>

#include <retrace/core/trace/trace_json.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/gradient_support.h>

#include <cmath>

namespace retrace {
namespace {

Tensor cube(const Tensor& x) {
  return custom_op(
      "cube", {x}, [](const Tensors& in) { return in[0] * in[0] * in[0]; },
      [](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors { return {dy * 3.0 * square(in[0])}; });
}

/// An op of two inputs whose backward returns the given gradients.
Tensor with_gradients(const Tensor& a, const Tensor& b, const Tensors& gradients) {
  return custom_op(
      "odd", {a, b}, [](const Tensors& in) { return in[0] + in[1]; },
      [gradients](const Tensor&, const Tensors&, const Tensor&) { return gradients; });
}

TEST(CustomOp, IsOneRecordWithItsOwnNameAndGradient) {
  const Tensor x = parameter(tensor({2, -1}, f64));
  Tape tape;
  const Tensor y = cube(x);
  ASSERT_EQ(tape.size(), 1);
  EXPECT_STREQ(tape.records()[0]->op().name, "cube");
  EXPECT_STREQ(tape.records()[0]->op().inputs, "x0");
  tape.backward({y}, {tensor({1, 10}, f64)});
  EXPECT_EQ(y.at({0}), 8);
  EXPECT_EQ(x.grad().at({0}), 12);
  EXPECT_EQ(x.grad().at({1}), 30);
}

TEST(CustomOp, InfoIsMadeOnceForEachName) {
  const Tensor x = parameter(ones({}));
  Tape tape;
  cube(x);
  cube(x);
  EXPECT_EQ(&tape.records()[0]->op(), &tape.records()[1]->op());
}

TEST(CustomOp, WorksOnDualNumbersAsItsFunctionsDo) {
  const Dual seeded(2, 1);
  const Tensor x = parameter(tensor(std::span(&seeded, 1), {}));
  Tape tape;
  const Tensor y = cube(x);
  EXPECT_EQ(y.values<Dual>()[0].tangent, 12);
  tape.backward(y);
  EXPECT_EQ(x.grad().values<Dual>()[0].value, 12);
  EXPECT_EQ(x.grad().values<Dual>()[0].tangent, 12);
}

TEST(CustomOp, KeepsItsInputsAndItsResultForBackward) {
  const Tensor w = parameter(full({}, 3, f64));
  Tape tape;
  Tensor y = custom_op(
      "root", {w * 3.0}, [](const Tensors& in) { return sqrt(in[0]); },
      [](const Tensor& dy, const Tensors&, const Tensor& result) -> Tensors { return {dy / (result * 2.0)}; });
  y = y * 1.0;  // the only handle to the result is gone
  tape.backward(y);
  EXPECT_DOUBLE_EQ(w.grad().item(), 0.5);
}

TEST(CustomOp, AnUndefinedGradientIsNone) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  Tape tape;
  tape.backward({with_gradients(a, b, {full({2}, 5), Tensor()})}, {ones({2})});
  EXPECT_EQ(a.grad().at({1}), 5);
  EXPECT_FALSE(b.has_grad());
}

TEST(CustomOp, TakesIntegersAndInputsThatWantNoGradient) {
  const Tensor x = parameter(ones({2}));
  Tape tape;
  const Tensor y = custom_op(
      "hide", {x, indices({0, 1})}, [](const Tensors& in) { return masked_fill(in[0], in[1], 0); },
      [](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors {
        return {masked_fill(dy, in[1], 0), Tensor()};
      });
  tape.backward({y}, {ones({2})});
  EXPECT_EQ(x.grad().at({0}), 1);
  EXPECT_EQ(x.grad().at({1}), 0);
}

TEST(CustomOp, MayReturnItsInput) {
  const Tensor x = parameter(ones({2}));
  Tape tape;
  const Tensor y = custom_op(
      "pass", {x}, [](const Tensors& in) { return in[0]; },
      [](const Tensor& dy, const Tensors&, const Tensor&) -> Tensors { return {dy}; });
  tape.backward({y}, {full({2}, 4)});
  EXPECT_EQ(x.grad().at({0}), 4);
}

/// Results, gradients and the arguments of backward may be views that begin in the middle of a storage.
TEST(CustomOp, MayReturnAndTakeViewsThatBeginInTheMiddleOfAStorage) {
  const Tensor table = parameter(tensor({{1, 2}, {3, 4}, {5, 6}}, f64)), constants = tensor({{7, 8}, {9, 10}}, f64);
  const Tensor scales = tensor({{0, 0}, {10, 20}, {30, 40}}, f64);
  for (const bool is_used_before : {false, true})
    for (const bool is_used_after : {false, true}) {
      table.zero_grad();
      Tape tape;
      const Tensor row = table[1];
      const auto used = [&](bool is) { return is ? row * 0.5 : zeros({2}, f64); };
      const Tensor before = used(is_used_before);
      const Tensor y = custom_op(
          "last row", {row, constants[1]},
          [](const Tensors& in) {
            return stack({in[1], in[0] * in[1]})[1];
          },
          [&](const Tensor& dy, const Tensors& in, const Tensor& result) -> Tensors {
            EXPECT_EQ(in[0].at({1}), 4);
            EXPECT_EQ(in[1].at({0}), 9);
            EXPECT_EQ(result.at({1}), 40);
            return {(scales * dy)[2], Tensor()};
          });
      EXPECT_EQ(y.at({0}), 27);
      const Tensor after = used(is_used_after);
      tape.backward({y + before + after}, {concat({tensor({{5.0, 5.0}}, f64), tensor({{1.0, 2.0}}, f64)})[1]});
      const double uses = 0.5 * (is_used_before + is_used_after);
      EXPECT_EQ(table.grad().at({1, 0}), 30 + uses);
      EXPECT_EQ(table.grad().at({1, 1}), 80 + 2 * uses);
      EXPECT_EQ(table.grad().at({0, 1}), 0);
      EXPECT_EQ(table.grad().at({2, 0}), 0);
    }
}

/// If backward returns one view for two inputs, neither may use its storage as its own gradient.
TEST(CustomOp, OneGradientForTwoInputsIsShared) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  Tape tape;
  const Tensor held_a = a * 2.0, held_b = b * 3.0;
  const Tensor gradient = tensor({{1, 2}, {4, 8}})[1];
  tape.backward({with_gradients(held_a, held_b, {gradient, gradient}) + held_b}, {ones({2})});
  EXPECT_EQ(a.grad().at({1}), 16);
  EXPECT_EQ(b.grad().at({1}), 27);
  EXPECT_EQ(held_a.grad().at({1}), 8);
  EXPECT_EQ(held_b.grad().at({1}), 9);
  EXPECT_EQ(gradient.at({1}), 8);
}

/// A backward may return a tensor that is held elsewhere, and return it again.
TEST(CustomOp, AGradientThatIsHeldElsewhereIsCopied) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2})), held = full({2}, 4);
  for (int walk = 1; walk <= 2; ++walk) {
    Tape tape;
    tape.backward({with_gradients(a, b, {held, held})}, {ones({2})});
    EXPECT_EQ(a.grad().at({0}), 4 * walk);
    EXPECT_EQ(b.grad().at({0}), 4 * walk);
  }
  a.zero_grad();
  Tape tape;
  tape.backward({with_gradients(a, b, {held, Tensor()})}, {ones({2})});
  a.grad().mutable_values<float>()[0] = 7;
  EXPECT_EQ(held.at({0}), 4);
}

TEST(CustomOp, ErrorsNameTheOp) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  const auto run = [&](const Tensors& gradients) {
    Tape tape;
    tape.backward({with_gradients(a, b, gradients)}, {ones({2})});
  };
  expect_error<ValueError>(
      [&] { run({ones({2})}); },
      "odd: backward gave 1 gradients for 2 inputs; give one for each (an undefined tensor for none)");
  expect_error<ShapeError>(
      [&] {
        run({ones({3}), Tensor()});
      },
      "odd: backward gave a gradient of shape [3] for input 0 of shape [2]; they must be the same");
  expect_error<DtypeError>(
      [&] {
        run({Tensor(), ones({2}, f64)});
      },
      "odd: backward gave a gradient of dtype f64 for input 1 of dtype f32; they must be the same");
  EXPECT_THROW(custom_op("none", {a}, nullptr, nullptr), ValueError);
}

// ---- the check of a trace

/// y = x^3 with a backward that sends this factor times dy x^2.
Tensor cube_with_factor(const Tensor& x, double factor, CustomOpOptions options = {}) {
  return custom_op(
      "cube", {x}, [](const Tensors& in) { return in[0] * in[0] * in[0]; },
      [factor](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors { return {dy * factor * square(in[0])}; },
      options);
}

TraceRecord traced(const std::function<Tensor()>& f) {
  Tape tape;
  const Tensor y = f();
  return trace_backward(tape, {y}, {ones(y.shape(), y.dtype())}).records.front();
}

TEST(CustomOp, IsCheckedByThreeWaysInATrace) {
  for (const Dtype dtype : {f64, f32}) {
    const Tensor x = parameter(tensor({2, -1, 0.5}, dtype));
    const auto right = traced([&] { return cube_with_factor(x, 3); }).check;
    ASSERT_TRUE(right.has_value());
    EXPECT_NE(right->dual, 0);
    EXPECT_NEAR(right->backward, right->dual, 1e-6);
    EXPECT_NEAR(right->difference, right->dual, 1e-9);
    const auto wrong = traced([&] { return cube_with_factor(x, 3.3); }).check;
    EXPECT_NEAR(wrong->backward, 1.1 * wrong->dual, 1e-5);
  }
}

TEST(CustomOp, IsNotCheckedWhereItCannotRunAgainOrIsASurrogate) {
  const Tensor x = parameter(tensor({2, -1}, f64));
  EXPECT_FALSE(traced([&] { return cube_with_factor(x, 3, {.surrogate = true}); }).check.has_value());
  EXPECT_FALSE(traced([&] { return on_gradient(x, [](const Tensor& dy) { return -dy; }); }).check.has_value());
  EXPECT_FALSE(traced([&] { return square(x); }).check.has_value());
  const auto pass_on = [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy}; };
  int calls = 0;
  const auto other_each_time = traced([&] {
    return custom_op(
        "counted", {x}, [&](const Tensors& in) { return in[0] + double(++calls); }, pass_on);
  });
  EXPECT_TRUE(std::isnan(other_each_time.check->dual) && std::isnan(other_each_time.check->difference));
  const auto only_f64 = traced([&] {
    return custom_op(
        "copied", {x},
        [](const Tensors& in) {
          const auto from = in[0].values<double>();
          return tensor(std::vector<double>(from.begin(), from.end()), in[0].shape(), f64);
        },
        pass_on);
  });
  EXPECT_TRUE(std::isnan(only_f64.check->dual));
  EXPECT_NEAR(only_f64.check->difference, only_f64.check->backward, 1e-9);
}

TEST(CustomOp, IsNotRefutedByAKink) {
  const Tensor x = parameter(zeros({1}, f64));
  const auto check =
      traced([&] {
        return custom_op(
            "my_relu", {x}, [](const Tensors& in) { return relu(in[0]); },
            [](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors { return {dy * relu(sign(in[0]))}; });
      }).check;
  EXPECT_EQ(check->backward, 0);
  EXPECT_TRUE(std::isnan(check->difference));
}

TEST(CustomOp, ItsCheckIsStoredWithItsTrace) {
  const Tensor x = parameter(tensor({2, -1}, f64));
  Tape tape;
  const Tensor y = cube(x);
  const Trace trace = trace_backward(tape, {y}, {ones({2}, f64)});
  const Trace read = trace_of(document_of(trace));
  ASSERT_TRUE(read.records[0].check.has_value());
  EXPECT_EQ(read.records[0].check->dual, trace.records[0].check->dual);
  EXPECT_EQ(document_of(read).json, document_of(trace).json);
}

}  // namespace
}  // namespace retrace
