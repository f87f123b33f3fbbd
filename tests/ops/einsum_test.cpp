// einsum: against plain loops over all letters, as the products that it stands for, and what it refuses.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <retrace/core/trace/inspect.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Letters = std::vector<std::string>;

/// The sum of the products of all elements, over every value of every letter of the groups.
Tensor plain_einsum(const Letters& groups, const std::string& of_y, const Tensors& operands) {
  std::map<char, std::int64_t> lengths, at;
  for (std::size_t k = 0; k < groups.size(); ++k)
    for (std::size_t axis = 0; axis < groups[k].size(); ++axis)
      lengths[groups[k][axis]] = operands[k].dim(static_cast<int>(axis));
  std::int64_t count = 1;
  for (const auto& [letter, length] : lengths) count *= length;
  const auto place = [&](const std::string& group, const Shape& shape) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < group.size(); ++axis) offset += at[group[axis]] * shape.strides()[axis];
    return static_cast<std::size_t>(offset);
  };
  std::vector<std::int64_t> shape;
  for (const char letter : of_y) shape.push_back(lengths.at(letter));
  const Tensor y = zeros(Shape(shape), f64);
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t rest = k;
    for (const auto& [letter, length] : lengths) at[letter] = rest % length, rest /= length;
    double term = 1;
    for (std::size_t n = 0; n < groups.size(); ++n)
      term *= operands[n].values<double>()[place(groups[n], operands[n].shape())];
    y.mutable_values<double>()[place(of_y, y.shape())] += term;
  }
  return y;
}

/// A letter is as long as its place in the alphabet says, from 2 to 5.
Shape shape_of(const std::string& group) {
  std::vector<std::int64_t> lengths;
  for (const char letter : group) lengths.push_back(2 + (letter - 'a') % 4);
  return Shape(lengths);
}

TEST(Einsum, IsTheSumOfAllProducts) {
  const std::vector<std::pair<Letters, std::string>> cases{
      {{"ij", "jk"}, "ik"},
      {{"ij", "jk"}, "ki"},
      {{"ij", "kj"}, "ik"},
      {{"ji", "jk"}, "ik"},
      {{"ji", "kj"}, "ki"},
      {{"bij", "bjk"}, "bik"},
      {{"bij", "bjk"}, "kbi"},
      {{"ibj", "jkb"}, "bki"},
      {{"bij", "bjk"}, "ik"},
      {{"ij", "ij"}, ""},
      {{"ij", "ij"}, "i"},
      {{"ij", "ji"}, "ij"},
      {{"i", "j"}, "ji"},
      {{"ij", "k"}, "kj"},
      {{"bi", "bj"}, "bij"},
      {{"", "ij"}, "j"},
      {{"ij", ""}, "ji"},
      {{"i", "i"}, "i"},
      {{"abc", "cd", "de"}, "abe"},
      {{"abc", "abd", "acd"}, "bd"},
      {{"ab", "ac", "ad"}, "bcd"},
      {{"ab", "bc", "ca"}, ""},
      {{"abc", "cab"}, "b"},
      {{"abcd", "dbef", "fg"}, "gaec"},
      {{"ijk", "kjl"}, "il"},
      {{"ii"}, "i"},
      {{"ii"}, ""},
      {{"iij", "jk"}, "ik"},
      {{"ijij"}, "ji"},
      {{"iii"}, "i"},
      {{"iai", "bb"}, "ab"},
      {{"abcdefgh"}, "hgfedcba"},
      {{"abcd", "efgh"}, "ae"},
  };
  for (const auto& [groups, of_y] : cases) {
    Random random(1);
    std::string equation;
    Tensors operands;
    for (const std::string& group : groups) {
      equation += (operands.empty() ? "" : ",") + group;
      operands.push_back(random.normal(shape_of(group), f64));
    }
    equation += "->" + of_y;
    expect_near(einsum(equation, operands), plain_einsum(groups, of_y, operands), 1e-12, equation);
  }
}

