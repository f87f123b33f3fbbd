// The rules of the tape: recording, gradients, lifetimes and misuse.
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/scope.h>
#include <retrace/core/tape/tape.h>

#include <gtest/gtest.h>

#include <cmath>

#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

TEST(Tape, GivesTheGradientOfAParameter) {
  const Tensor x = tensor({{1, 2}, {3, 4}}), w = parameter(tensor({{0.5}, {-1}}), "w");
  Tape tape;
  tape.backward(sum(square(matmul(x, w))));
  // y = (-1.5, -2.5); dw = 2 x^T y
  EXPECT_EQ(w.grad().at({0, 0}), -18);
  EXPECT_EQ(w.grad().at({1, 0}), -26);
}

TEST(Tape, RecordsOnlyWhatWantsAGradient) {
  const Tensor x = ones({3}), w = parameter(ones({3}));
  Tape tape;
  const Tensor batch = exp(x * 2.0);
  EXPECT_EQ(tape.size(), 0);
  EXPECT_FALSE(batch.wants_gradient());
  tape.backward(sum(w * batch));
  EXPECT_EQ(tape.size(), 2);
  EXPECT_FALSE(batch.has_grad());
}

TEST(Tape, BackwardClosesIt) {
  const Tensor w = parameter(ones({3}));
  Tape tape;
  tape.backward(sum(w));
  const Tensor after = w * 2.0;
  EXPECT_EQ(tape.size(), 1);
  EXPECT_FALSE(after.wants_gradient());
}

TEST(Tape, WithoutOneNothingIsRecorded) {
  const Tensor w = parameter(ones({3}));
  EXPECT_FALSE((w * 2.0).wants_gradient());
  Tape tape;
  {
    NoTape no_tape;
    EXPECT_FALSE((w * 2.0).wants_gradient());
  }
  EXPECT_TRUE((w * 2.0).wants_gradient());
}

TEST(Tape, TapesNestAndTheInnermostRecords) {
  const Tensor w = parameter(ones({1}));
  Tape outer;
  const Tensor a = w * 2.0;
  {
    Tape inner;
    inner.backward(w * 3.0);
    EXPECT_EQ(inner.size(), 1);
  }
  w.zero_grad();
  outer.backward(a);
  EXPECT_EQ(outer.size(), 1);
  EXPECT_EQ(w.grad().item(), 2);
}

TEST(Tape, KeepsTheGradientOfWhatIsHeldOnly) {
  const Tensor w = parameter(ones({2}));
  Tape tape;
  const Tensor held = w * 3.0;
  const Tensor loss = sum(square(exp(held)));
  tape.backward(loss);
  EXPECT_TRUE(held.has_grad());
  const Record* exponential = tape.records()[1];
  EXPECT_FALSE(exponential->output(0).has_values());
  EXPECT_FALSE(exponential->output(0).has_grad());
}

TEST(Tape, KeepHoldsEverything) {
  const Tensor w = parameter(ones({2}));
  Tape tape({.keep = true});
  tape.backward(sum(exp(w * 3.0)));
  for (const Record* record : tape.records()) {
    EXPECT_TRUE(record->output(0).has_values());
    EXPECT_TRUE(record->output(0).has_grad());
  }
}

TEST(Tape, ParametersAccumulateUntilUsedUp) {
  const Tensor w = parameter(ones({1}));
  for (int k = 0; k < 2; ++k) {
    Tape tape;
    tape.backward(w * 2.0);
  }
  EXPECT_EQ(w.grad().item(), 4);
  const Tensor before = w.grad();
  w.use_up_grad();
  Tape tape;
  tape.backward(w * 5.0);
  EXPECT_EQ(w.grad().item(), 5);
  EXPECT_EQ(before.item(), 4) << "a gradient that somebody holds was overwritten";
}

TEST(Tape, AUsedGradientCountsAgainWhereItIsReused) {
  const Tensor w = parameter(ones({1}));
  for (const double expected : {2.0, 4.0}) {
    Tape tape;
    tape.backward(w * 2.0);
    EXPECT_EQ(w.grad().item(), expected);
    w.use_up_grad();
    EXPECT_FALSE(w.has_unused_grad());
    w.reuse_grad();
    EXPECT_TRUE(w.has_unused_grad());
  }
}

