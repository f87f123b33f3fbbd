#pragma once
/// A folder with one safetensors file, and how it is refused.
#include <retrace/core/files/crc64.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

namespace retrace {

class Safetensors : public testing::Test {
 protected:
  std::string path() const { return folder_ / "x.safetensors"; }
  std::string bytes() const { return file_bytes(path()); }
  void put(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  static std::string with_length(const std::string& header, const std::string& data = "") {
    std::string result;
    for (int k = 0; k < 8; ++k) result += static_cast<char>(header.size() >> (8 * k) & 255);
    return result + header + data;
  }
  // The message without the path in front.
  std::string refusal(const std::string& bytes) const {
    put(bytes);
    try {
      read_safetensors(path());
    } catch (const FileError& error) {
      const std::string start = "read_safetensors: " + path() + ": ", message = error.what();
      EXPECT_TRUE(message.starts_with(start)) << message;
      return message.substr(std::min(start.size(), message.size()));
    }
    return "it was read";
  }
  std::string refusal_of_header(const std::string& header, const std::string& data = "") const {
    return refusal(with_length(header, data));
  }
  // Whether the file can be read. Any exception other than a FileError fails the test.
  bool is_read(const std::string& bytes) const {
    put(bytes);
    try {
      read_safetensors(path());
      return true;
    } catch (const FileError&) {
      return false;
    }
  }
  // As 16 hexadecimal digits.
  static std::string crc(const std::string& bytes) {
    Crc64 checksum;
    checksum.add(bytes.data(), bytes.size());
    std::ostringstream digits;
    digits << std::hex << std::setfill('0') << std::setw(16) << checksum.value();
    return digits.str();
  }
  // A file of version 0.2, whose checksum is of its bytes.
  static std::string of_version_0_2(const std::string& metadata, const std::string& tensors, const std::string& data) {
    const auto file = [&](const std::string& digits) {
      return with_length(R"({"__metadata__":{"retrace.crc64":")" + digits + "\"" + metadata + "}," + tensors + "}",
                         data);
    };
    return file(crc(file("0000000000000000")));
  }
  void write_small_file() const {
    write_safetensors(path(), {{"b", indices({-1, 7})}, {"a", tensor({{1, 2}, {3, 4}})}}, {{"step", "12"}});
  }
  TemporaryFolder own_;
  std::filesystem::path folder_ = own_.path();
};

}  // namespace retrace
