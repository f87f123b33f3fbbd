#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/data/npy_format.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/data/zip.h>
#include <retrace/models/formats/nearest_name.h>

#include <limits>
#include <vector>

namespace retrace {
namespace {

constexpr std::string_view suffix = ".npy";

std::string array_name(const ZipMember& member) {
  const std::string& name = member.name;
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

/// The members by the names of their arrays. Throws FileError if two have the same one.
std::map<std::string, const ZipMember*> arrays_in(const ZipReader& archive, const std::string& who) {
  std::map<std::string, const ZipMember*> arrays;
  for (const ZipMember& member : archive.members())
    if (!arrays.emplace(array_name(member), &member).second)
      throw FileError(text(who, ": two arrays are named '", printable(array_name(member)), "'; rename one"));
  return arrays;
}

Tensor read_array(ZipReader& archive, const ZipMember& member, const std::string& who) {
  return read_npy_array(archive.read(member), text(who, ": ", member.name));
}

/// A number of `count` bytes, the lowest first.
std::string low_first(std::uint64_t number, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += static_cast<char>(number >> (8 * i) & 0xff);
  return result;
}

/// The fields that a member's header shares with its entry in the list: no flags, stored, 1 January 1980.
std::string description(const std::string& name, std::uint32_t crc, std::uint64_t size) {
  return low_first(20, 2) + low_first(0, 2) + low_first(0, 2) + low_first(0, 2) + low_first(0x21, 2) +
         low_first(crc, 4) + low_first(size, 4) + low_first(size, 4) + low_first(name.size(), 2) + low_first(0, 2);
}

std::string_view bytes_of(const Tensor& x) {
  std::string_view bytes;
  dispatch_any(x.dtype(), [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    bytes = {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  });
  return bytes;
}

}  // namespace

std::map<std::string, Tensor> read_npz(const std::string& path) {
  const std::string who = text("read_npz: ", path);
  ZipReader archive(path, who);
  std::map<std::string, Tensor> arrays;
  for (const auto& [name, member] : arrays_in(archive, who)) arrays.emplace(name, read_array(archive, *member, who));
  return arrays;
}

Tensor read_npz(const std::string& path, std::string_view name) {
  const std::string who = text("read_npz: ", path);
  ZipReader archive(path, who);
  const std::map<std::string, const ZipMember*> arrays = arrays_in(archive, who);
  if (const auto found = arrays.find(std::string(name)); found != arrays.end())
    return read_array(archive, *found->second, who);
  std::vector<std::string_view> known;
  for (const auto& each : arrays) known.push_back(each.first);
  throw ValueError(unknown_name(who, "array", name, known));
}

void write_npz(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  const std::string who = text("write_npz: ", path);
  std::uint64_t offset = 0, total = 0;
  for (const auto& [name, x] : arrays) {
    if (name.empty()) throw ValueError(text(who, ": an array has no name; give it one"));
    total += npy_header(x, text(who, ": ", name)).size() + bytes_of(x).size() + 2 * name.size() + 128;
  }
  if (total > std::numeric_limits<std::uint32_t>::max() || arrays.size() > 65534)
    throw ValueError(text(who, ": archives of more than 4 GiB are not written; write the arrays with write_npy"));
  ReplacementFile file("write_npz", path);
  std::string list;
  for (const auto& [name, x] : arrays) {
    const std::string member = name + std::string(suffix), header = npy_header(x, who);
    const std::string_view values = bytes_of(x);
    const std::string shared = description(member, crc32_of(values, crc32_of(header)), header.size() + values.size());
    const std::string start = "PK\x03\x04" + shared + member;
    list += "PK\x01\x02" + low_first(20, 2) + shared + std::string(10, '\0') + low_first(offset, 4) + member;
    file.write(start.data(), start.size());
    file.write(header.data(), header.size());
    file.write(values.data(), values.size());
    offset += start.size() + header.size() + values.size();
  }
  const std::string end = "PK\x05\x06" + low_first(0, 4) + low_first(arrays.size(), 2) + low_first(arrays.size(), 2) +
                          low_first(list.size(), 4) + low_first(offset, 4) + low_first(0, 2);
  file.write(list.data(), list.size());
  file.write(end.data(), end.size());
  file.put_into_place();
}

}  // namespace retrace
