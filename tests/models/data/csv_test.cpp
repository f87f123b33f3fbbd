#include <gtest/gtest.h>
#include <retrace/models/data/csv.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <cmath>
#include <fstream>

namespace retrace {
namespace {

using namespace std::string_literals;

const std::string& csv_path() {
  static const TemporaryFolder folder;
  static const std::string place = folder / "x.csv";
  return place;
}

Csv csv_of(const std::string& content, const CsvOptions& options = {}) {
  std::ofstream(csv_path(), std::ios::binary) << content;
  return read_csv(csv_path(), options);
}

TEST(Csv, HeaderAndNumbers) {
  const Csv csv = csv_of("a,b,label\n1,2.5,0\n-3e2,+4,1\n");
  EXPECT_EQ(csv.names, (std::vector<std::string>{"a", "b", "label"}));
  ASSERT_EQ(csv.values.shape(), (Shape{2, 3}));
  EXPECT_EQ(csv.values.dtype(), f64);
  EXPECT_EQ(list(csv.values), (std::vector<double>{1, 2.5, 0, -300, 4, 1}));
  EXPECT_EQ(list(csv.column("b")), (std::vector<double>{2.5, 4}));
  EXPECT_EQ(csv.column("label").to(i64).values<std::int64_t>()[1], 1);
}

TEST(Csv, NumbersKeepEveryBit) {
  const double numbers_written[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 16777217};
  for (const double number : numbers_written) {
    std::array<char, 64> digits;
    std::snprintf(digits.data(), digits.size(), "%.17g", number);
    const double back = csv_of(std::string("x\n") + digits.data()).values.item();
    EXPECT_EQ(back, number);
    EXPECT_EQ(std::signbit(back), std::signbit(number));
  }
  EXPECT_TRUE(std::isnan(csv_of("x\nnan\n").values.item()));
}

TEST(Csv, QuotedFields) {
  const Csv csv = csv_of("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n\"1\",\"2\",3\n");
  EXPECT_EQ(csv.names, (std::vector<std::string>{"a,b", "say \"x\"", "two\nlines"}));
  EXPECT_EQ(list(csv.values), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(csv_of("a\n\"1\"").values.item(), 1) << "a quote may end the file";
}

TEST(Csv, WhatOtherProgramsWrite) {
  const std::vector<double> wanted{1, 2, 3, 4};
  EXPECT_EQ(list(csv_of("a,b\r\n1,2\r\n3,4\r\n").values), wanted) << "CRLF";
  EXPECT_EQ(list(csv_of("a,b\n1,2\n3,4").values), wanted) << "no line break at the end";
  EXPECT_EQ(csv_of("\xEF\xBB\xBF"
                   "a,b\n1,2\n")
                .names[0],
            "a")
      << "a byte-order mark";
  EXPECT_EQ(list(csv_of("a , b\n 1,\t2\n3 , 4\n").values), wanted) << "spaces";
  EXPECT_EQ(csv_of("a , b\n1,2\n").names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(list(csv_of("1;2\n3;4\n", {.separator = ';', .header = false}).values), wanted);
  EXPECT_EQ(list(csv_of("a\tb\n1\t2\n3\t4\n", {.separator = '\t'}).values), wanted);
}

TEST(Csv, LinesEndAsOnAnySystem) {
  const std::vector<double> wanted{1, 2, 3, 4};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const Csv csv = csv_of("a,b" + end + "1,2" + end + "3,4" + end);
    EXPECT_EQ(csv.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(list(csv.values), wanted);
    EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{2, 3}));
    const Csv quoted = csv_of("a,\"b" + end + "b\"" + end + "1,2" + end);
    EXPECT_EQ(quoted.names[1], "b" + end + "b") << "as it stands in the file";
    EXPECT_EQ(quoted.lines.front(), 3);
  }
}

TEST(Csv, EmptyLinesAreSkipped) {
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::string empty : {"", " ", " \t "}) {
      const Csv csv = csv_of(empty + end + "a,b" + end + empty + end + end + "1,2" + end + empty + end + "3,4" + end +
                             empty + end + empty);
      EXPECT_EQ(list(csv.values), (std::vector<double>{1, 2, 3, 4}));
      EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{5, 7})) << "the lines of the file, not of what is read";
    }
  EXPECT_THROW(csv_of("a\tb\n1\t2\n\t\n", {.separator = '\t'}), FileError) << "two fields that are empty";
  EXPECT_THROW(csv_of("a\n\"\"\n"), FileError) << "a field that is empty";
}