TEST(Einsum, WithoutAnArrowYHasTheLettersThatOccurOnceInOrder) {
  Random random(2);
  const Tensor a = random.normal({3, 4}, f64), b = random.normal({4, 5}, f64), square = random.normal({4, 4}, f64);
  EXPECT_TRUE(same_bits(einsum("ij,jk", {a, b}), einsum("ij,jk->ik", {a, b})));
  EXPECT_TRUE(same_bits(einsum("zj,jB", {a, b}), transpose(einsum("zj,jB->zB", {a, b}))));
  EXPECT_TRUE(same_bits(einsum("ba", {a}), transpose(a)));
  EXPECT_TRUE(same_bits(einsum("ii", {square}), einsum("ii->", {square})));
  EXPECT_TRUE(same_bits(einsum(" i j , j k -> i k ", {a, b}), matmul(a, b)));
}

TEST(Einsum, AxesOfAnEllipsisBroadcastFromTheLast) {
  Random random(3);
  const Tensor a = random.normal({2, 1, 3, 4}, f64), b = random.normal({5, 4, 2}, f64), v = random.normal({4}, f64);
  expect_near(einsum("...ij,...jk->...ik", {a, b}), matmul(a, b), 1e-14);
  expect_near(einsum("...ij,...jk", {a, b}), matmul(a, b), 1e-14);
  expect_near(einsum("...i,i->...", {a, v}), matmul(a, v), 1e-14);
  expect_near(einsum("...,...->...", {a, v}), a * v, 0);
  expect_near(einsum("i...->...i", {a}), transpose(a, {1, 2, 3, 0}), 0);
  expect_near(einsum("...ij->ij", {a}), sum(a, {0, 1}), 1e-14);
  // An axis that only one operand has at full length is summed, too.
  const Tensor wide = random.normal({5, 3, 4}, f64), narrow = random.normal({1, 4, 2}, f64);
  expect_near(einsum("...ij,...jk->ik", {wide, narrow}), sum(matmul(wide, narrow), 0), 1e-13);
}

/// The bits of the products that it replaces, so that a model may be written either way.
TEST(Einsum, HasTheBitsOfTheProductsThatItStandsFor) {
  Random random(4);
  for (const Dtype dtype : {f32, f64}) {
    const Tensor q = random.normal({2, 3, 7, 5}, dtype), k = random.normal({2, 3, 9, 5}, dtype);
    EXPECT_TRUE(same_bits(einsum("bhqd,bhkd->bhqk", {q, k}), matmul(q, k, {.transpose_b = true})));
    const Tensor a = random.normal({6, 4}, dtype), b = random.normal({4, 3}, dtype);
    EXPECT_TRUE(same_bits(einsum("ij,jk->ik", {a, b}), matmul(a, b)));
    EXPECT_TRUE(same_bits(einsum("ji,jk->ik", {transpose(a), b}), matmul(transpose(a), b, {.transpose_a = true})));
    EXPECT_TRUE(same_bits(einsum("ij,ij->ij", {a, a}), a * a));
    EXPECT_TRUE(same_bits(einsum("ij->i", {a}), sum(a, 1)));
  }
}

/// A matrix product of operands that lie well is one record, not a copy more.
TEST(Einsum, CopiesNoOperandThatMatmulCanRead) {
  const Tensor q = ones({2, 7, 5}, f64).watch(), k = ones({2, 9, 5}, f64).watch();
  Tape tape;
  einsum("bqd,bkd->bqk", {q, k});
  ASSERT_EQ(tape.size(), 1) << tape;
  EXPECT_EQ(std::string(tape.records()[0]->op().name), "matmul");
  einsum("bdq,bdk->bqk", {transpose(q), transpose(k)});
  EXPECT_EQ(tape.size(), 4) << "two transposes and one product: " << tape;
}

TEST(Einsum, OfNothing) {
  EXPECT_TRUE(same_bits(einsum("ij,jk->ik", {zeros({3, 0}, f64), zeros({0, 2}, f64)}), zeros({3, 2}, f64)));
  EXPECT_EQ(einsum("ii->i", {zeros({0, 0}, f64)}).shape(), (Shape{0}));
  EXPECT_EQ(einsum("i,i->", {zeros({0}, f64), zeros({0}, f64)}).item(), 0);
  EXPECT_EQ(einsum(",", {number(2), number(3)}).item(), 6);
  EXPECT_EQ(einsum("", {number(2)}).item(), 2);
}

