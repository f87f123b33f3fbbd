// The texts of the writer, and the events of the reader; Python's json made the expected ones.
#include <gtest/gtest.h>
#include <retrace/core/files/json.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

/// The events of read_json() in words; doubles as Python's float.hex() writes them.
class Words : public JsonEvents {
 public:
  std::string words;

  void start_object() override { add("{"); }
  void key(std::string name) override { add(name + ":"); }
  void end_object() override { add("}"); }
  void start_array() override { add("["); }
  void end_array() override { add("]"); }
  void string(std::string text) override { add("'" + text + "'"); }
  void unsigned_integer(std::uint64_t number) override { add("unsigned " + std::to_string(number)); }
  void negative_integer(std::int64_t number) override { add("integer " + std::to_string(number)); }
  void number(double number) override {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.13a", number);
    add(digits.data());
  }
  void boolean(bool value) override { add(value ? "true" : "false"); }
  void null() override { add("null"); }

 private:
  void add(const std::string& word) { words += (words.empty() ? "" : " ") + word; }
};

std::string events_of(const std::string& text) {
  Words events;
  read_json(text, events);
  return events.words;
}

/// The position of the error; -1 if there was none.
int error_position(const std::string& text) {
  try {
    events_of(text);
  } catch (const JsonError& error) {
    return static_cast<int>(error.position());
  }
  return -1;
}

TEST(Json, EveryPartOfATextIsAnEvent) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "{ }"},
      {"[]", "[ ]"},
      {" [1, 2] \n", "[ unsigned 1 unsigned 2 ]"},
      {R"({"a": {"b": [true, false, null]}, "c": -1.5e3})",
       "{ a: { b: [ true false null ] } c: -0x1.7700000000000p+10 }"},
      {"[[[[[]]]]]", "[ [ [ [ [ ] ] ] ] ]"},
      {R"("é\u00e9\ud83d\ude00\n\"\\\/\b\f\r\t")", "'éé😀\n\"\\/\b\f\r\t'"},
  };
  for (const auto& [text, events] : cases) EXPECT_EQ(events_of(text), events) << text;
  EXPECT_EQ(events_of(R"(["\u0000"])"), std::string("[ '\0' ]", 7));
}

TEST(Json, NumbersAreReadToTheLastBit) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "unsigned 0"},
      {"-0", "integer 0"},
      {"-7", "integer -7"},
      {"18446744073709551615", "unsigned 18446744073709551615"},
      {"18446744073709551616", "0x1.0000000000000p+64"},
      {"-9223372036854775808", "integer -9223372036854775808"},
      {"-9223372036854775809", "-0x1.0000000000000p+63"},
      {"1e2", "0x1.9000000000000p+6"},
      {"1E+2", "0x1.9000000000000p+6"},
      {"0.25", "0x1.0000000000000p-2"},
      {"-0.0", "-0x0.0000000000000p+0"},
      {"0.1", "0x1.999999999999ap-4"},
      {"123.456e-7", "0x1.9e3fe580f5494p-17"},
      {"9007199254740993.0", "0x1.0000000000000p+53"},
      {"1e23", "0x1.52d02c7e14af6p+76"},
      {"1.7976931348623157e308", "0x1.fffffffffffffp+1023"},
      {"2.2250738585072011e-308", "0x0.fffffffffffffp-1022"},
      {"4.9e-324", "0x0.0000000000001p-1022"},
  };
  for (const auto& [text, events] : cases) EXPECT_EQ(events_of(text), events) << text;
}

