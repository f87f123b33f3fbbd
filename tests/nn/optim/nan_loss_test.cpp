// A loss that is NaN is told by the next step even if every gradient is finite, as after a clip or behind a mask.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

constexpr double infinite_loss = std::numeric_limits<double>::infinity();
constexpr double not_a_number_loss = std::numeric_limits<double>::quiet_NaN();

struct TwoWeights {
  Parameter w{tensor({1.0, 2.0}, f64)}, other{tensor({3.0}, f64)};
  void visit(auto&& see) const { see("w", w), see("other", other); }
};

/// The gradient of `of` is 1 everywhere, whatever the constant is.
void backward_of(const Tensor& of, double constant) {
  Tape tape;
  tape.backward(sum(of) + constant);
}

const std::string refusal =
    "step: the loss was nan, though the gradient of parameter w [2] is finite; Tape({.check_finite = true}) finds the "
    "op where it begins, zero_grad skips this step, and allow_nonfinite takes it";

template <class Any> void expect_told(const char* name) {
  const TwoWeights model;
  Any optimizer(std::vector<NamedTensor>{{"w", model.w}});
  const std::string before = weights_hash(model);
  for (int step = 0; step < 2; ++step) {
    backward_of(model.w, not_a_number_loss);
    clip_norm(model, 0.5);
    expect_error<ValueError>([&] { optimizer.step(); }, refusal);
    EXPECT_EQ(weights_hash(model), before) << name;
    EXPECT_EQ(optimizer.steps(), 0) << name;
    zero_grad(model);
  }
  backward_of(model.w, 0);
  optimizer.step();
  EXPECT_NE(weights_hash(model), before) << name;
}

TEST(NanLoss, IsToldByTheStepOfEveryOptimizer) {
  expect_told<Sgd>("Sgd");
  expect_told<RmsProp>("RmsProp");
  expect_told<Adagrad>("Adagrad");
  expect_told<Adam>("Adam");
  expect_told<AdamW>("AdamW");
  expect_told<NAdam>("NAdam");
  expect_told<RAdam>("RAdam");
  expect_told<Lion>("Lion");
  expect_told<Adafactor>("Adafactor");
  expect_told<Muon>("Muon");
}

/// Where a mask hides the logarithm of 0 from the gradient, 0 times an infinity still is NaN in the loss.
TEST(NanLoss, OfAMaskThatMultipliesIsTold) {
  const TwoWeights model;
  Sgd sgd(model, {.allow_missing = true});
  Tape tape;
  const Tensor hidden = log(tensor({0.0}, f64)) * 0;
  tape.backward(sum(model.w) + sum(hidden));
  expect_error<ValueError>([&] { sgd.step(); }, refusal);
}

TEST(NanLoss, OfOneOfSeveralBatchesIsTold) {
  const TwoWeights model;
  Sgd sgd(std::vector<NamedTensor>{{"w", model.w}});
  backward_of(model.w, not_a_number_loss);
  backward_of(model.w, 0);
  expect_error<ValueError>([&] { sgd.step(); }, refusal);
}

TEST(NanLoss, IsOfTheParametersThatItReachesAlone) {
  const TwoWeights model;
  Sgd of_w(std::vector<NamedTensor>{{"w", model.w}}), of_other(std::vector<NamedTensor>{{"other", model.other}});
  backward_of(model.w, not_a_number_loss);
  backward_of(model.other, 0);
  of_other.step();
  EXPECT_THROW(of_w.step(), ValueError);
}

TEST(NanLoss, IsTakenOnceWhereNonfiniteNumbersAreAllowed) {
  const TwoWeights model;
  const std::vector<NamedTensor> list{{"w", model.w}};
  Sgd any(list, {.lr = 1, .allow_nonfinite = true}), sgd(list, {.lr = 1});
  backward_of(model.w, not_a_number_loss);
  any.step();
  EXPECT_EQ(model.w.at({0}), 0);
  backward_of(model.w, 0);
  sgd.step();
  EXPECT_EQ(model.w.at({0}), -1);
}

/// A sum that overflows has a gradient that leads away from there.
TEST(NanLoss, AnInfiniteLossIsNone) {
  const TwoWeights model;
  Sgd sgd(std::vector<NamedTensor>{{"w", model.w}});
  for (const double constant : {infinite_loss, -infinite_loss}) {
    backward_of(model.w, constant);
    sgd.step();
  }
  EXPECT_EQ(sgd.steps(), 2);
}

TEST(NanLoss, OfAFrozenParameterIsNotTold) {
  const TwoWeights model;
  Sgd sgd(model, {.allow_missing = true});
  backward_of(model.w, not_a_number_loss);
  model.w.freeze();
  sgd.step();
  EXPECT_EQ(model.w.at({0}), 1);
}

/// A backward that throws leaves no mark, and takes none away.
TEST(NanLoss, OfABackwardThatThrewIsNotTold) {
  const TwoWeights model;
  Sgd sgd(std::vector<NamedTensor>{{"w", model.w}}, {.lr = 1});
  const auto fail = [&](double constant) {
    Tape tape;
    const Tensor y = custom_op(
        "fails", {model.w}, [](const Tensors& in) { return in[0] * 1; },
        [](const Tensor&, const Tensors&, const Tensor&) -> Tensors { throw ValueError("it fails"); });
    tape.backward(sum(model.w * 1) + sum(y) + constant);
  };
  EXPECT_THROW(fail(not_a_number_loss), ValueError);
  backward_of(model.w, 0);
  EXPECT_THROW(fail(not_a_number_loss), ValueError);
  sgd.step();
  EXPECT_EQ(model.w.at({0}), 0);
  backward_of(model.w, not_a_number_loss);
  EXPECT_THROW(fail(0), ValueError);
  EXPECT_THROW(sgd.step(), ValueError);
}

/// Derivatives of a function that uses a parameter leave the parameter's own gradient as it was.
TEST(NanLoss, OutlastsADerivativeInBetween) {
  const TwoWeights model;
  Sgd sgd(std::vector<NamedTensor>{{"w", model.w}});
  backward_of(model.w, not_a_number_loss);
  hvp(
      model, [](const TwoWeights& m) { return sum(square(m.w)) + sum(square(m.other)); },
      Tensors{ones({2}, f64), ones({1}, f64)});
  EXPECT_THROW(sgd.step(), ValueError);
}

}  // namespace
}  // namespace retrace
