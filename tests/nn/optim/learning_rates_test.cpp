// The learning rates of groups of parameters, and parameters that are frozen for a while.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// A body and a head, each one number, and their gradients.
struct Pair {
  Parameter body{tensor({1.0}, f64)}, head{tensor({1.0}, f64)};
  void visit(auto&& see) const { see("body", body), see("head", head); }
  void backward(double of_body, double of_head) const {
    Tape tape;
    tape.backward(sum(of_body * body + of_head * head));
  }
};

TEST(LearningRates, AScheduleKeepsTheRatiosOfTheGroups) {
  const Pair pair;
  Sgd sgd({{{{"body", pair.body}}, {.lr = 0.25}}, {{{"head", pair.head}}, {.lr = 1}}});
  const StepDecay halves{.base = 1, .gamma = 0.5, .every = 1};
  double body = 1, head = 1;
  for (int step = 0; step < 4; ++step) {
    sgd.scale_learning_rates(halves(step));
    EXPECT_EQ(sgd.learning_rate(), 0.25 * halves(step)) << "the scale is of the first rate, not of the last";
    EXPECT_EQ(sgd.learning_rate(1), halves(step));
    pair.backward(1, 1);
    sgd.step();
    body -= 0.25 * halves(step), head -= halves(step);
    EXPECT_EQ(pair.body.item(), body);
    EXPECT_EQ(pair.head.item(), head);
  }
}

TEST(LearningRates, OneRateIsSetForAllGroupsOrForOne) {
  const Pair pair;
  Adam adam({{{{"body", pair.body}}, {.lr = 0.25}}, {{{"head", pair.head}}, {.lr = 1}}});
  EXPECT_EQ(adam.groups(), 2U);
  adam.set_learning_rate(0.5);
  EXPECT_EQ(adam.learning_rate(0), 0.5);
  EXPECT_EQ(adam.learning_rate(1), 0.5);
  adam.set_learning_rate(0.125, 1);
  EXPECT_EQ(adam.learning_rate(0), 0.5);
  EXPECT_EQ(adam.learning_rate(1), 0.125);
  adam.scale_learning_rates(1);
  EXPECT_EQ(adam.learning_rate(0), 0.25) << "with which it was made";
  EXPECT_EQ(adam.learning_rate(1), 1);
}

TEST(LearningRates, AWrongGroupOrFactorChangesNothing) {
  const Pair pair;
  Sgd sgd(pair, {.lr = 0.25});
  expect_error<IndexError>([&] { sgd.learning_rate(1); },
                           "learning_rate: there is no group 1; the optimiser has 1, counted from 0");
  expect_error<IndexError>([&] { sgd.set_learning_rate(1, 1); },
                           "set_learning_rate: there is no group 1; the optimiser has 1, counted from 0");
  expect_error<ValueError>([&] { sgd.scale_learning_rates(-1); },
                           "scale_learning_rates: the factor is -1; it has to be a number of 0 or more, such as "
                           "schedule(step) with base 1");
  EXPECT_THROW(sgd.scale_learning_rates(nan), ValueError);
  EXPECT_THROW(sgd.scale_learning_rates(std::numeric_limits<double>::infinity()), ValueError);
  EXPECT_EQ(sgd.learning_rate(), 0.25);
}

TEST(LearningRates, AStandingOfAnotherOptimiserChangesNothing) {
  const Pair pair;
  Sgd both(pair, {.lr = 0.25}), one(std::vector<NamedTensor>{{"head", pair.head}}, {.lr = 0.5});
  one.resume(7);
  EXPECT_THROW(one.resume(-1), ValueError);
  EXPECT_EQ(one.standing().updates, (std::vector<std::int64_t>{7}));
  expect_error<ValueError>([&] { both.resume(one.standing()); },
                           "resume: the standing is of 1 parameters in 1 groups, the optimiser has 2 in 1; make it as "
                           "it was made before");
  EXPECT_EQ(both.steps(), 0);
  EXPECT_EQ(both.learning_rate(), 0.25);
}

TEST(FrozenParameters, AStepSkipsWhatIsFrozenAndNothingElse) {
  const Pair pair;
  pair.body.freeze();
  Sgd sgd(pair, {.lr = 1, .weight_decay = 0.5});
  pair.backward(1, 1);
  sgd.step();
  EXPECT_EQ(pair.body.item(), 1) << "not even decayed";
  EXPECT_EQ(pair.head.item(), -0.5);
  expect_error<TapeError>([&] { sgd.step(); },
                          "step: parameter head [1] has no gradient since the last step; call backward on a loss that "
                          "depends on it, or set allow_missing");
}

TEST(FrozenParameters, AParameterIsFrozenAndThawedAfterTheOptimiserWasMade) {
  const Pair pair;
  Sgd sgd(pair, {.lr = 1});
  pair.body.freeze();
  pair.backward(1, 1);
  sgd.step();
  EXPECT_EQ(pair.body.item(), 1);
  EXPECT_EQ(pair.head.item(), 0);
  pair.body.watch();
  pair.backward(1, 1);
  sgd.step();
  EXPECT_EQ(pair.body.item(), 0);
  EXPECT_EQ(pair.head.item(), -1);
  EXPECT_EQ(sgd.slots()[0].updates, 1);
  EXPECT_EQ(sgd.slots()[1].updates, 2);
  EXPECT_THROW(sgd.step(), TapeError) << "a thawed parameter needs a gradient again";
}

/// Otherwise a thawed parameter would get it together with the next one.
TEST(FrozenParameters, AGradientFromBeforeTheFreezeIsNeverApplied) {
  const Pair pair;
  Sgd sgd(pair, {.lr = 1});
  pair.backward(100, 1);
  pair.body.freeze();
  sgd.step();
  EXPECT_EQ(pair.body.item(), 1);
  pair.body.watch();
  pair.backward(1, 1);
  sgd.step();
  EXPECT_EQ(pair.body.item(), 0);
}

/// The first update of Adam is lr sign(g), however late it comes.
TEST(FrozenParameters, AdamCountsTheUpdatesOfEachParameter) {
  const Pair pair;
  Adam adam(pair, {.lr = 0.125, .eps = 0});
  pair.body.freeze();
  for (int step = 0; step < 5; ++step) {
    pair.backward(1, 1);
    adam.step();
  }
  pair.body.watch();
  pair.backward(3, 1);
  adam.step();
  EXPECT_NEAR(pair.body.item(), 1 - 0.125, 1e-15);
  EXPECT_NEAR(pair.head.item(), 1 - 6 * 0.125, 1e-14);
}

struct FrozenTagger {
  Lstm body;
  Linear head;
  explicit FrozenTagger(Random& random) : body(3, 4, random), head(4, 2, random) {}
  void visit(auto&& see) const { see("body", body), see("head", head); }
};

TEST(FrozenParameters, OfAFrozenPartTheGradientsAreNotMissedAndTheOthersAre) {
  Random random(5);
  const FrozenTagger model(random);
  freeze(model.body);
  AdamW adam(model, {.lr = 0.1, .weight_decay = 0.1});
  const std::string before = weights_hash(model.body);
  const Tensor x = random.normal({2, 5, 3});
  {
    Tape tape;
    tape.backward(sum(model.head(model.body(x).y)));
  }
  adam.step();
  EXPECT_EQ(weights_hash(model.body), before);
  {
    Tape tape;
    tape.backward(sum(model.body(x).y * model.head.weight[0]));
  }
  EXPECT_THROW(adam.step(), TapeError) << "the bias of the head was forgotten";
}

}  // namespace
}  // namespace retrace
