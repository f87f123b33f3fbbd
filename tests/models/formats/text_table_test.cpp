#include <gtest/gtest.h>
#include <retrace/models/formats/text_table.h>

namespace retrace {
namespace {

TEST(TextTable, AlignsColumnsByTheirLetters) {
  EXPECT_EQ(text_table({{"name", "of", "n"}, {"a", "words", "10"}, {"long", "x", "5"}}, "llr"),
            "name  of      n\n"
            "a     words  10\n"
            "long  x       5\n");
}

TEST(TextTable, TheLastLetterIsThatOfAllFurtherColumns) {
  EXPECT_EQ(text_table({{"n", "one", "two"}, {"a", "1", "2"}}, "lr", "  "),
            "  n  one  two\n"
            "  a    1    2\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  EXPECT_EQ(text_table({{"mean", "n"}, {"1 ± 2", "3"}}, "r"),
            " mean  n\n"
            "1 ± 2  3\n");
}

TEST(TextTable, BreaksItsHeadingsBeforeItGrowsTooWide) {
  const std::vector<Row> rows{{"model", "FLOPs a sample", "learning rate"}, {"lstm", "1234567", "0.01"}};
  EXPECT_EQ(text_table(rows, "lr", "", 36),
            "model  FLOPs a sample  learning rate\n"
            "lstm          1234567           0.01\n");
  EXPECT_EQ(text_table(rows, "lr", "", 35),
            "       FLOPs a\n"
            "model   sample  learning rate\n"
            "lstm   1234567           0.01\n");
  EXPECT_EQ(text_table(rows, "lr", "", 28),
            "       FLOPs a  learning\n"
            "model   sample      rate\n"
            "lstm   1234567      0.01\n");
}

TEST(TextTable, GoesOnBelowBehindItsFirstColumn) {
  const std::vector<Row> rows{{"model", "first", "second", "third"}, {"lstm", "1", "2", "3"}};
  EXPECT_EQ(text_table(rows, "lr", "", 14),
            "model  first\n"
            "lstm       1\n"
            "\n"
            "model  second\n"
            "lstm        2\n"
            "\n"
            "model  third\n"
            "lstm       3\n");
}

TEST(TextTable, NoLineEndsWithASpaceAndShortRowsArePadded) {
  EXPECT_EQ(text_table({{"a", "b"}, {"1"}}, "l"), "a  b\n1\n");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", "  ", 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("a considerable word", "", 5), "a\nconsiderable\nword\n");
  EXPECT_EQ(wrapped("", "", 5), "");
}

}  // namespace
}  // namespace retrace
