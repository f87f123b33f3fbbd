// The inputs of expressions as they are written on the command line.
#include <gtest/gtest.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/study/expression/expression_error.h>
#include <retrace/models/study/expression/input.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

Tensor input(const std::string& text, std::uint64_t seed = 0) { return parse_input(text, seed, f64).tensor; }

TEST(ExpressionInput, DrawsAShapeFromTheSeedAndTheNameAlone) {
  const NamedTensor q = parse_input("q=4x8", 3, f32);
  EXPECT_EQ(q.name, "q");
  EXPECT_EQ(q.tensor.name(), "q");
  EXPECT_EQ(q.tensor.shape(), (Shape{4, 8}));
  EXPECT_EQ(q.tensor.dtype(), f32);
  EXPECT_EQ(list(input("q=5", 3)), list(input("q=5", 3)));
  EXPECT_NE(list(input("q=5", 3)), list(input("q=5", 4)));
  EXPECT_NE(list(input("q=5", 3)), list(input("k=5", 3)));
  EXPECT_EQ(input("q=2x0x3").shape(), (Shape{2, 0, 3}));
}

TEST(ExpressionInput, ReadsNumbers) {
  const Tensor x = input("x=[[1, -2.5], [3e2, .5]]");
  EXPECT_EQ(x.shape(), (Shape{2, 2}));
  EXPECT_EQ(list(x), (std::vector<double>{1, -2.5, 300, 0.5}));
  EXPECT_EQ(input("x=0.5").shape(), Shape{});
  EXPECT_EQ(input("x=-3").item(), -3);
  const Tensor odd = input("x=[nan,inf,-inf]");
  EXPECT_TRUE(std::isnan(odd.at({0})));
  EXPECT_EQ(odd.at({1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(odd.at({2}), -std::numeric_limits<double>::infinity());
}

TEST(ExpressionInput, ReadsIntegers) {
  const Tensor ids = input("ids=[[0,2],[-1,1]]i64");
  EXPECT_EQ(ids.dtype(), i64);
  EXPECT_EQ(ids.shape(), (Shape{2, 2}));
  EXPECT_EQ(ids.at({1, 0}), -1);
}

TEST(ExpressionInput, ReadsFiles) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", tensor({{1.5, 2}}, f32));
  write_npy(folder / "ids.npy", indices({3, 4}));
  const Tensor x = input("x=" + (folder / "x.npy"));
  EXPECT_EQ(x.dtype(), f64);
  EXPECT_EQ(list(x), (std::vector<double>{1.5, 2}));
  EXPECT_EQ(input("ids=" + (folder / "ids.npy")).dtype(), i64);
  EXPECT_NE(message_of<FileError>([&] { input("x=" + (folder / "none.npy")); }), nothing_thrown);
}

TEST(ExpressionInput, SaysWhatItCouldBe) {
  const std::string forms =
      "; give a shape (q=4x8: random numbers), numbers (q=[[1, 2], [3, 4]]), integers (ids=[0, 2]i64) or a file "
      "(q=x.npy)\n  ";
  const auto error = [](const std::string& text) { return message_of<ExpressionError>([&] { input(text); }); };
  EXPECT_EQ(error("q"), "--input: a name (letters, digits and _) and = should begin this" + forms + "q\n  ^");
  EXPECT_EQ(error("2=4"), "--input: a name (letters, digits and _) and = should begin this" + forms + "2=4\n  ^");
  EXPECT_EQ(error("q="), "--input: a number should stand here" + forms + "q=\n    ^");
  EXPECT_EQ(error("q=4x-8"), "--input: nothing but i64 may follow the numbers" + forms + "q=4x-8\n     ^");
  EXPECT_EQ(error("q=[1, two]"), "--input: 'two' is no number" + forms + "q=[1, two]\n        ^~~");
  EXPECT_EQ(error("q=[1, 2"), "--input: a comma or ] should stand here" + forms + "q=[1, 2\n         ^");
  EXPECT_EQ(error("q=[1,[2]]"),
            "--input: the lists are nested too deep, or differently; a tensor has up to 8 axes\n  q=[1,[2]]\n    "
            "^~~~~~~");
  EXPECT_EQ(error("ids=[0.5]i64"),
            "--input: 0.5 is no whole number up to 2^53, which an i64 has to be here\n  ids=[0.5]i64\n      ^~~~~~~~");
  EXPECT_NE(error("q=" + std::string(100000, '[')), nothing_thrown);
  EXPECT_NE(message_of<Error>([] { input("q=99999999x99999999"); }), nothing_thrown);
}

}  // namespace
}  // namespace retrace
