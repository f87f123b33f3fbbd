// Compares the writer and the reader with nlohmann-json: texts written are read back, and broken texts are refused.
#include <gtest/gtest.h>
#include <retrace/core/files/json.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// Builds a document from the events of read_json().
class Builder : public JsonEvents {
 public:
  nlohmann::json document;

  void start_object() override { open(nlohmann::json::object()); }
  void key(std::string name) override { key_ = std::move(name); }
  void end_object() override { open_.pop_back(); }
  void start_array() override { open(nlohmann::json::array()); }
  void end_array() override { open_.pop_back(); }
  void string(std::string text) override { add(text); }
  void unsigned_integer(std::uint64_t number) override { add(number); }
  void negative_integer(std::int64_t number) override { add(number); }
  void number(double number) override { add(number); }
  void boolean(bool value) override { add(value); }
  void null() override { add(nullptr); }

 private:
  nlohmann::json* add(nlohmann::json value) {
    if (open_.empty()) return &(document = std::move(value));
    nlohmann::json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  void open(nlohmann::json value) { open_.push_back(add(std::move(value))); }

  std::vector<nlohmann::json*> open_;
  std::string key_;
};

nlohmann::json parsed(const std::string& text) {
  Builder builder;
  read_json(text, builder);
  return builder.document;
}

/// The position of the error; -1 if there was none.
int error_position(const std::string& text) {
  try {
    parsed(text);
  } catch (const JsonError& error) {
    return static_cast<int>(error.position());
  }
  return -1;
}

TEST(Json, TextsAreReadAsAnotherReaderReadsThem) {
  for (const char* text :
       {"{}", "[]", " [1, 2] \n", R"({"a": {"b": [true, false, null]}, "c": -1.5e3})", "0", "-0", "1e2", "0.25",
        "18446744073709551615", "18446744073709551616", "-9223372036854775808",
        R"("é\u00e9\ud83d\ude00\n\"\\\/\b\f\r\t")", R"(["\u0000"])", "[[[[[]]]]]", "1E+2", "123.456e-7"})
    EXPECT_EQ(parsed(text), nlohmann::json::parse(text)) << text;
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
  for (const auto& [text, position] : cases) {
    EXPECT_EQ(error_position(text), position) << text;
    EXPECT_FALSE(nlohmann::json::accept(text) && !text.starts_with("\xEF") && text.back() != '\0') << text;
  }
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
  writer.key("small").value(std::numeric_limits<std::int64_t>::min());
  writer.key("nothing").begin_object().end_object().end_object();
  const nlohmann::json document = nlohmann::json::parse(writer.text());
  const nlohmann::json& list = document.at("a \"quoted\" \\ key\n");
  for (std::size_t k = 0; k < std::size(numbers); ++k) {
    EXPECT_TRUE(list[k].is_number_float()) << list[k];
    EXPECT_EQ(list[k].get<double>(), numbers[k]);
  }
  EXPECT_TRUE(list[8].is_null() && list[9].is_null());
  EXPECT_EQ(document.at("text").get<std::string>(), "\x01\x1F é €");
  EXPECT_EQ(document.at("big").get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(document.at("small").get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(document.at("nothing").empty());
  EXPECT_EQ(parsed(writer.text()), document);
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  JsonWriter writer;
  writer.value(std::string_view("a\xFF\xC3z"));
  EXPECT_EQ(writer.text(), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST(Json, LinesAreThoseOfTheOutermostElements) {
  JsonWriter writer(true);
  writer.begin_array().begin_array().value(std::int64_t{1}).value(std::int64_t{2}).end_array();
  writer.begin_object().key("a").value("b").end_object().end_array();
  EXPECT_EQ(writer.text(), "[\n[1,2],\n{\"a\":\"b\"}\n]");
  JsonWriter empty(true);
  EXPECT_EQ(empty.begin_array().end_array().text(), "[]");
}

}  // namespace
}  // namespace retrace
