// The text of printed tensors.
#include <gtest/gtest.h>

#include <iomanip>
#include <limits>
#include <sstream>

#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/tape.h>

namespace retrace {
namespace {

std::string printed(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Print, NameDtypeShapeAndAlignedValues) {
  EXPECT_EQ(printed(tensor({{1, -2.5}, {0.125, 4}}).named("w")),
            "w f32[2, 2]\n"
            "[[    1,  -2.5],\n"
            " [0.125,     4]]\n");
}

TEST(Print, NumbersAndIntegers) {
  EXPECT_EQ(printed(tensor(0.5, f64)), "f64[]\n0.5\n");
  EXPECT_EQ(printed(indices({-1, 100})), "i64[2]\n[ -1, 100]\n");
}

TEST(Print, MatricesOfAHigherRankAreSetApart) {
  EXPECT_EQ(printed(indices({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})),
            "i64[2, 2, 2]\n"
            "[[[1, 2],\n"
            "  [3, 4]],\n"
            "\n"
            " [[5, 6],\n"
            "  [7, 8]]]\n");
}

TEST(Print, ShapesDtypesAndDualsPrintAsErrorsWriteThem) {
  const Tensor x = zeros({2, 3}, f64);
  std::ostringstream out;
  out << x.shape() << ' ' << x.dtype() << ' ' << Shape{} << ' ' << i64 << ' ' << Dual(1.5, -2) << std::setw(8) << f32;
  EXPECT_EQ(out.str(), "[2, 3] f64 [] i64 1.5-2e     f32");
}

TEST(Print, EmptyAndUndefined) {
  EXPECT_EQ(printed(zeros({2, 0})), "f32[2, 0]\n(empty)\n");
  EXPECT_EQ(printed(Tensor()), "undefined tensor\n");
}

TEST(Print, NanAndInfinityAreVisibleAndWithoutASign) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(printed(tensor({nan, -nan, infinity, -infinity})), "f32[4]\n[ nan,  nan,  inf, -inf]\n");
  std::ostringstream numbers;
  numbers << tensor({-nan}).item() << ' ' << tensor({{1, -nan}}, f64).at({0, 1}) << ' ' << text(-nan, " ", -infinity);
  EXPECT_EQ(numbers.str(), "nan nan nan -inf");
}

TEST(Print, DualsShowTheirTangent) {
  const std::array<Dual, 3> values{Dual(1, 2), Dual(-0.5, -3), Dual(0)};
  EXPECT_EQ(printed(tensor(std::span<const Dual>(values), {3})), "dual[3]\n[   1+2e, -0.5-3e,    0+0e]\n");
}

TEST(Print, MoreThanAThousandElementsAreShortened) {
  EXPECT_EQ(printed(arange(0, 1001)), "f32[1001]\n[   0,    1,    2, ...,  998,  999, 1000]\n");
  EXPECT_EQ(printed(zeros({1000})).find("..."), std::string::npos);
  const std::string matrix = printed(zeros({100, 20}));
  EXPECT_EQ(matrix,
            "f32[100, 20]\n"
            "[[0, 0, 0, ..., 0, 0, 0],\n"
            " [0, 0, 0, ..., 0, 0, 0],\n"
            " [0, 0, 0, ..., 0, 0, 0],\n"
            " ...,\n"
            " [0, 0, 0, ..., 0, 0, 0],\n"
            " [0, 0, 0, ..., 0, 0, 0],\n"
            " [0, 0, 0, ..., 0, 0, 0]]\n");
}

TEST(Print, LongRowsAreBroken) {
  std::istringstream lines(printed(arange(0, 500)));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 101U) << line;
  EXPECT_GT(count, 10);
}

TEST(Print, TheFlagsOfTheStreamNeitherMatterNorChange) {
  std::ostringstream out;
  out << std::hex << std::scientific << std::setprecision(2) << std::setfill('*') << std::setw(20);
  const auto flags = out.flags();
  out << tensor({0.5, 17.25});
  EXPECT_EQ(out.str(), "f32[2]\n[  0.5, 17.25]\n");
  EXPECT_EQ(out.flags(), flags);
  EXPECT_EQ(out.precision(), 2);
  EXPECT_EQ(out.fill(), '*');
}

TEST(Print, ValuesThatWereGivenBackAreNoError) {
  const Tensor w = parameter(ones({2}));
  Tape tape;
  { const Tensor y = identity(w); }
  EXPECT_EQ(printed(tape.records()[0]->output(0)), "f32[2]\n(values given back: only a tape refers to it)\n");
}

}  // namespace
}  // namespace retrace
