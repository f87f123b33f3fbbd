#include <gtest/gtest.h>
#include <retrace/models/reports/plots/heat_map.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

namespace retrace {
namespace {

HeatMap small() {
  return {.title = "1", .rows = 2, .columns = 3, .values = {0, 0.5, 1, 1, 0, 0}, .row_names = {}, .apart = 2};
}

TEST(HeatMap, ShadesGoFromBlankToTheLargest) {
  const std::array maps{small()};
  EXPECT_EQ(to_text(maps, 1), "1\n| + @|\n|@   |\n");
  EXPECT_EQ(to_text(maps, 2), "1\n| : +|\n|+   |\n");
  EXPECT_EQ(to_text(maps, 0), "1\n|    |\n|    |\n") << "nothing is not divided by";
}

TEST(HeatMap, MarksAreShown) {
  std::array maps{small(), small()};
  maps[1].marked = true;
  maps[0].marked_column = 1;
  EXPECT_EQ(to_text(maps, 1), "1       1*\n| + @|  | + @|\n|@   |  |@   |\n  ^\n");
  const std::string svg = to_svg(maps, 1);
  EXPECT_NE(svg.find("stroke=\"#c1121f\""), std::string::npos);
}

TEST(HeatMap, MapsThatDoNotFitGoOnBelow) {
  const std::array maps{small(), small(), small()};
  std::istringstream lines(to_text(maps, 1, 16));
  std::size_t longest = 0, count = 0;
  for (std::string line; std::getline(lines, line); ++count) longest = std::max(longest, line.size());
  EXPECT_LE(longest, 16U);
  EXPECT_EQ(count, 6U);
}

TEST(HeatMap, ThePageHasACellForEveryNumberAndEscapedWords) {
  std::array maps{small()};
  maps[0].title = "a < b";
  const std::string svg = to_svg(maps, 1);
  std::size_t cells = 0;
  for (std::size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1)) ++cells;
  EXPECT_EQ(cells, 6U);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("#ffffff"), std::string::npos) << "0 is white";
}

}  // namespace
}  // namespace retrace
