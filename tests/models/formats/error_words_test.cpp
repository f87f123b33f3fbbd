#include <gtest/gtest.h>
#include <retrace/models/formats/error_words.h>

namespace retrace {
namespace {

TEST(ErrorWords, AreWithoutTheFunctionThatFoundTheError) {
  EXPECT_EQ(without_function("make_model: there is no model"), "there is no model");
  EXPECT_EQ(without_function("Csv::column: the columns"), "the columns");
  EXPECT_EQ(without_function("retrace train: there is no task"), "retrace train: there is no task") << "a command";
  EXPECT_EQ(without_function("a sentence: with a colon"), "a sentence: with a colon");
  EXPECT_EQ(without_function("nothing"), "nothing");
}

}  // namespace
}  // namespace retrace
