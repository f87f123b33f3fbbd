// files/stored.npz and files/deflated.npz were written by Python's zipfile as numpy.savez and numpy.savez_compressed
// call it: x [2, 2] f32 and y [3] i64.
#include <gtest/gtest.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/data/zip.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <vector>

namespace retrace {
namespace {

const std::string files = RETRACE_SOURCE_DIR "/tests/models/data/files/";

void expect_the_arrays(const std::map<std::string, Tensor>& arrays) {
  ASSERT_EQ(arrays.size(), 2u);
  const Tensor &x = arrays.at("x"), &y = arrays.at("y");
  EXPECT_EQ(x.shape(), (Shape{2, 2}));
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{1.5f, -2, 0.25f, 8}));
  EXPECT_EQ(values_of<std::int64_t>(y), (std::vector<std::int64_t>{0, 1, 1}));
}

/// Whether this build reads compressed files.
bool has_zlib() {
  try {
    read_npz(files + "deflated.npz");
    return true;
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("no zlib; write it with numpy.savez instead"), std::string::npos) << message;
    return false;
  }
}

TEST(Npz, ReadsWhatNumpyWrites) {
  expect_the_arrays(read_npz(files + "stored.npz"));
  if (!has_zlib()) GTEST_SKIP() << "this build has no zlib";
  expect_the_arrays(read_npz(files + "deflated.npz"));
}

TEST(Npz, ReadsOneArrayByItsName) {
  EXPECT_EQ(read_npz(files + "stored.npz", "y").shape(), (Shape{3}));
  expect_words<ValueError>([] { read_npz(files + "stored.npz", "z"); }, {"stored.npz", "array", "'z'", "known: x, y"});
}

/// The same name twice, or as "x" and as "x.npy": which of the two is meant, nobody knows.
TEST(Npz, TwoArraysOfOneNameAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  write_npz(path, {{"one", indices({1})}, {"two", indices({2})}});
  std::string bytes = file_bytes(path);
  for (std::size_t place = 0; (place = bytes.find("two.npy", place)) != std::string::npos;)
    bytes.replace(place, 3, "one");
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string refusal = "read_npz: " + path + ": two arrays are named 'one'; rename one";
  expect_error<FileError>([&] { read_npz(path); }, refusal);
  expect_error<FileError>([&] { read_npz(path, "one"); }, refusal);
}

TEST(Npz, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  const std::map<std::string, Tensor> arrays{
      {"x", tensor({{1.5, -2}, {0.25, 8}}, f32)}, {"y", indices({0, 1, 1})}, {"wide", full({}, 0.1, f64)}};
  write_npz(path, arrays);
  std::map<std::string, Tensor> read = read_npz(path);
  EXPECT_EQ(read.at("wide").item(), 0.1);
  read.erase("wide");
  expect_the_arrays(read);
  write_npz(path, {});
  EXPECT_TRUE(read_npz(path).empty());
}

TEST(Npz, TheSumIsTheCrc32OfZip) {
  EXPECT_EQ(crc32_of("123456789"), 0xcbf43926u) << "the check value of CRC-32/ISO-HDLC";
  EXPECT_EQ(crc32_of("6789", crc32_of("12345")), 0xcbf43926u);
}

TEST(Npz, AFileThatIsCutIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string bytes = file_bytes(files + name);
    ASSERT_GT(bytes.size(), 300u);
    for (std::size_t length = 0; length < bytes.size(); length += 3) {
      std::ofstream(path, std::ios::binary) << bytes.substr(0, length);
      EXPECT_THROW(read_npz(path), FileError) << name << " cut to " << length;
    }
  }
}

/// A change of a byte that does not matter (a date, say) gives the same arrays; any other is found.
TEST(Npz, AChangedByteNeverGivesOtherNumbers) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  int refused = 0;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string bytes = file_bytes(files + name);
    const std::size_t list = bytes.find("PK\x01\x02");  // from there on, names may change
    for (std::size_t place = 0; place < bytes.size(); place += 2) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(changed[place] ^ 0x15);
      std::ofstream(path, std::ios::binary) << changed;
      try {
        const std::map<std::string, Tensor> arrays = read_npz(path);
        if (place < list) expect_the_arrays(arrays);
      } catch (const FileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 150);
}

TEST(Npz, RefusesWhatCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  EXPECT_THROW(write_npz(path, {{"", indices({1})}}), ValueError);
  EXPECT_THROW(write_npz(path, {{"x", Tensor()}}), ValueError);
  EXPECT_THROW(write_npz(path, {{"x", zeros({2}, dual)}}), DtypeError);
  EXPECT_FALSE(std::filesystem::exists(path));
  expect_words<FileError>([&] { read_npz(path); }, {"read_npz", "x.npz", "check the path"});
}

}  // namespace
}  // namespace retrace
