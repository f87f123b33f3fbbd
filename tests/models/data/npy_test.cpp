#include <gtest/gtest.h>
#include <retrace/models/data/npy.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace retrace {
namespace {

using namespace std::string_literals;

const std::string& npy_path() {
  static const TemporaryFolder folder;
  static const std::string place = folder / "x.npy";
  return place;
}

Tensor npy_of(const std::string& bytes) {
  std::ofstream(npy_path(), std::ios::binary) << bytes;
  return read_npy(npy_path());
}

std::string bytes_of(const Tensor& x) {
  write_npy(npy_path(), x);
  return file_bytes(npy_path());
}

/// A file: the header's text is padded to 118 bytes (with what is before it 128), as numpy.save pads.
std::string file_of(const std::string& dictionary, const std::string& values, char version = 1) {
  const std::size_t length = version == 1 ? 118 : 116;
  std::string header = dictionary;
  header.resize(length - 1, ' ');
  std::string result = "\x93NUMPY"s + version + '\0' + static_cast<char>(length) + '\0';
  if (version > 1) result += "\0\0"s;
  return result + header + '\n' + values;
}

const std::string two_floats = "\0\0\x80\x3f\0\0\0\xc0"s;  // 1, -2

// numpy.save of numpy.array([[1.5, -2.0, 0.25]], dtype="<f4"), byte for byte.
const std::string by_numpy_f4 =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"
    "                                                          \n"
    "\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x80\x3e"s;
// numpy.save of numpy.array([-1, 2**40], dtype="<i8").
const std::string by_numpy_i8 =
    "\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
    "                                                            \n"
    "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00"s;
// numpy.save of numpy.float64(0.1).
const std::string by_numpy_f8 =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (), }"
    "                                                              \n"
    "\x9a\x99\x99\x99\x99\x99\xb9\x3f"s;

TEST(Npy, ReadsWhatNumpyWrites) {
  const Tensor f4 = npy_of(by_numpy_f4);
  ASSERT_EQ(f4.shape(), (Shape{1, 3}));
  EXPECT_EQ(f4.values<float>()[0], 1.5f);
  EXPECT_EQ(f4.values<float>()[1], -2.0f);
  EXPECT_EQ(f4.values<float>()[2], 0.25f);
  const Tensor i8 = npy_of(by_numpy_i8);
  ASSERT_EQ(i8.shape(), (Shape{2}));
  EXPECT_EQ(i8.values<std::int64_t>()[0], -1);
  EXPECT_EQ(i8.values<std::int64_t>()[1], std::int64_t{1} << 40);
  const Tensor f8 = npy_of(by_numpy_f8);
  EXPECT_EQ(f8.rank(), 0);
  EXPECT_EQ(f8.values<double>()[0], 0.1);
}

TEST(Npy, WritesWhatNumpyWrites) {
  EXPECT_EQ(bytes_of(tensor({{1.5, -2, 0.25}}, f32)), by_numpy_f4);
  EXPECT_EQ(bytes_of(indices({-1, 1099511627776})), by_numpy_i8);
  EXPECT_EQ(bytes_of(full({}, 0.1, f64)), by_numpy_f8);
}

TEST(Npy, EveryShapeAndDtypeComesBackBitForBit) {
  Random random(3);
  const Shape shapes[] = {{}, {0}, {1}, {7}, {2, 3}, {3, 0, 2}, {1, 1, 1, 5}, {2, 2, 2, 2, 2, 2, 2, 2}, {100, 10}};
  for (const Shape& shape : shapes) {
    for (const Dtype dtype : {f32, f64}) {
      const Tensor x = random.normal(shape, dtype), back = npy_of(bytes_of(x));
      ASSERT_EQ(back.shape(), shape);
      ASSERT_EQ(back.dtype(), dtype);
      dispatch_real(dtype, "test", [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!std::is_same_v<T, Dual>) {
          EXPECT_TRUE(std::ranges::equal(x.values<T>(), back.values<T>()));
        }
      });
    }
    const Tensor x = random.integers(shape, 1 << 30), back = npy_of(bytes_of(x));
    ASSERT_EQ(back.shape(), shape);
    EXPECT_TRUE(std::ranges::equal(x.values<std::int64_t>(), back.values<std::int64_t>()));
  }
  EXPECT_TRUE(std::isnan(npy_of(bytes_of(tensor({std::nan("")}))).item()));
}

