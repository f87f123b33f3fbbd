#include <gtest/gtest.h>
#include <retrace/models/data/normalise.h>
#include <retrace/nn/nn.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

/// 2 samples of 2 steps of 3 features; the last one is the same everywhere.
Tensor data() { return tensor({{{1, -4, 0.1}, {3, 0, 0.1}}, {{5, 4, 0.1}, {7, 8, 0.1}}}, f64); }

TEST(Normalise, MinmaxIsFromZeroToOne) {
  const Normaliser normaliser = normalise(data(), Normalisation::minmax);
  EXPECT_EQ(normaliser.shift, (std::vector<double>{1, -4, 0.1}));
  EXPECT_EQ(normaliser.scale, (std::vector<double>{6, 12, 1}));
  const Tensor y = normaliser(data());
  EXPECT_EQ(y.at({0, 0, 0}), 0);
  EXPECT_EQ(y.at({1, 1, 0}), 1);
  EXPECT_EQ(y.at({0, 1, 1}), 1.0 / 3);
  EXPECT_EQ(y.at({1, 1, 2}), 0);
}

TEST(Normalise, StandardHasMeanZeroAndVarianceOne) {
  Random random(8);
  const Tensor x = random.normal({40, 5, 3}, 1e6, 0.01, f64);
  const Tensor y = normalise(x, Normalisation::standard)(x);
  for (std::int64_t feature = 0; feature < 3; ++feature) {
    const Tensor column = slice(y, {all, all, feature});
    EXPECT_NEAR(mean(column).item(), 0, 1e-7) << "a mean far from 0 costs no digits";
    EXPECT_NEAR(mean(square(column)).item(), 1, 1e-7);
  }
}

TEST(Normalise, StandardDividesByTheNumberOfValues) {
  const Normaliser normaliser = normalise(data(), Normalisation::standard);
  EXPECT_EQ(normaliser.shift[0], 4);
  EXPECT_DOUBLE_EQ(normaliser.scale[0], std::sqrt(5.0));
}

TEST(Normalise, AFeatureWithoutRangeBecomesZero) {
  for (const Normalisation kind : {Normalisation::minmax, Normalisation::standard}) {
    const Tensor x = full({7, 1}, 0.1, f64);  // its sum is not 0.7
    const Tensor y = normalise(x, kind)(x);
    for (const double value : y.values<double>()) EXPECT_EQ(value, 0);
    EXPECT_EQ(normalise(x, kind)(full({1, 1}, 3.1, f64)).item(), 3) << "centred, not scaled";
  }
}

TEST(Normalise, OneSampleBecomesZero) {
  const Tensor x = tensor({{5, -3}});
  const Tensor y = normalise(x, Normalisation::standard)(x);
  for (const float value : y.values<float>()) EXPECT_EQ(value, 0);
}

TEST(Normalise, WhatWasMeasuredIsAppliedToOthers) {
  const Normaliser normaliser = normalise(data(), Normalisation::minmax);
  const Tensor other = tensor({13, 8, 0.1}, f64);
  const Tensor y = normaliser(other);
  EXPECT_EQ(y.shape(), (Shape{3}));
  EXPECT_EQ(y.at({0}), 2) << "beyond the training data's range";
  const Tensor back = normaliser.inverse(y);
  for (std::int64_t k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(back.at({k}), other.at({k}));
  EXPECT_EQ(normaliser(zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Normalise, HugeAndTinyRangesWork) {
  for (const double factor : {1e200, 1e-200}) {
    const Tensor x = tensor({{1 * factor}, {3 * factor}}, f64);
    const Tensor y = normalise(x, Normalisation::standard)(x);
    EXPECT_DOUBLE_EQ(y.at({0, 0}), -1);
    EXPECT_DOUBLE_EQ(y.at({1, 0}), 1);
  }
}

TEST(Normalise, SinglePrecisionIsMeasuredInDouble) {
  const Tensor x = tensor({{16777216}, {16777217}, {16777218}}, f64).to(f32);
  EXPECT_EQ(normalise(x, Normalisation::minmax).shift[0], 16777216);
  EXPECT_EQ(normalise(x, Normalisation::minmax)(x).dtype(), f32);
}

TEST(Normalise, NothingIsRecorded) {
  const Tensor x = parameter(data(), "x");
  const Tape tape;
  EXPECT_FALSE(normalise(x, Normalisation::minmax)(x).wants_gradient());
  EXPECT_TRUE(tape.records().empty());
}

TEST(Normalise, DataThatCannotBeMeasuredAreRefused) {
  const double infinity = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  EXPECT_THROW(normalise(zeros({0, 3}), Normalisation::minmax), ValueError);
  EXPECT_THROW(normalise(zeros({3, 0}), Normalisation::minmax), ValueError);
  EXPECT_THROW(normalise(tensor({{1, infinity}}), Normalisation::minmax), ValueError);
  EXPECT_THROW(normalise(tensor({{1, std::nan("")}, {1, 2}}), Normalisation::standard), ValueError);
  EXPECT_THROW(normalise(tensor({{-largest}, {largest}}, f64), Normalisation::standard), ValueError);
  EXPECT_THROW(normalise(full({}, 1), Normalisation::minmax), ShapeError);
  EXPECT_THROW(normalise(indices({{1, 2}}), Normalisation::minmax), DtypeError);
  const Normaliser normaliser = normalise(data(), Normalisation::minmax);
  EXPECT_THROW(normaliser(zeros({2, 2})), ShapeError);
  EXPECT_THROW(normaliser(full({}, 1)), ShapeError);
  EXPECT_THROW(normaliser.inverse(indices({1, 2, 3})), DtypeError);
}

}  // namespace
}  // namespace retrace
