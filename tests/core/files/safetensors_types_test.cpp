// The types of the format that tensors do not have.
#include <retrace/tests/core/files/safetensors_test.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace retrace {
namespace {

// Every value of 16 bits, beside the definition of the type.
TEST_F(Safetensors, HalvesAreReadAsTheirValues) {
  std::string data;
  for (int bits = 0; bits < 1 << 16; ++bits) data += {static_cast<char>(bits & 255), static_cast<char>(bits >> 8)};
  for (const auto& [type, fraction_bits, bias] : {std::tuple{"F16", 10, 15}, std::tuple{"BF16", 7, 127}}) {
    put(with_length(text(R"({"a":{"dtype":")", type, R"(","shape":[256,256],"data_offsets":[0,131072]}})"), data));
    const Tensor a = read_safetensors(path()).tensors.at("a");
    ASSERT_EQ(a.dtype(), f32);
    ASSERT_EQ(a.shape(), (Shape{256, 256}));
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const int magnitude = bits & 0x7fff, exponent = magnitude >> fraction_bits;
      const double fraction = std::ldexp(magnitude & ((1 << fraction_bits) - 1), -fraction_bits);
      const double value = exponent == 2 * bias + 1
                               ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                               : std::ldexp(fraction + (exponent > 0), std::max(exponent, 1) - bias);
      const float read = a.values<float>()[static_cast<std::size_t>(bits)];
      EXPECT_EQ(std::signbit(read), bits > 0x7fff) << type << " " << bits;
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(read)) << type << " " << bits;
      else
        EXPECT_EQ(std::abs(read), value) << type << " " << bits;
    }
  }
}

TEST_F(Safetensors, IntegersOfFewerBitsAreReadAsI64) {
  put(with_length(R"({"i32":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},)"
                  R"("u8":{"dtype":"U8","shape":[3,1],"data_offsets":[8,11]},)"
                  R"("none":{"dtype":"U8","shape":[0],"data_offsets":[11,11]},)"
                  R"("bool":{"dtype":"BOOL","shape":[3],"data_offsets":[11,14]},)"
                  R"("i16":{"dtype":"I16","shape":[2],"data_offsets":[14,18]},)"
                  R"("i8":{"dtype":"I8","shape":[2],"data_offsets":[18,20]},)"
                  R"("u32":{"dtype":"U32","shape":[1],"data_offsets":[20,24]},)"
                  R"("u16":{"dtype":"U16","shape":[2],"data_offsets":[24,28]},)"
                  R"("after":{"dtype":"F32","shape":[1],"data_offsets":[28,32]}})",
                  std::string("\xff\xff\xff\xff\0\0\0\x80\0\x7f\xff\0\1\2\0\x80\xfe\xff\x80\x7f"
                              "\xff\xff\xff\xff\xff\xff\1\0\0\0\x80\x3f",
                              32)));
  const SafetensorsFile file = read_safetensors(path());
  const auto numbers = [&](const char* name) {
    const auto values = file.tensors.at(name).values<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  EXPECT_EQ(numbers("i32"), (std::vector<std::int64_t>{-1, std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(numbers("u8"), (std::vector<std::int64_t>{0, 127, 255}));
  EXPECT_EQ(file.tensors.at("u8").shape(), (Shape{3, 1}));
  EXPECT_TRUE(numbers("none").empty());
  EXPECT_EQ(numbers("bool"), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(numbers("i16"), (std::vector<std::int64_t>{-32768, -2}));
  EXPECT_EQ(numbers("i8"), (std::vector<std::int64_t>{-128, 127}));
  EXPECT_EQ(numbers("u32"), (std::vector<std::int64_t>{4294967295}));
  EXPECT_EQ(numbers("u16"), (std::vector<std::int64_t>{65535, 1}));
  EXPECT_EQ(file.tensors.at("after").item(), 1) << "at no multiple of its size";
}

// More than are converted at once.
TEST_F(Safetensors, LargeTensorsOfAllTypesAreReadWhole) {
  constexpr std::int64_t count = 200'003;
  const auto entry = [&](const char* type, std::int64_t size) {
    return text(R"({"a":{"dtype":")", type, R"(","shape":[)", count, R"(],"data_offsets":[0,)", count * size, "]}}");
  };
  std::string bytes, halves;
  for (std::int64_t k = 0; k < count; ++k)
    bytes += static_cast<char>(k % 251), halves += {'\0', static_cast<char>(k % 97)};
  put(with_length(entry("U8", 1), bytes));
  const Tensor u8 = read_safetensors(path()).tensors.at("a");
  put(with_length(entry("BF16", 2), halves));
  const Tensor bf16 = read_safetensors(path()).tensors.at("a");
  for (std::int64_t k = 0; k < count; ++k) {
    ASSERT_EQ(u8.values<std::int64_t>()[static_cast<std::size_t>(k)], k % 251);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16.values<float>()[static_cast<std::size_t>(k)]), (k % 97) << 24);
  }
}

}  // namespace
}  // namespace retrace