TEST(Csv, AnotherEncodingIsRefusedAtOnceWithTheLineAndTheRemedy) {
  const auto expect = [](const std::string& content, const std::string& part) {
    const std::string message = message_of<FileError>([&] { csv_of(content); });
    EXPECT_TRUE(message.starts_with("read_csv: " + csv_path() + " " + part)) << message;
    EXPECT_NE(message.find("iconv -f "), std::string::npos) << message;
  };
  expect(
      "gr\xf6\xdf"
      "e,v\n1,2\n",
      "is not UTF-8: byte 2, in line 1, begins no character; convert it");
  expect("a,b\r1,2\r\"x\ry\xe9\",4\r", "is not UTF-8: byte 12, in line 4");
  expect(
      "\xff\xfe"
      "a\0,\0b\0\n\0"s,
      "is UTF-16, not UTF-8");
  expect("\xfe\xff\0a\0,\0b\0\n"s, "is UTF-16, not UTF-8");
  expect("\xff\xfe\0\0a\0\0\0"s, "is UTF-32, not UTF-8");
  expect("a\0,\0b\0\n\0"s, "has a zero byte in line 1, so it is no text, or one in UTF-16");
  EXPECT_EQ(csv_of("gr\u00f6\u00dfe,\u9ad8\u3055\n1,2\n").names,
            (std::vector<std::string>{"gr\u00f6\u00dfe", "\u9ad8\u3055"}));
}

TEST(Csv, ReadsAGzipFile) {
  const std::string packed =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\x00\x7b\x07\x97\x0a\x08\x00\x00\x00"s;
  const std::string message = message_of<FileError>([&] { EXPECT_EQ(list(csv_of(packed).values)[1], 2); });
  if (message != nothing_thrown) {
    ASSERT_NE(message.find("no zlib; unpack it with gunzip"), std::string::npos) << message;
    GTEST_SKIP() << "this build has no zlib";
  }
  EXPECT_EQ(read_csv_header(csv_path()), (std::vector<std::string>{"a", "b"}));
}

TEST(Csv, AnotherSeparatorIsSuggested) {
  const auto expect = [](const std::string& content, char separator, const std::string& part) {
    for (const std::string& message : {message_of<FileError>([&] { csv_of(content, {.separator = separator}); }),
                                       message_of<FileError>([&] { read_csv_header(csv_path(), separator); })})
      EXPECT_NE(message.find(part + " (CsvOptions::separator)"), std::string::npos) << message;
  };
  expect("a;b;c\n1,5;2;3\n", ',', "it seems that ';' separates its columns, not ','; give --separator ';'");
  expect("\na\tb\r\n\r\n1\t2", ',', "give --separator tab");
  expect("a|b\n1|2\n", ',', "give --separator '|'");
  expect("a,b\n1,2\n", ';', "it seems that ',' separates its columns, not ';'; give --separator ','");
  expect("a;b\n", ',', "give --separator ';'");
  EXPECT_EQ(csv_of("a;b\n1\n2\n").values.numel(), 2) << "a column of that name";
}

TEST(Csv, ColumnsWithoutANameAreAllowed) {
  const Csv csv = csv_of(",a,\n0,5,1\n1,6,2\n", {.columns = {"a"}});
  EXPECT_EQ(list(csv.values), (std::vector<double>{5, 6}));
  EXPECT_EQ(read_csv_header(csv_path()), (std::vector<std::string>{"", "a", ""}));
}

TEST(Csv, EmptyFiles) {
  EXPECT_EQ(csv_of("a,b\n").values.shape(), (Shape{0, 2}));
  EXPECT_EQ(csv_of("a,b\n").column("b").shape(), (Shape{0}));
  EXPECT_EQ(csv_of("", {.header = false}).values.shape(), (Shape{0, 0}));
}

TEST(Csv, WhatIsWrongIsSaidWithLineAndColumn) {
  const std::string no_number = " is not a number; write one, or leave the column out (--ignore, CsvOptions::columns)";
  const std::pair<std::string, std::string> cases[] = {
      {"a,b\n1,2\n3,x\n", "line 3, column 2: 'x' (b)" + no_number},
      {"a,b\n1,2\n3,4 5\n", "line 3, column 2: '4 5' (b)" + no_number},
      {"a,b\n0x10,2\n", "line 2, column 1: '0x10' (a)" + no_number},
      {"a,b\n+-1,2\n", "line 2, column 1: '+-1' (a)" + no_number},
      {"a,b\n1,\n",
       "line 2, column 2: the field (b) is empty; fill in a number, remove the line, or leave the column out "
       "(--ignore, "
       "CsvOptions::columns)"},
      {"a,b\n1,NA\n",
       "line 2, column 2: 'NA' (b) stands for no number; fill in one, remove the line, or leave the column out "
       "(--ignore, CsvOptions::columns)"},
      {"a,b\n1,\"3,14\"\n",
       "line 2, column 2: '3,14' (b) is not a number; write a decimal point and no comma, or leave the column out "
       "(--ignore, CsvOptions::columns)"},
      {"a,b\n1,1e999\n", "line 2, column 2: '1e999' (b) is outside the range of f64; write it in other units"},
      {"a,b\n1\n", "line 2, column 2: the line has 1 fields, and those before it have 2; fill it or remove it"},
      {"a,b\n1,2,3\n", "line 2, column 3: the line has 3 fields, and those before it have 2; fill it or remove it"},
      {"a,b\n1,2\n\n\r3\r\n",
       "line 5, column 2: the line has 1 fields, and those before it have 2; fill it or remove it"},
      {"a,\"b\n1,2\n", "line 1, column 2: the quote that opens the field is never closed; close it"},
      {"a,b\n1,2\"3\"\n",
       "line 2, column 2: a quote stands inside a field; put the whole field in quotes and double this one"},
      {"a,b\n\"1\"2,3\n",
       "line 2, column 1: something follows the closing quote of the field; remove it or double the quote"},
      {"a,\"b\nb\"\n1,x\n", "line 3, column 2: 'x' (b\nb)" + no_number},
      {"a,b,a\n", "line 1, column 3: two columns are named 'a'; rename one"},
      {"1,2.5,1\n",
       "line 1, column 3: two columns are named '1'; if these are numbers of a sample, put a line with the names of "
       "the "
       "columns above it"},
  };
  for (const auto& [content, wanted] : cases) {
    try {
      csv_of(content);
      ADD_FAILURE() << "not refused: " << content;
    } catch (const FileError& error) {
      EXPECT_EQ(error.what(), "read_csv: " + csv_path() + ": " + wanted);
    }
  }
}

