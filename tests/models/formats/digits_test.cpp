#include <gtest/gtest.h>
#include <retrace/models/formats/csv_field.h>
#include <retrace/models/formats/digits.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace retrace {
namespace {

TEST(Digits, InFullAreReadAgainAsTheSameNumber) {
  EXPECT_EQ(in_full(1700000000), "1700000000");
  EXPECT_EQ(in_full(1699999997.906), "1699999997.906");
  EXPECT_EQ(in_full(0.1), "0.1");
  EXPECT_EQ(in_full(-0.0001), "-0.0001");
  EXPECT_EQ(in_full(0), "0");
  EXPECT_EQ(in_full(1e300), "1e+300");
  for (const double number :
       {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e15 / 3, 123456789.123456789, 1e-7 / 3})
    EXPECT_EQ(std::strtod(in_full(number).c_str(), nullptr), number) << in_full(number);
}

TEST(Digits, OfASpreadTellNumbersApart) {
  EXPECT_EQ(in_digits_of(1699999971.3, 17), "1699999971.3");
  EXPECT_EQ(in_digits_of(1699999971.3 + 1e-7, 17), "1699999971.3");
  EXPECT_EQ(in_digits_of(5.1, 0.8), "5.1");
  EXPECT_EQ(in_digits_of(0.000123456, 1), "0.000123");
  EXPECT_EQ(in_digits_of(1234567, 1e9), "1.23e+06");
  EXPECT_EQ(in_digits_of(0, 1), "0");
  EXPECT_EQ(in_digits_of(std::nan(""), 1), "-");
  EXPECT_EQ(in_digits_of(std::numeric_limits<double>::infinity(), 1), "-");
  for (int power = -6; power <= 9; ++power)
    EXPECT_NE(in_digits_of(1e9, std::pow(10, power)), in_digits_of(1e9 + std::pow(10, power), std::pow(10, power)))
        << power;
}

TEST(CsvField, IsQuotedWhereItHasTo) {
  EXPECT_EQ(csv_field("plain words"), "plain words");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  for (const std::string field : {"a,b", "a\nb", "a\rb", " a", "a\t"}) EXPECT_EQ(csv_field(field), "\"" + field + "\"");
}

}  // namespace
}  // namespace retrace