TEST(Npy, TheValuesBeginAtAMultipleOf64) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1000000}, Shape{1, 1, 1, 1, 1, 1, 1, 1}, Shape{10, 10, 10, 10}})
    EXPECT_EQ((bytes_of(zeros(shape, f64)).size() - static_cast<std::size_t>(shape.numel()) * 8) % 64, 0u)
        << to_text(shape);
}

TEST(Npy, ReadsAPartOfAnotherTensor) {
  const Tensor rows = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(npy_of(bytes_of(rows[1])).values<float>()[0], 3);
}

TEST(Npy, ReadsEveryVersionAndTheOtherWaysToWriteAHeader) {
  for (const char version : {'\1', '\2', '\3'})
    EXPECT_EQ(npy_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", two_floats, version)).at({1}),
              -2)
        << int{version};
  for (const char* dictionary : {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
                                 "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
                                 "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"})
    EXPECT_EQ(npy_of(file_of(dictionary, two_floats)).at({1}), -2) << dictionary;
  EXPECT_EQ(npy_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,), }", two_floats)).shape(),
            (Shape{1, 2}));
}

std::string refusal(const std::string& bytes) {
  return message_of<FileError>([&] { npy_of(bytes); });
}

/// The number that an array of one type holds in each of its elements.
struct StoredNumber {
  const char* type;   // after the byte order
  std::string bytes;  // the lowest first
  double value;
  Dtype dtype;
};
const StoredNumber stored_numbers[] = {
    {"i1", "\x80"s, -128, i64},
    {"i2", "\xfe\xff"s, -2, i64},
    {"i4", "\x01\0\0\x80"s, -2147483647, i64},
    {"i8", "\0\0\0\0\0\x01\0\0"s, 1099511627776, i64},
    {"u1", "\xff"s, 255, i64},
    {"u2", "\xfe\xff"s, 65534, i64},
    {"u4", "\xff\xff\xff\xff"s, 4294967295, i64},
    {"u8", "\x07\0\0\0\0\0\0\0"s, 7, i64},
    {"b1", "\x01"s, 1, i64},
    {"f2", "\x00\xc1"s, -2.5, f32},
    {"f4", "\0\0\0\xc0"s, -2, f32},
    {"f8", "\x9a\x99\x99\x99\x99\x99\xb9\x3f"s, 0.1, f64},
};

TEST(Npy, ReadsEveryTypeOfNumbersInBothByteOrders) {
  for (const StoredNumber& number : stored_numbers)
    for (const char order : {'<', '>', '|', '='}) {
      const std::string bytes = order == '>' ? std::string(number.bytes.rbegin(), number.bytes.rend()) : number.bytes;
      const Tensor x = npy_of(file_of(
          text("{'descr': '", std::string(1, order), number.type, "', 'fortran_order': False, 'shape': (2,), }"),
          bytes + bytes));
      EXPECT_EQ(x.dtype(), number.dtype) << number.type;
      EXPECT_EQ(x.at({0}), number.value) << number.type << order;
      EXPECT_EQ(x.at({1}), number.value) << number.type << order;
    }
}

