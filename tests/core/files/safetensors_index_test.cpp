// A model in several files: what its index says must be there, and nothing else.
#include <retrace/tests/core/files/safetensors_test.h>

#include <tuple>

namespace retrace {
namespace {

class SafetensorsIndex : public Safetensors {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "more");
    write_safetensors(folder_ / "1.safetensors", {{"a", tensor({1, 2})}, {"b", tensor(3)}}, {{"by", "1"}});
    write_safetensors(folder_ / "more/2.safetensors", {{"c", indices({4})}}, {{"by", "2"}, {"format", "pt"}});
  }
  std::string index() const { return folder_ / "model.safetensors.index.json"; }
  SafetensorsFile read(const std::string& json) const {
    std::ofstream(index(), std::ios::binary) << json;
    return read_safetensors(index());
  }
  SafetensorsFile read_map(const std::string& entries) const { return read(R"({"weight_map":{)" + entries + "}}"); }
};

constexpr const char* all_of_1 = R"("a":"1.safetensors","b":"1.safetensors")";

TEST_F(SafetensorsIndex, AllTensorsOfItsFilesAreRead) {
  const SafetensorsFile file =
      read(R"({"metadata":{"total_size":20,"nested":{"weight_map":[1,{"x":null}]}},"weight_map":{)" +
           std::string(all_of_1) + R"(,"c":"more/2.safetensors"},"version":2.5})");
  ASSERT_EQ(file.tensors.size(), 3U);
  EXPECT_EQ(file.tensors.at("a").at({1}), 2);
  EXPECT_EQ(file.tensors.at("b").item(), 3);
  EXPECT_EQ(file.tensors.at("c").dtype(), i64);
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"by", "1"}, {"format", "pt"}}));
  EXPECT_TRUE(read_map("").tensors.empty());
}

TEST_F(SafetensorsIndex, AnIndexThatDoesNotFitItsFilesIsRefused) {
  const std::string a = all_of_1;
  for (const auto& [entries, complaint] :
       {std::tuple{a + R"(,"c":"3.safetensors")", "3.safetensors is missing; an index names every tensor"},
        {a + R"(,"c":"1.safetensors")", "1.safetensors lacks its tensor c;"},
        {R"("a":"1.safetensors")", "it does not have the tensor b of "},
        {a + R"(,"a":"more/2.safetensors")", "it names tensor a twice"},
        {a + R"(,"c":2)", "tensor c of its weight_map has no name of a file"},
        {a + R"(,"c":["more/2.safetensors"])", "tensor c of its weight_map has no name of a file"},
        {a + R"(,"c":{"file":"more/2.safetensors"})", "tensor c of its weight_map has no name of a file"}}) {
    const std::string message = message_of<FileError>([&, map = entries] { read_map(map); });
    EXPECT_NE(message.find(complaint), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("read_safetensors: " + index() + ": ")) << message;
  }
}

// What is outside exists, so that only the rule keeps it from being read.
TEST_F(SafetensorsIndex, NoFileOutsideOfItsFolderIsRead) {
  const std::string outside = folder_ / "1.safetensors", inner = folder_ / "more/model.safetensors.index.json";
  std::ofstream(folder_ / "other.index.json") << R"({"weight_map":{}})";
  for (const std::string& name :
       {outside, std::string("../1.safetensors"), std::string("x/../../1.safetensors"), std::string("other.index.json"),
        std::string(""), std::string("1.safetensors\\u0000.safetensors"), std::string("\\u001b.safetensors")}) {
    std::ofstream(inner) << R"({"weight_map":{"a":")" + name + R"(","b":")" + name + R"("}})";
    const std::string message = message_of<FileError>([&] { read_safetensors(inner); });
    EXPECT_NE(message.find("which is not a .safetensors file in its folder or below"), std::string::npos) << message;
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
  }
}

TEST_F(SafetensorsIndex, WhatIsNoIndexIsRefused) {
  for (const auto& [json, complaint] : {std::tuple{"", "byte 1 is not JSON"},
                                        {R"({"weight_map":{"a":"1.safe)", "byte 27 is not JSON"},
                                        {"{}", "it has no object weight_map"},
                                        {"[]", "it has no object weight_map"},
                                        {R"({"weight_map":"1.safetensors"})", "it has no object weight_map"},
                                        {R"([{"weight_map":{}}])", "it has no object weight_map"},
                                        {R"({"weight_map":{},"weight_map":{}})", "it has weight_map twice"}}) {
    const std::string message = message_of<FileError>([&, text = json] { read(text); });
    EXPECT_NE(message.find(complaint), std::string::npos) << message;
  }
  std::filesystem::remove(index());
  EXPECT_NE(message_of<FileError>([&] { read_safetensors(index()); }).find("check the path"), std::string::npos);
}

TEST_F(SafetensorsIndex, DamageOfAFileIsReportedByItsName) {
  std::filesystem::resize_file(folder_ / "1.safetensors", 20);
  EXPECT_NE(message_of<FileError>([&] { read_map(all_of_1); }).find("1.safetensors: "), std::string::npos);
}

}  // namespace
}  // namespace retrace