TEST(Tape, TwoInputsThatAreOneNodeBothCount) {
  const Tensor x = parameter(tensor({3.0}));
  Tape tape;
  tape.backward(sum(mul(x, x)));
  EXPECT_EQ(x.grad().at({0}), 6);
}

TEST(Tape, SharedGradientBuffersAreCopiedBeforeTheyGrow) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  Tape tape;
  const Tensor y = a + b;  // passes its gradient on to both
  tape.backward(sum(y) + sum(a * 5.0));
  EXPECT_EQ(a.grad().at({0}), 6);
  EXPECT_EQ(b.grad().at({0}), 1);
  EXPECT_EQ(y.grad().at({0}), 1);
}

TEST(Tape, GradientsThatAUserSeesShareNoBuffer) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  Tape tape;
  const Tensor y = a + b, z = identity(y);
  tape.backward(sum(z));
  for (const Tensor& x : {a, b, y, z}) {
    const Tensor gradient = x.grad();
    for (float& element : gradient.mutable_values<float>()) element += 1;
    EXPECT_EQ(x.grad().at({0}), 2);
  }
}

// identity(f(w)), held by this list alone, so that its cotangent is read in place.
Tensors only_output(const Tensor& w, Tensor (*f)(const Tensor&)) {
  Tensors outputs;
  outputs.push_back(identity(f(w)));
  return outputs;
}

// A cotangent belongs to the caller, who may modify it afterwards, as well as the gradients that a tape keeps.
TEST(Tape, GradientsThatATapeKeepsShareNoBufferWithACotangent) {
  const Tensor w = parameter(ones({2})), u = full({2}, 3);
  Tape tape({.keep = true});
  tape.backward(only_output(w, identity), {u});
  for (const Record* record : tape.records()) {
    const Tensor gradient = record->output(0).grad();
    gradient.mutable_values<float>()[0] = 5;
    EXPECT_EQ(u.at({0}), 3);
    u.mutable_values<float>()[1] = 7;
    EXPECT_EQ(gradient.at({1}), 3);
    u.mutable_values<float>()[1] = 3;
  }
  EXPECT_EQ(w.grad().at({0}), 3);
}

TEST(Tape, AWalkThatPassesACotangentOnCopiesIt) {
  const Tensor w = parameter(ones({2})), u = full({2}, 3);
  Tape tape;
  BackwardWalk walk(tape, only_output(w, exp), {u});
  ASSERT_TRUE(walk.next());
  walk.record().input(0).grad().mutable_values<float>()[0] = 5;
  EXPECT_EQ(u.at({0}), 3);
}

TEST(Tape, ParametersThatALayerNormAddsShareNoBuffer) {
  const Tensor x = parameter(tensor({1, 2, 4})), residual = parameter(tensor({0, 1, 5}));
  Tape tape;
  const Tensor loss = sum(square(residual_layer_norm(x, residual) + 1.0) * tensor({1, 2, 3}));
  tape.backward(loss);
  const Tensor before = residual.grad().clone(), of_x = x.grad();
  for (float& element : of_x.mutable_values<float>()) element = 0;
  EXPECT_TRUE(same_bits(residual.grad(), before));
}

// With the option keep, every gradient has a buffer of its own; otherwise it may reuse that of its source.
std::vector<float> gradients_of_elementwise_ops(const TapeOptions& options) {
  Random random(5);
  const Tensor w = parameter(random.normal({37})), v = parameter(random.normal({37}));
  Tape tape(options);
  const Tensor a = tanh(w * v - v * v), held = sigmoid(a + exp(v));
  const Tensor both = a * held, twice = mul(both, both), passed = both - twice;
  tape.backward(sum(tanh(passed) * tanh(passed + both)));
  std::vector<float> all;
  for (const Tensor& x : {w.grad(), v.grad(), held.grad()})
    for (const float element : x.values<float>()) all.push_back(element);
  return all;
}

TEST(Tape, GradientsInPlaceOfOthersHaveTheSameBits) {
  EXPECT_EQ(gradients_of_elementwise_ops({}), gradients_of_elementwise_ops({.keep = true}));
}

TEST(Tape, AWalkStepByStepLeavesTheGradientsOfEachRecord) {
  const Tensor w = parameter(ones({2}));
  Tape tape;
  BackwardWalk walk(tape, sum(exp(exp(w))));
  for (walk.next(); walk.next();) EXPECT_TRUE(walk.record().output(0).has_grad()) << walk.record();
  EXPECT_TRUE(w.has_grad());
}

