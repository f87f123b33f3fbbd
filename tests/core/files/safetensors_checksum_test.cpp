// The checksum: it finds all damage, and does not depend on how a program writes the same tensors and metadata.
#include <retrace/tests/core/files/safetensors_test.h>

#include <map>

namespace retrace {
namespace {

TEST_F(Safetensors, TheBytesAreThoseOfTheFormat) {
  write_safetensors(path(), {{"b", indices({-1})}, {"a", ones({1})}}, {{"k", "v"}});
  const std::string one("\0\0\x80\x3f", 4), minus_one(8, '\xff');
  const std::string covered = R"({"metadata":{"k":"v"},"tensors":{"a":["F32",[1],")" + crc(one) +
                              R"("],"b":["I64",[1],")" + crc(minus_one) + R"("]}})";
  std::string header = R"({"__metadata__":{"k":"v","retrace.checksum":")" + crc(covered) + R"("},)" +
                       R"("a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]},)" +
                       R"("b":{"data_offsets":[4,12],"dtype":"I64","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(bytes(), with_length(header, one + minus_one));
}

TEST_F(Safetensors, TheChecksumIsNotPartOfTheMetadata) {
  write_safetensors(path(), {{"a", ones({1})}}, {{"k", "v"}});
  const SafetensorsFile file = read_safetensors(path());
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"k", "v"}}));
  write_safetensors(path(), file.tensors, file.metadata);
  EXPECT_EQ(read_safetensors(path()).metadata, file.metadata);
}

TEST_F(Safetensors, EveryBitThatFlipsIsDamage) {
  const std::map<std::string, std::map<std::string, Tensor>> files{
      {"weights", {{"b", indices({-1, 7})}, {"a", tensor({{1, 2}, {3, 4}})}, {"c", zeros({0}, f64)}}}, {"nothing", {}}};
  for (const auto& [name, tensors] : files) {
    write_safetensors(path(), tensors, {{"step", "12"}});
    const std::string whole = bytes();
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] ^= static_cast<char>(1U << bit % 8);
      EXPECT_NE(refusal(damaged).find("the file is damaged"), std::string::npos)
          << name << ", bit " << bit % 8 << " of byte " << bit / 8;
    }
    EXPECT_EQ(refusal(whole), "it was read");
  }
}

TEST_F(Safetensors, ADamagedChecksumIsDamage) {
  const std::string tensor = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  for (const char* entry : {R"("retrace.checksum":"0000000000000000")", R"("retrace.checksum":"")",
                            R"("retrace.chucksum":"0")", R"("retrace.crc65":"0")", R"("k":"v","retrace-checksum":"")"})
    EXPECT_EQ(refusal_of_header(text(R"({"__metadata__":{)", entry, "},", tensor, "}")),
              "the file is damaged: its tensors and metadata are not those of its checksum; write it anew (and leave "
              "the entry retrace.checksum of the metadata out if another program changed them)")
        << entry;
}

// As a program in Python does that loads a file and saves it with its metadata.
TEST_F(Safetensors, AHeaderThatIsWrittenAnotherWayIsNotDamage) {
  write_small_file();
  const std::string small = bytes(), digits = small.substr(small.find("checksum\":\"") + 11, 16),
                    key = "retrace.checksum";
  const std::string data(small.end() - 32, small.end()), a(data, 0, 16), b(data, 16);
  const auto header = [](const std::string& metadata, const std::string& dtype_of_a, const std::string& step) {
    return "{ \"b\" : { \"shape\":[2], \"dtype\":\"I64\",\n\t\"data_offsets\":[0, 16]},  \"\\u0061\":{\"dtype\":\"" +
           dtype_of_a + "\",\"shape\":[2,2],\"data_offsets\":[16,32]}, \"__metadata__\": {\"step\": \"" + step +
           "\", " + metadata + "}}";
  };
  const std::string checksum = "\"" + key + "\": \"" + digits + "\"";
  put(with_length(header(checksum, "F32", "12"), b + a));
  const SafetensorsFile file = read_safetensors(path());
  EXPECT_EQ(file.tensors.at("a").at({1, 1}), 4);
  EXPECT_EQ(file.tensors.at("b").values<std::int64_t>()[0], -1);
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"step", "12"}}));
  const std::string damaged = "the file is damaged: its tensors and metadata";
  EXPECT_TRUE(refusal_of_header(header(checksum, "F32", "13"), b + a).starts_with(damaged));
  EXPECT_TRUE(refusal_of_header(header(checksum + ", \"k\":\"\"", "F32", "12"), b + a).starts_with(damaged));
  EXPECT_TRUE(refusal_of_header(header(checksum, "F32", "12"), a + b).starts_with(damaged));
  EXPECT_EQ(refusal_of_header(header("\"k\":\"\"", "F32", "13"), a + b), "it was read");
}

TEST_F(Safetensors, FilesOfVersion02AreReadAndTheirBytesChecked) {
  const std::string tensors = R"("a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]})", four("\0\0\x80\x3f", 4);
  const std::string old = of_version_0_2(R"(,"step":"12")", tensors, four);
  put(old);
  EXPECT_EQ(read_safetensors(path()).metadata, (std::map<std::string, std::string>{{"step", "12"}}));
  for (std::size_t byte = 0; byte < old.size(); ++byte) {
    std::string damaged = old;
    damaged[byte] ^= 1;
    EXPECT_NE(refusal(damaged).find("the file is damaged"), std::string::npos) << "byte " << byte;
  }
  EXPECT_EQ(
      refusal_of_header(R"({"__metadata__":{"step":"12","retrace.crc64":"143ba5d53f8c0548"},)" + tensors + "}", four),
      "it was read")
      << "written again by another program";
}

TEST_F(Safetensors, FilesOfOtherProgramsNeedNoChecksum) {
  EXPECT_EQ(refusal_of_header(
                R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234"),
            "it was read");
  EXPECT_EQ(refusal_of_header(R"({"__metadata__":{"checksum":"d41d8cd98f00b204e9800998ecf8427e"}})"), "it was read");
}

}  // namespace
}  // namespace retrace
