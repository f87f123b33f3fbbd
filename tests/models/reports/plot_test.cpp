#include <gtest/gtest.h>
#include <retrace/models/reports/plots/range.h>

#include <algorithm>
#include <limits>

namespace retrace {
namespace {

TEST(Plot, TicksAreRoundAndInside) {
  EXPECT_EQ(ticks({0, 1}, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(ticks({-3, 42}, 5), (std::vector<double>{0, 10, 20, 30, 40}));
  EXPECT_EQ(ticks({12000, 13000}, 4).front(), 12000);
}

TEST(Plot, TheRangeHoldsEveryFiniteNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Plot plot{.title = "", .x_label = "", .curves = {{"a", {1, 2, 3}, {5, infinity, 7}}}, .levels = {{"best", 9}}};
  EXPECT_EQ(x_range(plot).low, 1);
  EXPECT_EQ(x_range(plot).high, 3);
  EXPECT_EQ(y_range(plot).low, 5);
  EXPECT_EQ(y_range(plot).high, 9);
  EXPECT_LT(y_range({}).low, y_range({}).high) << "an empty plot has axes";
}

TEST(Plot, TheSvgHasACurveABandALevelAndEscapedWords) {
  const std::string svg = to_svg(Plot{.title = "a < b",
                                      .x_label = "steps",
                                      .curves = {{"one", {0, 1}, {0, 1}, {0, 0.5}, {0.5, 1}}, {"two", {0, 1}, {1, 0}}},
                                      .levels = {{"chance", 0.25}}});
  const auto count = [&](const std::string& word) {
    int found = 0;
    for (std::size_t at = svg.find(word); at != std::string::npos; at = svg.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<polyline"), 2);
  EXPECT_EQ(count("<polygon"), 1);
  EXPECT_EQ(count("stroke-dasharray"), 1);
  EXPECT_EQ(count("a &lt; b"), 1);
  EXPECT_EQ(count("<svg"), 1);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, TheTextDrawsAFallingCurve) {
  const std::string drawn =
      to_text({.title = "loss", .x_label = "steps", .curves = {{"training", {0, 1, 2}, {2, 1, 0}}}}, 22, 3);
  EXPECT_EQ(drawn,
            "loss (steps)  1 training\n"
            "        2 |1          \n"
            "        1 |     1     \n"
            "        0 |          1\n");
}

}  // namespace
}  // namespace retrace