TEST(Tape, SeveralOutputsWithCotangents) {
  const Tensor x = parameter(tensor({1.0, 2.0}));
  Tape tape;
  const Tensor a = x * 2.0, b = x * 3.0, unused = x * 100.0;
  tape.backward({a, b, unused}, {tensor({1.0, 10.0}), tensor({1.0, 1.0}), Tensor()});
  EXPECT_EQ(x.grad().at({0}), 5);
  EXPECT_EQ(x.grad().at({1}), 23);
}

TEST(Tape, AWalkLeftEarlyLeavesNothingBehind) {
  const Tensor w = parameter(ones({2}));
  {
    Tape tape;
    const Tensor loss = sum(exp(exp(w)));
    BackwardWalk walk(tape, loss);
    ASSERT_TRUE(walk.next());
    EXPECT_STREQ(walk.record().op().name, "sum");
  }
  EXPECT_FALSE(w.has_grad());
}

TEST(TapeErrors, SayWhatToDo) {
  const Tensor w = parameter(ones({2}), "w");
  EXPECT_EQ(message_of<Error>([&] {
              Tape tape;
              tape.backward(w * 2.0);
            }),
            "backward: [2] has 2 elements, and a loss has one; reduce it with sum() or mean(), or give a cotangent");
  EXPECT_EQ(message_of<Error>([&] {
              Tape tape;
              const Tensor loss = sum(w);
              tape.backward(loss);
              tape.backward(loss);
            }),
            "backward: this tape was walked already, and gave its saved values back; record again on a new tape");
  EXPECT_EQ(
      message_of<Error>([&] {
        Tape tape;
        tape.backward(sum(ones({2})).named("loss"));
      }),
      "backward: nothing leads from loss[] to a tensor that wants a gradient; make one a parameter or watch() it, "
      "before the ops, and compute inside the tape's scope");
  EXPECT_EQ(
      message_of<Error>([&] {
        Tensor h;
        {
          Tape tape;
          h = (w * 2.0).named("h");
        }
        Tape tape;
        h + w;
      }),
      "add: input 'h' [2] was recorded on another (earlier or outer) tape, where its gradient would be lost; call "
      "detach() on it, or record both on one tape");
  EXPECT_EQ(
      message_of<Error>([&] {
        Tape tape;
        const Tensor y = exp(w).named("y");
        const Tensor loss = sum(y);
        y.mutable_values<float>()[0] = 7;
        tape.backward(loss);
      }),
      "backward: record 0 (exp) saved y[2], and its values were changed since; change them after backward, or work "
      "on a clone()");
  EXPECT_EQ(message_of<Error>([&] { ones({2}).named("x").grad(); }),
            "grad: x[2] does not want a gradient; make it a parameter, or watch() it before use");
  EXPECT_EQ(message_of<Error>([&] {
              Tape tape({.check_finite = true});
              log(w - 1.0);
            }),
            "log: output 0 [2] of what would be record 1 is -inf at [0] (check_finite is on); its inputs are finite");
  EXPECT_EQ(message_of<Error>([&] {
              Tape tape({.check_finite = true});
              const int module = 0;
              const Scope encoder(&module, "encoder");
              mul(w, tensor({1, std::nan("")}).named("mask"));
            }),
            "mul in encoder: output 0 [2] of what would be record 0 is nan at [1] (check_finite is on); "
            "input 'mask' [2] already is nan at [1]");
  EXPECT_EQ(message_of<Error>([&] {
              Tape tape({.check_finite = true});
              const int module = 0;
              const Scope encoder(&module, "encoder");
              tape.backward(sum(sqrt(w - 1.0)));
            }),
            "backward: the gradient of input 0 [2] of record 1 (encoder/sqrt) is inf at [0] (check_finite is on); look "
            "at its inputs and at the gradient of its output, which Tape({.keep = true}) holds");
}

TEST(TapeErrors, BackwardOnAnotherTapeIsRefused) {
  const Tensor w = parameter(ones({1}));
  Tape first;
  const Tensor y = w * 2.0;
  Tape second;
  EXPECT_THROW(second.backward(y), TapeError);
  first.backward(y);
  EXPECT_EQ(w.grad().item(), 2);
}

}  // namespace
}  // namespace retrace
