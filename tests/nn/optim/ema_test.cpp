// The moving average of weights, by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

struct OneWeight {
  Parameter w{tensor({1.0, -2.0}, f64)};
  void visit(auto&& see) const { see("w", w); }
  void set(double value) const { w.mutable_values<double>()[0] = value; }
};

TEST(Ema, IsItsFormula) {
  const OneWeight model;
  Ema average(model, {.decay = 0.75});
  EXPECT_EQ(average.averages()[0].name, "w");
  EXPECT_EQ(average.averages()[0].tensor.at({0}), 1) << "it begins with the weights";
  model.set(5);
  average.update();
  EXPECT_EQ(average.averages()[0].tensor.at({0}), 2);
  model.set(10);
  average.update();
  EXPECT_EQ(average.averages()[0].tensor.at({0}), 4);
  EXPECT_EQ(average.averages()[0].tensor.at({1}), -2);
  EXPECT_EQ(average.updates(), 2);
  EXPECT_EQ(model.w.at({0}), 10);
}

TEST(Ema, ARisingDecayForgetsTheFirstWeights) {
  const OneWeight model;
  Ema average(model, {.decay = 0.15, .rising = true});
  model.set(11);
  average.update();  // decay 1 / 10
  EXPECT_DOUBLE_EQ(average.averages()[0].tensor.at({0}), 10);
  model.set(0);
  average.update();  // min(0.15, 2 / 11)
  EXPECT_DOUBLE_EQ(average.averages()[0].tensor.at({0}), 1.5);
}

TEST(Ema, AScopeLendsTheAveragesToTheModel) {
  const OneWeight model;
  Ema average(model, {.decay = 0.5});
  model.set(3);
  average.update();
  {
    const EmaScope averaged(average);
    EXPECT_EQ(model.w.at({0}), 2);
    EXPECT_TRUE(average.swapped());
    expect_error<ValueError>([&] { average.update(); },
                             "Ema: update() while the averages are swapped in; swap() them back first");
  }
  EXPECT_EQ(model.w.at({0}), 3);
  EXPECT_EQ(average.averages()[0].tensor.at({0}), 2);
  EXPECT_EQ(average.updates(), 1);
  model.set(4);
  average.update();
  EXPECT_EQ(average.averages()[0].tensor.at({0}), 3);
}

TEST(Ema, TrainingGoesOnAsIfNothingHadBeenSwapped) {
  const auto train = [](bool swapped) {
    Random random(3);
    const Linear model(3, 2, random);
    Ema average(model, {.decay = 0.5});
    Adam adam(model, {.lr = 0.1});
    for (int step = 0; step < 4; ++step) {
      Tape tape;
      tape.backward(mean(square(model(random.normal({5, 3})))));
      adam.step();
      average.update();
      if (swapped) const EmaScope averaged(average);
    }
    return weights_hash(model) + weights_hash(average.averages());
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(Ema, WrongOptionsAndAConvertedModelAreNamed) {
  const OneWeight model;
  for (const double decay : {-0.1, 1.0, std::nan("")}) EXPECT_THROW(Ema(model, {.decay = decay}), ValueError) << decay;
  expect_error<ValueError>([&] { Ema(model, {.decay = 1}); },
                           "Ema: the decay is 1; it has to be from 0 to below 1, such as 0.999");
  Ema average(model);
  to(model, f32);
  expect_error<DtypeError>(
      [&] { average.update(); },
      "Ema: parameter w is f32, but its average is f64; make the average after converting the model");
  EXPECT_EQ(average.updates(), 0);
  EXPECT_THROW(average.swap(), DtypeError) << "the model would become f64 again";
  EXPECT_EQ(model.w.dtype(), f32);
}

}  // namespace
}  // namespace retrace