TEST(Einsum, TakesF64BesideDual) {
  const Tensor a = ones({2, 3}, f64), b = ones({3, 4}, f64);
  EXPECT_EQ(einsum("ij,jk->ik", {a, b.to(dual)}).dtype(), dual);
}

template <class Error> void expect_refused(std::string_view equation, const Tensors& operands, const std::string& why) {
  for (const Tensor& operand : operands)
    if (operand.defined() && operand.dtype() != i64) operand.watch();
  Tape tape;
  expect_error<Error>([&] { einsum(equation, operands); }, why);
  EXPECT_EQ(tape.size(), 0) << equation;
}

TEST(Einsum, RefusesWhatIsNoEquation) {
  const Tensor a = ones({2, 3}, f64), b = ones({3, 4}, f64);
  expect_refused<ValueError>("ij,jk->ik", {a},
                             "einsum: \"ij,jk->ik\" has 2 groups for 1 operands; give one per operand");
  expect_refused<ValueError>("", {}, "einsum: there is no operand; give one per group of the equation");
  expect_refused<ValueError>("i1", {a},
                             "einsum: \"i1\" has '1' in a group; write letters, at most one ... per group, commas and "
                             "one ->");
  expect_refused<ValueError>("......", {a},
                             "einsum: \"......\" has '.' in a group; write letters, at most one ... per group, commas "
                             "and one ->");
  expect_refused<ValueError>(
      "ij->i->j", {a},
      "einsum: \"ij->i->j\" has '-' in a group; write letters, at most one ... per group, commas "
      "and one ->");
  expect_refused<ValueError>("ij->ii", {a}, "einsum: \"ij->ii\" names i twice after ->; name it once");
  expect_refused<ValueError>("ij->ik", {a}, "einsum: \"ij->ik\" names k only after ->; an operand must have it");
}

TEST(Einsum, RefusesShapesThatDoNotFit) {
  const Tensor a = ones({2, 3}, f64), b = ones({3, 4}, f64);
  expect_refused<ShapeError>("ij,kj->ik", {a, b},
                             "einsum: \"ij,kj->ik\": j is 3 in x0[2, 3] and 4 in x1[3, 4]; a letter has one length");
  expect_refused<ShapeError>("ii->i", {a},
                             "einsum: \"ii->i\": i is 2 in x0[2, 3] and 3 in x0[2, 3]; a letter has one "
                             "length");
  expect_refused<ShapeError>("ij,j", {a, b},
                             "einsum: \"ij,j\": x1[3, 4] has 2 axes, but its group \"j\" names 1; give one letter per "
                             "axis, or ... for the rest");
  expect_refused<ShapeError>("...ijk", {a},
                             "einsum: \"...ijk\": x0[2, 3] has 2 axes, but its group \"...ijk\" names 3; give one "
                             "letter per axis, or ... for the rest");
  expect_refused<ShapeError>("...,...", {a, b},
                             "einsum: \"...,...\": an axis of ... is 2 in x0[2, 3] and 3 in x1[3, 4], but must be "
                             "equal or 1");
  const Tensor five = ones({1, 1, 1, 1, 1}, f64);
  expect_refused<ShapeError>(
      "abcde,fghij", {five, five},
      "einsum: \"abcde,fghij\": the product of the operands up to x1[1, 1, 1, 1, 1] has 10 axes; "
      "there are at most 8: give the operands in another order");
}

TEST(Einsum, RefusesMixedDtypesAndIntegers) {
  const Tensor a = ones({2, 3}, f64), b = ones({3, 4}, f64);
  expect_refused<DtypeError>("ij,jk", {a, b.to(f32)}, dtypes_differ("einsum", "x0[2, 3] is f64", "x1[3, 4] is f32"));
  expect_refused<DtypeError>("i", {indices({1, 2})}, needs_real("einsum", "x0[2]"));
  expect_refused<ValueError>(
      "ij,jk", {a, Tensor()},
      "einsum: x1 is an undefined tensor (default-constructed or moved from); assign a tensor to "
      "it first");
}

}  // namespace
}  // namespace retrace
