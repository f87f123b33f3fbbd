#include <gtest/gtest.h>
#include <retrace/models/formats/nearest_name.h>

#include <string>
#include <vector>

namespace retrace {
namespace {

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back("name-" + std::to_string(k));
  return names;
}

std::string unknown(const std::vector<std::string>& names, const std::string& word, std::string_view list = {}) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  return unknown_name("f", "name", word, known, list);
}

TEST(NearestName, FewNamesAreAllListed) {
  EXPECT_EQ(unknown({"lstm", "gru"}, "lsmt"), "f: there is no name named 'lsmt'; did you mean lstm (known: lstm, gru)");
}

TEST(NearestName, OfManyNamesTheNearestFewAreListedAndWhatHasAll) {
  EXPECT_EQ(unknown(numbered(1000), "nam-7", "retrace show --help"),
            "f: there is no name named 'nam-7'; did you mean name-7 (retrace show --help lists all 1000)");
  EXPECT_EQ(unknown(numbered(100), "name-99x"),
            "f: there is no name named 'name-99x'; did you mean name-99 (of 100 names)");
  EXPECT_EQ(unknown(numbered(100), "name-"),
            "f: there is no name named 'name-'; did you mean name-0, name-1, name-2 (of 100 names)");
}

TEST(NearestName, OfManyNamesTheFirstStandForAll) {
  EXPECT_EQ(some_of(numbered(2)), "name-0, name-1");
  EXPECT_TRUE(some_of(numbered(500)).ends_with("name-15, ... (500 in all)")) << some_of(numbered(500));
}

}  // namespace
}  // namespace retrace