TEST(Npy, ReadsEveryHalf) {
  const auto half = [](int bits) {
    const std::string bytes{static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
    return npy_of(file_of("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", bytes)).item();
  };
  EXPECT_EQ(half(0x0000), 0);
  EXPECT_EQ(half(0x0001), std::ldexp(1, -24)) << "the smallest";
  EXPECT_EQ(half(0x03ff), std::ldexp(1023, -24)) << "the largest subnormal one";
  EXPECT_EQ(half(0x0400), std::ldexp(1, -14));
  EXPECT_EQ(half(0x3c01), 1 + std::ldexp(1, -10));
  EXPECT_EQ(half(0x7bff), 65504);
  EXPECT_EQ(half(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(half(0x7e00)));
  EXPECT_TRUE(std::signbit(half(0x8000)));
}

/// numpy.save of a transposed array, and of many pandas frames.
TEST(Npy, ReadsFortranOrder) {
  const std::string dictionary = "{'descr': '|u1', 'fortran_order': True, 'shape': ";
  EXPECT_EQ(list(npy_of(file_of(dictionary + "(2, 3), }", "\1\2\3\4\5\6"))), (std::vector<double>{1, 3, 5, 2, 4, 6}));
  const Tensor cube = npy_of(file_of(dictionary + "(2, 3, 4), }", []() {
    std::string bytes;
    for (char k = 0; k < 24; ++k) bytes += k;
    return bytes;
  }()));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(cube.at({i, j, k}), double(i + 2 * j + 6 * k));
  EXPECT_EQ(npy_of(file_of(dictionary + "(3, 0, 2), }", "")).numel(), 0);
  EXPECT_EQ(npy_of(file_of(dictionary + "(), }", "\7")).item(), 7);
}

TEST(Npy, ReadsArraysOfManyPortions) {
  Random random(5);
  const Tensor x = random.normal({300, 70}, f64);
  EXPECT_EQ(difference(npy_of(bytes_of(x)), x), 0);
  std::string bytes = bytes_of(x);
  const std::size_t order = bytes.find("False");
  bytes.replace(order, 5, "True ");
  EXPECT_EQ(difference(npy_of(bytes), transpose(reshape(x, {70, 300}))), 0);
}

TEST(Npy, WhatIsNotSupportedIsRefusedWithARemedy) {
  const auto expect = [](const std::string& descr, const std::string& part) {
    const std::string message =
        refusal(file_of("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }", two_floats));
    EXPECT_TRUE(message.starts_with("read_npy: " + npy_path() + ": ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("'<c8'", "the values are '<c8', and only integers, truths and floats of up to 8 bytes are read; convert");
  for (const char* descr : {"'<f16'", "'<M8[ns]'", "'f4'", "'<'", "''", "'!f4'"}) expect(descr, "with astype(float)");
  expect("'|O'", "save one array of numbers, padded where lengths differ");
  expect("'<U2'", "numpy.unique(words, return_inverse=True)[1]");
  expect("[('a', '<f4')]", "named fields");
  expect("'<u8'", "the value 13835058056347516928 is above 2^63 - 1");
  EXPECT_NE(refusal(file_of("", two_floats, '\4')).find("version of the format is 4.0"), std::string::npos);
}

TEST(Npy, DamagedFilesAreRefused) {
  const std::string shapes[] = {"(3,)",
                                "(1,)",
                                "(2, 2)",
                                "(-2,)",
                                "(2)",
                                "(2.0,)",
                                "2",
                                "(2,",
                                "(,)",
                                "(2 2)",
                                "(99999999999999999999,)",
                                "(70368744177664, 70368744177664, 2)",
                                "(1, 1, 1, 1, 1, 1, 1, 1, 2)"};
  for (const std::string& shape : shapes)
    EXPECT_NE(refusal(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", two_floats)),
              nothing_thrown)
        << shape;
  for (const char* dictionary :
       {"", "{", "{}", "[]", "{'descr': '<f4', 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1, }",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "{'descr': '<f4' 'fortran_order': False}",
        "{'descr: <f4, fortran_order: False}", "{descr: '<f4'}"})
    EXPECT_NE(refusal(file_of(dictionary, two_floats)), nothing_thrown) << dictionary;
  EXPECT_NE(refusal("PK\x03\x04 something else"), nothing_thrown);
}

TEST(Npy, EveryCutAndEveryByteTooManyIsRefused) {
  for (std::size_t length = 0; length < by_numpy_f4.size(); ++length)
    EXPECT_NE(refusal(by_numpy_f4.substr(0, length)), nothing_thrown) << length;
  EXPECT_NE(refusal(by_numpy_f4 + '\0').find("does not fill the 13 bytes"), std::string::npos);
}

TEST(Npy, AFileThatCannotBeWrittenLeavesWhatWasThere) {
  EXPECT_THROW(read_npy(npy_path() + ".nowhere"), FileError);
  EXPECT_THROW(read_npy(testing::TempDir()), FileError);
  EXPECT_THROW(write_npy("/dev/null/x.npy", ones({1})), FileError);
  EXPECT_THROW(write_npy(npy_path(), Tensor()), ValueError);
  write_npy(npy_path(), ones({2}));
  EXPECT_THROW(write_npy(npy_path(), zeros({2}, dual)), DtypeError);
  EXPECT_EQ(read_npy(npy_path()).at({1}), 1);
}

}  // namespace
}  // namespace retrace
