// A step that would not update a parameter because visit() does not name it.
#include <gtest/gtest.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/ops/gradient_support.h>

#include <string>

namespace retrace {
namespace {

/// A model whose visit() omits a member.
struct Forgetful {
  Linear hidden, head;
  explicit Forgetful(Random& random) : hidden(3, 4, random), head(4, 2, random) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "forgetful");
    return head(hidden(x));
  }
  void visit(auto&& see) const { see("hidden", hidden); }
};

void backward_of(const auto& model, const Tensor& x) {
  Tape tape;
  tape.backward(sum(model(x)));
}

TEST(UnvisitedParameters, AreNamedBeforeAnythingMoves) {
  Random random(1);
  const Forgetful model(random);
  const std::string before = weights_hash(model);
  Adam adam(model);
  for (int attempt = 0; attempt < 2; ++attempt) {  // a caught error is thrown again
    backward_of(model, ones({1, 3}));
    expect_error<TapeError>(
        [&] { adam.step(); },
        "step: a parameter [2, 4] that record 1 (forgetful/linear/linear) takes got a gradient, but no optimiser has "
        "it; "
        "name it in visit() of its module, freeze it if it is not to be trained, watch() a leaf instead of making it a "
        "parameter, make an optimiser for it before the step, or set allow_unvisited");
    EXPECT_EQ(weights_hash(model), before);
    EXPECT_EQ(adam.steps(), 0);
  }
}

TEST(UnvisitedParameters, AreFoundAfterTapesWithoutAStep) {
  Random random(1);
  const Forgetful model(random);
  for (int k = 0; k < 100; ++k) backward_of(model, ones({1, 3}));  // a study before there is an optimiser
  zero_grad(model.hidden);
  zero_grad(model.head);
  Sgd sgd(model);
  backward_of(model, ones({1, 3}));
  backward_of(model, ones({1, 3}));  // gradients of two tapes accumulate
  EXPECT_THROW(sgd.step(), TapeError);
}

TEST(UnvisitedParameters, AreFoundWhenTheyComeInLater) {
  Random random(1);
  const Forgetful model(random);
  Sgd sgd(model);
  std::int64_t steps = 0;
  const auto train = [&](const auto& part) {
    backward_of(part, ones({1, 3}));
    sgd.step();
    ++steps;
  };
  while (steps < 40) train(model.hidden);
  EXPECT_THROW(while (steps < 200) train(model), TapeError);
}

TEST(UnvisitedParameters, AllowUnvisitedAndFrozenOnesPass) {
  Random random(1);
  const Forgetful allowed(random), frozen(random);
  Adam for_allowed(allowed, {.allow_unvisited = true}), for_frozen(frozen);
  backward_of(allowed, ones({1, 3}));
  for_allowed.step();
  freeze(frozen.head);
  backward_of(frozen, ones({1, 3}));
  for_frozen.step();
  EXPECT_EQ(for_allowed.steps() + for_frozen.steps(), 2);
}

TEST(UnvisitedParameters, SeveralOptimisersShareAModel) {
  Random random(1);
  const Forgetful model(random);
  Adam of_hidden(model.hidden);
  Sgd of_head(model.head);
  for (int step = 0; step < 3; ++step) {
    backward_of(model, ones({1, 3}));
    of_hidden.step();
    of_head.step();
  }
  EXPECT_EQ(of_head.steps(), 3);
}

TEST(UnvisitedParameters, AnOptimiserMadeBeforeTheStepIsInTime) {
  Random random(1);
  const Forgetful model(random);
  Adam of_hidden(model.hidden);
  backward_of(model, ones({1, 3}));
  Sgd of_head(model.head);
  of_hidden.step();
  of_head.step();
  EXPECT_EQ(of_hidden.steps() + of_head.steps(), 2);
}

TEST(UnvisitedParameters, WatchedLeavesAndStudiesAreNone) {
  Random random(1);
  const Linear model(3, 2, random);
  Adam adam(model);
  const Tensor x = ones({1, 3}).watch(), study = parameter(ones({2}));
  {
    Tape tape;
    tape.backward(sum(study * study));
  }
  backward_of(model, x);
  adam.step();
  EXPECT_EQ(adam.steps(), 1);
  EXPECT_TRUE(x.has_grad());
  EXPECT_EQ(study.grad().at({0}), 2);
}

TEST(UnvisitedParameters, WhatIsDetachedOrClearedIsNone) {
  Random random(1);
  const Linear student(3, 2, random), teacher(3, 2, random);
  Adam adam(student);
  {
    Tape tape;
    tape.backward(mse(student(ones({1, 3})), teacher(ones({1, 3})).detach()));
  }
  adam.step();
  {
    Tape tape;
    tape.backward(mse(student(ones({1, 3})), teacher(ones({1, 3}))));
  }
  zero_grad(teacher);
  adam.step();
  EXPECT_EQ(adam.steps(), 2);
}

}  // namespace
}  // namespace retrace
