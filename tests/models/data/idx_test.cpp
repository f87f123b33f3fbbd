#include <gtest/gtest.h>
#include <retrace/models/data/idx.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <vector>

namespace retrace {
namespace {

using namespace std::string_literals;

Tensor idx_of(const std::string& bytes, std::optional<Dtype> dtype = {}) {
  static const TemporaryFolder folder;
  const std::string path = folder / "x-idx";
  std::ofstream(path, std::ios::binary) << bytes;
  return read_idx(path, dtype);
}

const std::string six_bytes = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03\0\x01\x02\x80\xfe\xff"s;
// The same, by Python's gzip.
const std::string six_bytes_gzipped =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x62\x60\x60\x00\x61\x66\x06\x46\xa6\x86\x7f\xff\x01\xca"
    "\x9b\x6b\x04\x12\x00\x00\x00"s;
const std::vector<std::int64_t> six_numbers{0, 1, 2, 128, 254, 255};

TEST(Idx, ReadsBytesAsIntegersOrAsFloats) {
  const Tensor x = idx_of(six_bytes);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(values_of<std::int64_t>(x), six_numbers);
  const Tensor floats = idx_of(six_bytes, f32);
  EXPECT_EQ(floats.dtype(), f32);
  EXPECT_EQ(values_of<float>(floats), (std::vector<float>{0, 1, 2, 128, 254, 255}));
}

TEST(Idx, ReadsAGzipFile) {
  try {
    EXPECT_EQ(values_of<std::int64_t>(idx_of(six_bytes_gzipped)), six_numbers);
  } catch (const FileError& error) {
    const std::string message = error.what();
    ASSERT_NE(message.find("no zlib; unpack it with gunzip"), std::string::npos) << message;
    GTEST_SKIP() << "this build has no zlib";
  }
  for (std::size_t length = 2; length < six_bytes_gzipped.size(); ++length)
    EXPECT_THROW(idx_of(six_bytes_gzipped.substr(0, length)), FileError) << length;
  std::string changed = six_bytes_gzipped;
  changed[28] ^= 1;  // in the checksum
  EXPECT_THROW(idx_of(changed), FileError);
}

TEST(Idx, ReadsEveryTypeHighestByteFirst) {
  const std::string axis = "\x01\0\0\0\x02"s;
  EXPECT_EQ(values_of<std::int64_t>(idx_of("\0\0\x09"s + axis + "\x7f\x80")), (std::vector<std::int64_t>{127, -128}));
  EXPECT_EQ(values_of<std::int64_t>(idx_of("\0\0\x0b"s + axis + "\x01\x02\xff\xfe"s)),
            (std::vector<std::int64_t>{258, -2}));
  EXPECT_EQ(values_of<std::int64_t>(idx_of("\0\0\x0c"s + axis + "\0\x01\0\0\xff\xff\xff\xff"s)),
            (std::vector<std::int64_t>{65536, -1}));
  const Tensor f4 = idx_of("\0\0\x0d"s + axis + "\x3f\xc0\0\0\xc0\0\0\0"s);
  EXPECT_EQ(values_of<float>(f4), (std::vector<float>{1.5f, -2}));
  const Tensor f8 = idx_of("\0\0\x0e"s + axis + "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(values_of<double>(f8), (std::vector<double>{1.5, -2}));
}

TEST(Idx, AnEmptyAxisIsRead) { EXPECT_EQ(idx_of("\0\0\x08\x02\0\0\0\x02\0\0\0\0"s).shape(), (Shape{2, 0})); }

TEST(Idx, RefusesWhatIsNotAWholeFile) {
  for (std::size_t length = 0; length < six_bytes.size(); ++length)
    EXPECT_THROW(idx_of(six_bytes.substr(0, length)), FileError) << length;
  EXPECT_THROW(idx_of(six_bytes + "\1"), FileError);
  expect_words<FileError>([] { idx_of("\0\0\x07\x01\0\0\0\x02\1\2"s); }, {"read_idx", "no type of values 7"});
  expect_words<FileError>([] { idx_of("PK\x08\x01"); }, {"read_idx", "does not begin as an IDX file"});
  const std::string huge = "\0\0\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s;
  EXPECT_THROW(idx_of(huge), FileError) << "the product of the axes overflows";
  expect_words<DtypeError>([] { idx_of("\0\0\x0d\x01\0\0\0\x01\0\0\0\0"s, i64); },
                           {"read_idx", "its values are floats"});
}

}  // namespace
}  // namespace retrace
