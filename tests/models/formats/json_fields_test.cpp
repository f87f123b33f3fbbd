#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/tests/errors.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST(JsonFields, MembersOfInnerObjectsAndListsAreNamedByTheirPath) {
  const JsonFields fields("a file", R"({"a":1,"b":{"c":true,"d":[{"e":"x"},-2]},"f":["x","y"],"g":[]})");
  EXPECT_EQ(fields.integer("a"), 1);
  EXPECT_TRUE(fields.truth("b.c"));
  EXPECT_EQ(fields.string("b.d.0.e"), "x");
  EXPECT_EQ(fields.integer("b.d.1"), -2);
  EXPECT_EQ(fields.strings("f"), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(fields.strings("g").empty());
  EXPECT_TRUE(fields.has("b.d"));
  EXPECT_FALSE(fields.has("b.e"));
}

TEST(JsonFields, NumbersOfEveryKindComeBack) {
  const JsonFields fields("a file", R"({"whole":3,"half":0.5,"negative":-7,"large":18446744073709551615,"none":null})");
  EXPECT_EQ(fields.number("whole"), 3);
  EXPECT_EQ(fields.number("half"), 0.5);
  EXPECT_EQ(fields.integer("negative"), -7);
  EXPECT_EQ(fields.natural("whole"), 3U);
  EXPECT_EQ(fields.natural("large"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(std::isnan(fields.number_or_null("none", std::nan(""))));
  EXPECT_EQ(fields.number_or_null("half", 1), 0.5);
  EXPECT_EQ(fields.integer_in("whole", 3, 3), 3);
}

TEST(JsonFields, AWrongMemberIsNamedWithWhatWasExpectedAndFound) {
  const JsonFields fields("a file", R"({"a":{"b":"text"},"list":[1],"f":1.5,"n":-1,"large":18446744073709551615})");
  EXPECT_EQ(message_of([&] { fields.integer("a.b"); }),
            "a file: a.b has to be a whole number of 64 bits, and is the text 'text'");
  EXPECT_EQ(message_of([&] { fields.number("a"); }), "a file: a has to be a number, and is an object");
  EXPECT_EQ(message_of([&] { fields.string("list"); }), "a file: list has to be a text, and is a list");
  EXPECT_EQ(message_of([&] { fields.truth("f"); }), "a file: f has to be true or false, and is 1.5");
  EXPECT_EQ(message_of([&] { fields.strings("list"); }), "a file: list.0 has to be a text, and is 1");
  EXPECT_EQ(message_of([&] { fields.integer("missing"); }),
            "a file: missing is missing; it has to be a whole number of 64 bits");
  EXPECT_EQ(message_of([&] { fields.truth("f.c"); }), "a file: f has to be an object, and is 1.5");
  EXPECT_EQ(message_of([&] { fields.truth("list.c"); }), "a file: list has to be an object, and is a list");
  EXPECT_EQ(message_of([&] { fields.natural("n"); }),
            "a file: n has to be a whole number of 64 bits that is not negative, and is -1");
  EXPECT_EQ(message_of([&] { fields.integer_in("n", 0, 9); }),
            "a file: n has to be a whole number from 0 to 9, and is -1");
  EXPECT_NE(message_of([&] { fields.integer("f"); }), nothing_thrown);
  EXPECT_NE(message_of([&] { fields.integer("large"); }), nothing_thrown);
}

TEST(JsonFields, TextThatIsNoObjectIsRefused) {
  const auto read = [](const std::string& json) { return message_of([&] { JsonFields("a file", json); }); };
  EXPECT_EQ(read("[]"), "a file: it is a list, not an object");
  EXPECT_EQ(read("3"), "a file: it is 3, not an object");
  EXPECT_TRUE(read("").starts_with("a file: byte "));
  EXPECT_TRUE(read("{\"a\":}").starts_with("a file: byte "));
  EXPECT_EQ(read("\xef\xbb\xbf{}"), "a file: byte 1 is not JSON");
  EXPECT_EQ(read(std::string("{}\0x", 4)), "a file: byte 3 is not JSON");
  EXPECT_EQ(read(R"({"a":1,"a":2})"), "a file: a is there twice");
  EXPECT_EQ(read(std::string(100'000, '[')), "a file: it is a list, not an object");
  EXPECT_EQ(read("{\"a\":" + std::string(100'000, '[')), "a file: it is nested more than 8 deep");
}

TEST(JsonFields, ControlCodesOfAValueAreShownNotSent) {
  const JsonFields fields("a file", R"({"a":"\u001b[2J and much more text than anybody wants to read"})");
  EXPECT_EQ(message_of([&] { fields.truth("a"); }),
            "a file: a has to be true or false, and is the text '\\x1b[2J and much more text than anybody wan...'");
}

TEST(JsonFields, EqualMembersAreEqualInAnyOrder) {
  JsonFields some("x", R"({"a":1,"b":{"c":"d"}})");
  const JsonFields same("y", R"({"b":{"c":"d"},"a":1})"), more("z", R"({"b":{"c":"d"},"a":1,"e":0})");
  EXPECT_TRUE(some == same);
  EXPECT_FALSE(some == more);
  some.erase("b.c");
  EXPECT_FALSE(some == same);
}

}  // namespace
}  // namespace retrace
