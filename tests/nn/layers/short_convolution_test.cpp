// ShortConvolution: against its sum, and its errors.
#include <retrace/nn/layers/short_convolution.h>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using ShortConvolutionTest = MemoryTest;

TEST_F(ShortConvolutionTest, IsTheSumOverEarlierRows) {
  for (const std::int64_t taps : {1, 2, 4})
    for (const std::int64_t time : {1, 3, 7}) {
      const ShortConvolution m(3, random, taps);
      scatter(m, random);
      const Tensor x = random.normal({2, time, 3}), y = m(x);
      ASSERT_EQ(y.shape(), x.shape());
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t t = 0; t < time; ++t)
          for (std::int64_t f = 0; f < 3; ++f) {
            double want = m.bias.at({f});
            for (std::int64_t j = 0; j < taps && j <= t; ++j) want += m.weight.at({j, f}) * x.at({b, t - j, f});
            EXPECT_NEAR(y.at({b, t, f}), want, 1e-12) << taps << " taps, step " << t;
          }
    }
}

TEST_F(ShortConvolutionTest, BeginsAsConv1d) {
  const ShortConvolution m(1000, random);
  EXPECT_EQ(m.taps(), 4);
  EXPECT_NEAR(max(abs(m.weight)).item(), 0.5, 1e-2);
  EXPECT_NEAR(deviation_of(m.weight), 0.5 / std::sqrt(3.0), 1e-2);
  EXPECT_EQ(max(abs(m.bias)).item(), 0);
}

TEST_F(ShortConvolutionTest, WrongShapesNameTheModule) {
  const ShortConvolution m(3, random);
  EXPECT_THROW(m(zeros({2, 5, 4})), ShapeError);
  EXPECT_THROW(m(zeros({5, 3})), ShapeError);
  EXPECT_THROW(m(Tensor()), ValueError);
  EXPECT_THROW(ShortConvolution(3, random, 0), ValueError);
}

}  // namespace
}  // namespace retrace