TEST(Csv, FilesAndOptionsThatCannotBeReadAreRefused) {
  EXPECT_THROW(csv_of(""), FileError) << "a header was expected";
  EXPECT_THROW(read_csv(csv_path() + ".nowhere"), FileError);
  EXPECT_THROW(read_csv(testing::TempDir()), FileError) << "a folder";
  for (const char separator : {'"', '\n', '\r', '1', '.', '-'})
    EXPECT_THROW(csv_of("a\n1\n", {.separator = separator}), ValueError) << separator;
  EXPECT_THROW(csv_of("1,2\n", {.header = false}).column("a"), ValueError);
  try {
    csv_of("height,weight\n1,2\n").column("wieght");
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "Csv::column: there is no column named 'wieght'; did you mean weight (known: height, weight)");
  }
}

TEST(Csv, AColumnOfWordsBecomesLabels) {
  const std::string flowers = "petal,species,\"sepal\"\n1,virginica,5\n2,setosa,6\n3,\"versi,color\",7\n4, setosa ,8\n";
  const Csv csv = csv_of(flowers, {.words = {"species"}});
  EXPECT_EQ(csv.words.at("species"), (std::vector<std::string>{"setosa", "versi,color", "virginica"}));
  const Tensor labels = csv.labels("species");
  EXPECT_EQ(labels.dtype(), i64);
  const auto numbers = labels.values<std::int64_t>();
  EXPECT_EQ((std::vector<std::int64_t>{numbers.begin(), numbers.end()}), (std::vector<std::int64_t>{2, 0, 1, 0}));
  EXPECT_EQ(csv.values.at({3, 1}), 0);
  EXPECT_EQ(csv.values.at({3, 2}), 8) << "the numbers beside the words";
  EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_THROW(csv.labels("petal"), ValueError) << "a column of numbers";
}

TEST(Csv, WordsThatAreNumbersAreSortedByTheirValues) {
  EXPECT_EQ(csv_of("digit\n10\n9\n-1\n9\n", {.words = {"digit"}}).words.at("digit"),
            (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(csv_of("digit\n10\n9\nten\n", {.words = {"digit"}}).words.at("digit"),
            (std::vector<std::string>{"10", "9", "ten"}));
}

TEST(Csv, ReadsSomeColumnsInTheOrderAskedFor) {
  const Csv csv = csv_of("a,note,b\n1,none,2\n3,\"\",4\n", {.columns = {"b", "a"}});
  EXPECT_EQ(csv.names, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(csv.values.shape(), (Shape{2, 2}));
  EXPECT_EQ(csv.values.at({1, 0}), 4);
  EXPECT_EQ(csv.values.at({1, 1}), 3);
  EXPECT_THROW(csv_of("a,b\n1,2\n", {.columns = {"c"}}), ValueError);
  EXPECT_THROW(csv_of("a,b\n1,2\n", {.words = {"b"}, .columns = {"a"}}), ValueError);
  EXPECT_THROW(csv_of("1,2\n", {.header = false, .words = {"b"}}), ValueError);
  EXPECT_THROW(csv_of("a,b\n1,\n", {.words = {"b"}}), FileError) << "no word";
}

TEST(Csv, NoCutOfAFileCrashes) {
  const std::string whole = "\"a,b\",c\r\n1.5e3,\"2\"\r\n\r\n-3,\u00b5\r";
  for (std::size_t length = 0; length < whole.size(); ++length) try {
      csv_of(whole.substr(0, length));
    } catch (const FileError&) {
    }
}

}  // namespace
}  // namespace retrace
