#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/reports/plots/range.h>

#include <algorithm>
#include <cmath>
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

TEST(Plot, ACurveOfOnePointIsADot) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = to_svg(Plot{.title = "", .x_label = "", .curves = {{"a", {1, 2}, {nan, 3}}}});
  EXPECT_NE(svg.find("<circle cx=\""), std::string::npos) << "a short training has one point in each curve";
  EXPECT_EQ(svg.find("<polyline"), std::string::npos);
}

TEST(Plot, ALogarithmicAxisHasPowersOfTenAndLeavesOutWhatHasNoLogarithm) {
  const Plot plot{.title = "", .x_label = "", .curves = {{"a", {1, 2, 3}, {1e-3, 0, 100}}}, .log_y = true};
  EXPECT_DOUBLE_EQ(y_range(plot).low, -3);
  EXPECT_DOUBLE_EQ(y_range(plot).high, 2);
  EXPECT_EQ(log_ticks({-3, 2}, 6), (std::vector<double>{-3, -2, -1, 0, 1, 2}));
  EXPECT_EQ(log_ticks({-9.5, 2}, 5), (std::vector<double>{-9, -6, -3, 0}));
  EXPECT_EQ(log_ticks({-1, 0.1}, 5).size(), 4u) << "0.1, 0.2, 0.5 and 1";
  EXPECT_EQ(log_ticks({0, std::log10(3)}, 3).size(), 3u) << "1, 2 and 3";
  const std::string svg = to_svg(plot);
  EXPECT_NE(svg.find(">0.01<"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
}

TEST(Plot, ALegendOfManyCurvesStandsBesideThemAndSharedColoursDifferInDashes) {
  Plot plot{.title = "", .x_label = "", .curves = {}};
  for (int k = 0; k < 9; ++k) plot.curves.push_back({.name = text("layer ", k), .x = {0, 1}, .y = {0, 1}});
  const std::string svg = to_svg(plot);
  EXPECT_NE(svg.find("#1f6fb4\" stroke-dasharray"), std::string::npos) << svg;
  const std::size_t line = svg.find("<polyline"), legend = svg.find(">layer 0<");
  const double end = std::stod(svg.substr(svg.find(' ', svg.find("points=", line)) + 1));
  const double begin = std::stod(svg.substr(svg.rfind("x=", legend) + 3));
  EXPECT_LT(end, begin);
}

TEST(Plot, PlotsFillRows) {
  const std::string svg = to_svg(std::vector<Plot>(3, Plot{.title = "", .x_label = "", .curves = {}}), 2, 100, 50);
  EXPECT_NE(svg.find("width=\"200\" height=\"100\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("translate(0 50)"), std::string::npos) << svg;
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

TEST(Plot, NumbersWithALargeOffsetHaveLabelsThatDiffer) {
  const Plot plot{.title = "loss",
                  .x_label = "steps",
                  .curves = {{"training", {1e9, 1e9 + 1, 1e9 + 2}, {1e7 + 2, 1e7 + 1, 1e7}}},
                  .levels = {{"best", 1e7}}};
  const std::string drawn = to_text(plot, 40, 3), svg = to_svg(plot);
  for (const char* label : {"10000002 |", "10000001 |", "10000000 |", "best 10000000"})
    EXPECT_NE(drawn.find(label), std::string::npos) << drawn;
  for (const char* label : {">10000002<", ">10000001<", ">1000000001<"})
    EXPECT_NE(svg.find(label), std::string::npos) << svg;
}

}  // namespace
}  // namespace retrace
