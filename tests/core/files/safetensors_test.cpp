// The file format: written values are read back, and damaged files are rejected with a message, never a crash.
#include <retrace/tests/core/files/safetensors_test.h>

#include <sys/stat.h>
#include <cmath>
#include <limits>
#include <random>

namespace retrace {
namespace {

TEST_F(Safetensors, WhatIsWrittenComesBack) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_safetensors(path(),
                    {{"f32", tensor({{1, -0.5}, {1e-40, 4}}, f32)},
                     {"f64", tensor({0.1, nan}, f64)},
                     {"i64", indices({-1, std::int64_t{1} << 40})},
                     {"number", tensor(3.5)},
                     {"nothing", zeros({2, 0, 3})}},
                    {{"quote", "\"\\\n\u00e9"}});
  const SafetensorsFile file = read_safetensors(path());
  ASSERT_EQ(file.tensors.size(), 5U);
  EXPECT_EQ(file.tensors.at("f32").shape(), (Shape{2, 2}));
  EXPECT_EQ(file.tensors.at("f32").at({1, 0}), static_cast<double>(1e-40F));
  EXPECT_EQ(file.tensors.at("f64").dtype(), f64);
  EXPECT_EQ(file.tensors.at("f64").at({0}), 0.1);
  EXPECT_TRUE(std::isnan(file.tensors.at("f64").at({1})));
  EXPECT_EQ(file.tensors.at("i64").values<std::int64_t>()[1], std::int64_t{1} << 40);
  EXPECT_EQ(file.tensors.at("number").rank(), 0);
  EXPECT_EQ(file.tensors.at("number").item(), 3.5);
  EXPECT_EQ(file.tensors.at("nothing").shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(file.metadata.at("quote"), "\"\\\n\u00e9");
}

TEST_F(Safetensors, SizesAreComparedBeforeAnythingElseIsRead) {
  write_small_file();
  std::filesystem::resize_file(path(), std::uintmax_t{64} << 30);
  EXPECT_NE(message_of<FileError>([&] { read_safetensors(path()); }).find("the tensors take 32 bytes, and 68719"),
            std::string::npos);
  put(with_length("").substr(0, 4) + "\1" + std::string(3, '\0') + "{}");  // a header of 4 GiB
  std::filesystem::resize_file(path(), std::uintmax_t{64} << 30);
  EXPECT_NE(message_of<FileError>([&] {
              read_safetensors(path());
            }).find("a header of 4294967296 bytes is more than the format's limit of 100000000"),
            std::string::npos);
}

TEST_F(Safetensors, AHeaderBeyondTheLimitIsNotWritten) {
  write_small_file();
  const std::string before = bytes();
  EXPECT_NE(message_of<ValueError>([&] {
              write_safetensors(path(), {}, {{"k", std::string(100'000'000, 'x')}});
            }).find("bytes, and the format's limit is 100000000; write several files"),
            std::string::npos);
  EXPECT_EQ(bytes(), before);
}

TEST_F(Safetensors, TheHeaderBeginsWithABraceAndEndsInSpaces) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  EXPECT_EQ(refusal_of_header(header + "    "), "it was read");
  EXPECT_TRUE(refusal_of_header("\xef\xbb\xbf" + header).starts_with("byte 1 of the header is not JSON"));
  EXPECT_TRUE(refusal_of_header(" " + header).starts_with("the header does not begin with {"));
  const std::string behind = text("byte ", header.size() + 1, " of the header is not JSON");
  EXPECT_TRUE(refusal_of_header(header + std::string(2, '\0')).starts_with(behind));
  EXPECT_TRUE(refusal_of_header(header + std::string("\0garbage", 8)).starts_with(behind));
}

TEST_F(Safetensors, ControlCodesInNamesAreShownNotSent) {
  for (const char* entry : {R"({"\u001b[2J":1})", R"({"\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})",
                            R"({"\u001b[2J":{"dtype":"\u001b","shape":[1],"data_offsets":[0,4]}})",
                            R"({"__metadata__":{"\u001b[2J":"","\u001b[2J":""}})",
                            R"({"\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"}) {
    const std::string message = refusal_of_header(entry, "12345678");
    EXPECT_NE(message.find("\\x1b"), std::string::npos) << entry;
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << entry;
  }
}

TEST_F(Safetensors, LongNamesAreCutInMessages) {
  const std::string name(1'000'000, 'n');
  for (const std::string& entry :
       {"\"" + name + "\":1", "\"a\":{\"dtype\":\"" + name + "\",\"shape\":[],\"data_offsets\":[0,0]}"})
    EXPECT_LT(refusal_of_header("{" + entry + "}").size(), 500U);
}

TEST_F(Safetensors, AFileOfNothingIsAFile) {
  write_safetensors(path(), {});
  EXPECT_TRUE(read_safetensors(path()).tensors.empty());
}

TEST_F(Safetensors, TheHeaderMayNameTensorsInAnyOrder) {
  put(with_length(R"({"z":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"shape":[1],"dtype":"F32",)"
                  R"("data_offsets":[4,8]}})",
                  std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  const SafetensorsFile file = read_safetensors(path());
  EXPECT_EQ(file.tensors.at("z").at({0}), 1);
  EXPECT_EQ(file.tensors.at("a").at({0}), 2);
}

TEST_F(Safetensors, RefusalsSayWhatIsWrong) {
  const std::string remedy = "; the file is damaged or of another format: write it anew";
  EXPECT_EQ(refusal("abc"), "it has 3 bytes, and the length of the header alone takes 8" + remedy);
  EXPECT_EQ(refusal(std::string(7, '\xff') + "\x7f{}"),
            "a header of 9223372036854775807 bytes is more than the file holds" + remedy);
  EXPECT_EQ(refusal_of_header("[]"), "the header is a list, not an object" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"a" 1})"), "byte 6 of the header is not JSON" + remedy);
  for (const std::string type : {"U64", "F8_E4M3", "C64"})
    EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":")" + type + R"(","shape":[1],"data_offsets":[0,2]}})", "xx"),
              "tensor a is " + type +
                  ", and only F32, F64, F16, BF16, I64, I32, I16, I8, U32, U16, U8 and BOOL are read; convert it where "
                  "it was written");
  EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,2]}})", "xx"),
            "tensor a is of no type of the format: F99" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1]}})"),
            "tensor a lacks dtype, shape or data_offsets" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})"),
            "the entry a of the header has a number in a wrong place" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})"),
            "the entry a of the header has a negative number in a wrong place" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})"),
            "tensor a has more than 8 axes" + remedy);
  EXPECT_EQ(refusal_of_header(R"({"__metadata__":{"a":1}})"),
            "the entry __metadata__ of the header has a number in a wrong place" + remedy);
}

