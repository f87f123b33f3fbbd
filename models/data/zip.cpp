#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/data/inflate.h>
#include <retrace/models/data/zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace retrace {
namespace {

constexpr std::uint32_t list_mark = 0x02014b50, member_mark = 0x04034b50;
constexpr std::size_t end_size = 22, list_entry_size = 46, member_header_size = 30;

/// An unsigned number of `count` bytes, the lowest first.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < count; ++i) result |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return result;
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? 0xedb88320u ^ (rest >> 1) : rest >> 1;
    table[byte] = rest;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  for (const char byte : bytes) sum = crc_table[(sum ^ static_cast<unsigned char>(byte)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

ZipReader::ZipReader(const std::string& path, std::string who) : who_(std::move(who)), file_(path, std::ios::binary) {
  const int reason = errno;
  std::error_code failure;
  size_ = std::filesystem::file_size(path, failure);
  if (failure) refuse(failure.message() + "; check the path");
  if (!file_) refuse(text(std::strerror(reason), "; check the permissions"));
  read_list();
}

void ZipReader::refuse(const std::string& what) const { throw FileError(text(who_, ": ", what)); }

std::string ZipReader::bytes(std::uint64_t offset, std::uint64_t count) {
  if (offset > size_ || count > size_ - offset)
    refuse("a part of the archive is missing; write or download the file again");
  std::string result(count, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(result.data(), static_cast<std::streamsize>(count));
  if (!file_) refuse("cannot be read; try again");
  return result;
}

void ZipReader::read_list() {
  constexpr std::uint64_t longest_comment = 65535;
  const std::uint64_t tail = std::min<std::uint64_t>(size_, end_size + longest_comment);
  const std::string last = bytes(size_ - tail, tail);
  const std::size_t end = last.rfind("PK\x05\x06");
  if (end == std::string::npos || last.size() - end < end_size)
    refuse("it does not end as a zip archive; write it anew with numpy.savez");
  const std::uint32_t count = number_at(last, end + 10, 2), length = number_at(last, end + 12, 4),
                      offset = number_at(last, end + 16, 4);
  if (count == 0xffff || length == 0xffffffff || offset == 0xffffffff)
    refuse("archives of more than 4 GiB or 65,534 members are not read; save the arrays with numpy.save");
  const std::string list = bytes(offset, length);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (list.size() - at < list_entry_size || number_at(list, at, 4) != list_mark)
      refuse("its list of members is damaged; write or download the file again");
    const std::size_t name = number_at(list, at + 28, 2);
    const std::size_t entry = list_entry_size + name + number_at(list, at + 30, 2) + number_at(list, at + 32, 2);
    if (entry > list.size() - at) refuse("its list of members is damaged; write or download the file again");
    members_.push_back({.name = list.substr(at + list_entry_size, name),
                        .flags = static_cast<std::uint16_t>(number_at(list, at + 8, 2)),
                        .method = static_cast<std::uint16_t>(number_at(list, at + 10, 2)),
                        .crc = number_at(list, at + 16, 4),
                        .packed = number_at(list, at + 20, 4),
                        .size = number_at(list, at + 24, 4),
                        .offset = number_at(list, at + 42, 4)});
    at += entry;
  }
  if (at != list.size()) refuse("its list of members is damaged; write or download the file again");
}

std::string ZipReader::read(const ZipMember& member) {
  if ((member.flags & 1) != 0) refuse(text(member.name, " is encrypted; write it without a password"));
  if (member.size == 0xffffffff || member.packed == 0xffffffff)
    refuse(text(member.name, " is larger than 4 GiB; save the array with numpy.save"));
  const std::string header = bytes(member.offset, member_header_size);
  const std::uint64_t name_size = number_at(header, 26, 2), name_at = member.offset + member_header_size;
  // No checksum covers the names: each stands in the list and in front of its member.
  if (number_at(header, 0, 4) != member_mark || bytes(name_at, name_size) != member.name)
    refuse(text(printable(member.name), " is damaged; write or download the file again"));
  const std::string packed = bytes(name_at + name_size + number_at(header, 28, 2), member.packed);
  std::string result;
  if (member.method == 8)
    result = inflate(packed, member.size, text(who_, ": ", member.name));
  else if (member.method == 0)
    result = packed;
  else
    refuse(text(member.name, " is compressed by method ", member.method,
                ", and only stored and deflated members are read; write the file with numpy.savez"));
  if (result.size() != member.size || crc32_of(result) != member.crc)
    refuse(text(member.name, " is damaged: its checksum differs; write or download the file again"));
  return result;
}

}  // namespace retrace