TEST(Json, BrokenTextsAreRefusedAtTheByteThatDoesNotFit) {
  const std::pair<std::string, int> cases[] = {
      {"", 0},
      {"{", 1},
      {"[1,]", 3},
      {"{\"a\":1,}", 7},
      {"{\"a\" 1}", 5},
      {"{a:1}", 1},
      {"[1 2]", 3},
      {"01", 1},
      {"1.", 2},
      {"-", 1},
      {"1e", 2},
      {"+1", 0},
      {"tru", 0},
      {"nan", 0},
      {"\"a", 2},
      {"\"\n\"", 1},
      {"\"\\x\"", 2},
      {"\"\\u12g4\"", 3},
      {"\"\\ud800\"", 7},
      {"\"\\udc00\"", 7},
      {"\"\\ud800\\u0041\"", 13},
      {"\"\xC0\x80\"", 1},
      {"\"\xED\xA0\x80\"", 1},
      {"\"\xF4\x90\x80\x80\"", 1},
      {"\"\xC3\"", 1},
      {"\xEF\xBB\xBF{}", 0},
      {std::string("{}\0", 3), 2},
      {"{} {}", 3},
      {"1e999", 5},
  };
  for (const auto& [text, position] : cases) EXPECT_EQ(error_position(text), position) << text;
}

TEST(Json, EveryPrefixOfATextIsRefused) {
  const std::string text = R"({"a": [1.5e-3, "b\u00e9\ud83d\ude00", {"c": null}], "d": true})";
  for (std::size_t length = 0; length < text.size(); ++length) EXPECT_GE(error_position(text.substr(0, length)), 0);
}

TEST(Json, BracketsInsideEachOtherHaveALimit) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(error_position(nested(64)), -1);
  EXPECT_EQ(error_position(nested(65)), 64);
  EXPECT_EQ(error_position(std::string(1'000'000, '[')), 64);
}

TEST(Json, WhatIsWrittenReadsBack) {
  const double numbers[] = {0, -0.0, 1, 0.1, 1e300, -5e-324, 1.2345678901234567e17, 2.5};
  JsonWriter writer;
  writer.begin_object().key("a \"quoted\" \\ key\n").begin_array();
  for (const double number : numbers) writer.value(number);
  writer.value(std::numeric_limits<double>::quiet_NaN()).value(HUGE_VAL).end_array();
  writer.key("text").value("\x01\x1F é €").key("big").value(std::uint64_t{18446744073709551615U});
  writer.key("small").value(std::numeric_limits<std::int64_t>::min()).key("list").list(std::vector<bool>{true, false});
  writer.key("nothing").begin_object().end_object().end_object();
  EXPECT_EQ(writer.text(),
            R"({"a \"quoted\" \\ key\u000a":[0.0,-0.0,1.0,0.1,1e+300,-5e-324,123456789012345664.0,2.5,null,null],)"
            R"("text":"\u0001\u001f é €","big":18446744073709551615,"small":-9223372036854775808,)"
            R"("list":[true,false],"nothing":{}})");
  EXPECT_EQ(events_of(writer.text()),
            "{ a \"quoted\" \\ key\n: [ 0x0.0000000000000p+0 -0x0.0000000000000p+0 0x1.0000000000000p+0 "
            "0x1.999999999999ap-4 0x1.7e43c8800759cp+996 -0x0.0000000000001p-1022 0x1.b69b4ba630f34p+56 "
            "0x1.4000000000000p+1 null null ] text: '\x01\x1F é €' big: unsigned 18446744073709551615 "
            "small: integer -9223372036854775808 list: [ true false ] nothing: { } }");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  JsonWriter writer;
  writer.value(std::string_view("a\xFF\xC3z"));
  EXPECT_EQ(writer.text(), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST(Json, LinesAreThoseOfTheOutermostElements) {
  JsonWriter writer(true);
  writer.begin_array().begin_array().value(1).value(2).end_array();
  writer.begin_object().key("a").value("b").end_object().end_array();
  EXPECT_EQ(writer.text(), "[\n[1,2],\n{\"a\":\"b\"}\n]");
  JsonWriter empty(true);
  EXPECT_EQ(empty.begin_array().end_array().text(), "[]");
}

}  // namespace
}  // namespace retrace