TEST_F(Safetensors, FilesOfTorchSaveAreRecognised) {
  const std::string remedy =
      "the file is a zip archive or a pickle, as torch.save writes; in Python write "
      "safetensors.torch.save_file(model.state_dict(), \"x.safetensors\"), and read that file with load_pytorch";
  const std::string zip("PK\3\4\0\0\x08\x08\0\0", 10), pickle("\x80\2\x8a\x0al\xfc\x9c\x46\xf9\x20", 10);
  EXPECT_EQ(refusal(zip + "archive/data.pkl"), remedy);
  EXPECT_EQ(refusal(pickle + "j\xa8P\x19.\x80\2M"), remedy);
  EXPECT_EQ(refusal("\x80\4\x95" + std::string(20, 'x')), remedy);  // a newer pickle
  // A header of 0x4B50 bytes begins with the same two letters as a zip archive.
  EXPECT_EQ(refusal_of_header("{}" + std::string(0x4B50 - 2, ' ')), "it was read");
  EXPECT_EQ(refusal_of_header("{}" + std::string(0x0280 - 2, ' ')), "it was read");
}

TEST_F(Safetensors, NoNameComesTwice) {
  const std::string entry = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_TRUE(refusal_of_header("{" + entry + "," + entry + "}").starts_with("the header names a twice"));
  EXPECT_TRUE(refusal_of_header(R"({"__metadata__":{"k":"1","k":"2"}})").starts_with("the header names k twice"));
  EXPECT_TRUE(refusal_of_header(R"({"a":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}})")
                  .starts_with("the header names dtype twice"));
}

