#include <gtest/gtest.h>
#include <retrace/models/data/pad.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

TEST(Pad, FillsBehindTheEndAndSaysWhere) {
  const Tensors sequences{tensor({{1, 2}}), tensor({{3, 4}, {5, 6}, {7, 8}}), tensor({{9, 10}, {11, 12}})};
  const PaddedBatch batch = pad(sequences);
  ASSERT_EQ(batch.values.shape(), (Shape{3, 3, 2}));
  EXPECT_EQ(list(batch.values), (std::vector<double>{1, 2, 0, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0}));
  ASSERT_EQ(batch.mask.shape(), (Shape{3, 3}));
  EXPECT_EQ(values_of<std::int64_t>(batch.mask), (std::vector<std::int64_t>{1, 0, 0, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(values_of<std::int64_t>(batch.lengths), (std::vector<std::int64_t>{1, 3, 2}));
  EXPECT_EQ(batch.values.dtype(), f32);
}

TEST(Pad, KeepsTheDtype) {
  EXPECT_EQ(pad({tensor({{1}}, f64)}).values.dtype(), f64);
  EXPECT_EQ(values_of<std::int64_t>(pad({indices({{7}}), indices({{8}, {9}})}).values),
            (std::vector<std::int64_t>{7, 0, 8, 9}));
}

TEST(Pad, EmptySequencesAreAllPadding) {
  const PaddedBatch batch = pad({zeros({0, 2}), ones({1, 2})});
  EXPECT_EQ(list(batch.values), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(values_of<std::int64_t>(batch.mask), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(values_of<std::int64_t>(batch.lengths), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(pad({zeros({0, 2})}).values.shape(), (Shape{1, 0, 2}));
  EXPECT_EQ(pad({zeros({3, 0}), zeros({1, 0})}).values.shape(), (Shape{2, 3, 0}));
}

/// With the positions where mask is 0 hidden from attention, padding changes no answer.
TEST(Pad, LengthsAndMaskHidePaddingFromAttention) {
  Random random(6);
  const Tensor one = random.normal({2, 4}, f64), two = random.normal({5, 4}, f64);
  const PaddedBatch batch = pad({one, two});
  const Tensor hidden = attention(batch.values, batch.values, batch.values,
                                  {.mask = padding_mask(batch.lengths, batch.values.dim(1), f64)});
  const Tensor alone = attention(reshape(one, {1, 2, 4}), reshape(one, {1, 2, 4}), reshape(one, {1, 2, 4}));
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t feature = 0; feature < 4; ++feature)
      EXPECT_NEAR(hidden.at({0, row, feature}), alone.at({0, row, feature}), 1e-14);
}

TEST(Pad, SequencesThatDoNotFitAreRefused) {
  EXPECT_THROW(pad(Tensors{}), ValueError);
  EXPECT_THROW(pad({zeros({2, 3}), zeros({2, 4})}), ShapeError);
  EXPECT_THROW(pad({zeros({2})}), ShapeError);
  EXPECT_THROW(pad({zeros({1, 2, 3})}), ShapeError);
  EXPECT_THROW(pad({zeros({})}), ShapeError);
  EXPECT_THROW(pad({zeros({2, 3}), zeros({2, 3}, f64)}), DtypeError);
  EXPECT_THROW(pad({Tensor()}), ValueError);
}

}  // namespace
}  // namespace retrace
