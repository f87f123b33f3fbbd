#include <gtest/gtest.h>
#include <retrace/models/formats/json_text.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST(JsonText, WritesEveryKindOfValue) {
  const JsonObject inner{{"b", "x"}};
  const JsonObject object{{"none", JsonText()},
                          {"yes", true},
                          {"whole", std::int64_t{-3}},
                          {"large", std::numeric_limits<std::uint64_t>::max()},
                          {"real", 0.1},
                          {"three", 3.0},
                          {"nan", std::numeric_limits<double>::quiet_NaN()},
                          {"empty", std::vector<double>{}},
                          {"list", std::vector<std::vector<double>>{{1, 2.5}, {}}},
                          {"there", std::optional<double>(2)},
                          {"absent", std::optional<double>()},
                          {"inner", inner},
                          {"objects", std::vector<JsonObject>{inner, {}}}};
  EXPECT_EQ(object.text(),
            R"({"none":null,"yes":true,"whole":-3,"large":18446744073709551615,"real":0.1,"three":3.0,"nan":null,)"
            R"("empty":[],"list":[[1.0,2.5],[]],"there":2.0,"absent":null,"inner":{"b":"x"},)"
            R"("objects":[{"b":"x"},{}]})");
}

TEST(JsonText, StringsAreQuotedAndWhatIsNotUtf8IsReplaced) {
  const std::string text = "\"\\\n\x01\u00e9";
  EXPECT_EQ(JsonText(text).text(), R"("\"\\\u000a\u0001é")");
  EXPECT_EQ(JsonText("a\xff").text(), "\"a\xef\xbf\xbd\"");
}

TEST(JsonText, MembersAreAddedInOrder) {
  JsonObject object;
  object.add(JsonObject{});
  object.add("z", 1);
  object.add(JsonObject{{"a", 2}, {"b", 3}});
  object.add(JsonObject{});
  EXPECT_EQ(object.text(), R"({"z":1,"a":2,"b":3})");
}

}  // namespace
}  // namespace retrace