TEST_F(Safetensors, ShapesAndOffsetsFitTheData) {
  const auto entry = [](const std::string& name, const std::string& shape, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
  };
  const auto refused = [&](const std::string& entries, const std::string& data) {
    return refusal_of_header("{" + entries + "}", data);
  };
  const std::string four(4, 'x'), eight(8, 'x');
  EXPECT_TRUE(refused(entry("a", "2", "0,4"), four).starts_with("tensor a[2] does not fill the bytes 0 to 4"));
  EXPECT_TRUE(refused(entry("a", "1", "4,0"), four).starts_with("tensor a[1] does not fill the bytes 4 to 0"));
  EXPECT_TRUE(refused(entry("a", "1", "4,8"), eight).starts_with("tensor a begins at byte 4"));
  EXPECT_TRUE(refused(entry("a", "1", "0,4"), eight).starts_with("the tensors take 4 bytes, and 8 are there"));
  EXPECT_TRUE(refused(entry("a", "2", "0,8"), four).starts_with("the tensors take 8 bytes, and 4 are there"));
  EXPECT_TRUE(refused(entry("a", "1", "0,4") + "," + entry("b", "1", "0,4"), eight)
                  .starts_with("tensor b begins at byte 0, and what is before it ends at 4"));
  // products that overflow 64 bits to 0
  EXPECT_TRUE(refused(entry("a", "4294967296,4294967296,4", "0,0"), "").starts_with("tensor a["));
  EXPECT_TRUE(refused(entry("a", "4294967296,4294967296,0", "0,0"), "").starts_with("tensor a"));
  EXPECT_TRUE(refused(entry("a", "18446744073709551615", "0,4"), four).starts_with("tensor a has an axis of 1844"));
  EXPECT_EQ(refused(entry("a", "1", "0,4"), four), "it was read");
}

TEST_F(Safetensors, DeepHeadersAreRefusedAtOnce) {
  EXPECT_NE(refusal_of_header(std::string(1'000'000, '[')), "it was read");
  EXPECT_NE(refusal_of_header(R"({"a":{"shape":)" + std::string(1'000'000, '[')), "it was read");
}

TEST_F(Safetensors, PathsThatAreNoFilesAreRefused) {
  for (const std::string& bad : {path(), folder_.string(), std::string()}) {
    EXPECT_THROW(read_safetensors(bad), FileError);
  }
  try {
    read_safetensors(path());
  } catch (const FileError& error) {
    EXPECT_EQ(std::string(error.what()), "read_safetensors: " + path() + ": No such file or directory; check the path");
  }
}

TEST_F(Safetensors, WhatCannotBeWrittenLeavesTheOldFileAndNothingElse) {
  write_small_file();
  const std::string before = bytes();
  EXPECT_THROW(write_safetensors(path(), {{"a", Tensor()}}), ValueError);
  EXPECT_THROW(write_safetensors(path(), {{"a", zeros({1}, dual)}}), DtypeError);
  EXPECT_THROW(write_safetensors(path(), {{"__metadata__", ones({1})}}), ValueError);
  EXPECT_THROW(write_safetensors(path(), {{"\xff", ones({1})}}), ValueError);
  EXPECT_THROW(write_safetensors(path(), {}, {{"key", "\xc3"}}), ValueError);
  for (const char* key : {"retrace.checksum", "retrace.chucksum", "retrace.crc64"})
    EXPECT_THROW(write_safetensors(path(), {}, {{key, "0"}}), ValueError);
  EXPECT_EQ(bytes(), before);
  EXPECT_THROW(write_safetensors(folder_ / "missing" / "x", {}), FileError);
  std::filesystem::create_directory(folder_ / "taken");
  EXPECT_THROW(write_safetensors(folder_ / "taken", {}), FileError);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 2) << "a temporary file was left behind";
}

TEST_F(Safetensors, LinksStayAndLeadToTheNewFile) {
  const std::filesystem::path link = folder_ / "link";
  write_small_file();
  std::filesystem::create_symlink(path(), link);
  write_safetensors(link.string(), {{"new", ones({1})}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(read_safetensors(path()).tensors.contains("new"));
}

TEST_F(Safetensors, PipesAndDevicesAreNotReplaced) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    write_safetensors(pipe, {});
    ADD_FAILURE() << "it was written";
  } catch (const FileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "write_safetensors: " + pipe + " is a device or a pipe, not a file; choose another path");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(Safetensors, EveryTruncationIsRefused) {
  write_small_file();
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(is_read(whole.substr(0, length))) << length;
  EXPECT_TRUE(is_read(whole));
  EXPECT_FALSE(is_read(whole + "x"));
}

TEST_F(Safetensors, DamagedFilesAreReadOrRefusedButNeverCrash) {
  const std::string whole =
      with_length(R"({"__metadata__":{"step":"12"},"a":{"data_offsets":[0,16],"dtype":"F32","shape":[2,2]},)"
                  R"("b":{"data_offsets":[16,32],"dtype":"I64","shape":[2]}})",
                  std::string(32, 'x'));  // without a checksum, so that the damage is met
  ASSERT_TRUE(is_read(whole));
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (auto flips = 1 + random() % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    if (!is_read(damaged)) ++refused;
  }
  EXPECT_GT(refused, 2500);
}

}  // namespace
}  // namespace retrace
