// The reading half; core/files/safetensors_write.cpp has the other.
#include <retrace/core/base/printable.h>
#include <retrace/core/files/crc64.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/core/files/safetensors_checksum.h>
#include <retrace/core/files/safetensors_header.h>
#include <retrace/core/files/safetensors_index.h>
#include <retrace/core/tensor/op_access.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace retrace {
namespace {

static_assert(std::endian::native == std::endian::little, "the values in the file are little-endian");

// A zip archive or a pickle. What it begins with, read as the length of a header, is longer than any file.
void refuse_torch_save(const std::string& path, std::string_view file) {
  const bool zip = file.starts_with("PK\3\4"), pickle = file[0] == '\x80' && file[1] >= 2 && file[1] <= 5;
  if (zip || pickle)
    throw FileError(text("read_safetensors: ", path,
                         ": the file is a zip archive or a pickle, as torch.save writes; in Python write "
                         "safetensors.torch.save_file(model.state_dict(), \"x.safetensors\"), and read that file with "
                         "load_pytorch"));
}

void read_bytes(std::ifstream& file, const std::string& path, void* to, std::uint64_t count) {
  errno = 0;
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
  if (!file)
    throw FileError(text("read_safetensors: ", path, ": cannot be read: ",
                         errno == 0 ? "it became shorter meanwhile" : std::strerror(errno), "; try again"));
}

// The header's text. Its length is compared with the file's and with the limit before any of it is read.
std::string read_header_text(std::ifstream& file, const std::string& path, std::uint64_t size) {
  std::uint64_t length = 0;
  if (size < sizeof length)
    refuse_safetensors(path, text("it has ", size, " bytes, and the length of the header alone takes 8"));
  read_bytes(file, path, &length, sizeof length);
  if (length > size - sizeof length) {
    refuse_torch_save(path, {reinterpret_cast<const char*>(&length), sizeof length});
    refuse_safetensors(path, text("a header of ", length, " bytes is more than the file holds"));
  }
  if (length > max_safetensors_header)
    refuse_safetensors(
        path, text("a header of ", length, " bytes is more than the format's limit of ", max_safetensors_header));
  std::string header(length, '\0');
  read_bytes(file, path, header.data(), length);
  return header;
}

// Reports a shape that no tensor may have, or a lack of memory, as an error in reading the file.
Tensor empty_for(const std::string& path, const SafetensorsEntry& entry) {
  try {
    return empty(entry.shape, entry.type->dtype, "");
  } catch (const Error& error) {
    throw FileError(text("read_safetensors: ", path, ": tensor ", printable(entry.name), error.what()));
  }
}

// Adds the bytes of the file to the checksum.
Tensor read_tensor(std::ifstream& file, const std::string& path, const SafetensorsEntry& entry, Crc64& checksum) {
  constexpr std::size_t portion = 1 << 16;  // elements
  Tensor result = empty_for(path, entry);
  const StoredType& type = *entry.type;
  const auto count = static_cast<std::size_t>(result.numel());
  std::vector<std::byte> stored(type.convert == nullptr ? 0 : std::min(count, portion) * type.size);
  dispatch_any(type.dtype, [&](auto zero) {
    auto* values = OpAccess::values<decltype(zero)>(result);
    for (std::size_t done = 0; done < count;) {
      const std::size_t now = std::min(count - done, portion);
      void* bytes = type.convert == nullptr ? static_cast<void*>(values + done) : stored.data();
      read_bytes(file, path, bytes, now * type.size);
      checksum.add(bytes, now * type.size);
      if (type.convert != nullptr) type.convert(stored.data(), now, values + done);
      done += now;
    }
  });
  return result;
}

[[noreturn]] void refuse_damage(const std::string& path, const char* key) {
  throw FileError(text("read_safetensors: ", path,
                       ": the file is damaged: its tensors and metadata are not those of its checksum; write it anew "
                       "(and leave the entry ",
                       key, " of the metadata out if another program changed them)"));
}

// The checksum of version 0.2. A file that another program wrote again keeps its entry, but not its place: its bytes
// cannot be checked.
void check_bytes(std::ifstream& file, const std::string& path, std::uint64_t size, const std::string& header) {
  using namespace checksum_of_bytes;
  constexpr std::uint64_t portion = 1 << 16;
  if (!header.starts_with(mark)) return;
  Crc64 checksum;
  file.seekg(0);
  for (std::uint64_t done = 0; done < size; done += portion) {
    std::string bytes(std::min(size - done, portion), '\0');
    read_bytes(file, path, bytes.data(), bytes.size());
    if (done == 0) bytes.replace(sizeof(std::uint64_t) + mark.size(), blank_digits.size(), blank_digits);
    checksum.add(bytes.data(), bytes.size());
  }
  if (header.substr(mark.size(), blank_digits.size()) != checksum_digits(checksum.value())) refuse_damage(path, key);
}

// Takes the checksum out of the metadata and compares it. Files of other programs have none.
void check_contents(const std::string& path, std::map<std::string, std::string>& metadata,
                    const TensorDigests& tensors) {
  const auto checksum = metadata.extract(checksum_key);
  for (const auto& entry : metadata)
    if (resembles_checksum_key(entry.first)) refuse_damage(path, checksum_key);
  if (!checksum.empty() && checksum.mapped() != checksum_of(metadata, tensors)) refuse_damage(path, checksum_key);
}

SafetensorsFile read_one(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  if (failure) throw FileError(text("read_safetensors: ", path, ": ", failure.message(), "; check the path"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(text("read_safetensors: ", path, ": ", std::strerror(errno), "; check the permissions"));
  const std::string header_text = read_header_text(file, path, size);
  SafetensorsHeader header = read_safetensors_header(path, header_text, size - sizeof size - header_text.size());

  SafetensorsFile result;
  TensorDigests digests;
  for (const SafetensorsEntry& entry : header.entries) {
    Crc64 checksum;
    result.tensors[entry.name] = read_tensor(file, path, entry, checksum);
    digests[entry.name] = {entry.type->name, entry.shape, checksum.value()};
  }
  if (header.metadata.erase(checksum_of_bytes::key) > 0) check_bytes(file, path, size, header_text);
  check_contents(path, header.metadata, digests);
  result.metadata = std::move(header.metadata);
  return result;
}

void check_names(const std::string& index, const std::string& file, const std::set<std::string>& names,
                 const std::map<std::string, Tensor>& tensors) {
  for (const std::string& name : names)
    if (!tensors.contains(name)) refuse_safetensors_index(index, text(file, " lacks its tensor ", printable(name)));
  for (const auto& entry : tensors)
    if (!names.contains(entry.first))
      refuse_safetensors_index(index, text("it does not have the tensor ", printable(entry.first), " of ", file));
}

SafetensorsFile read_several(const std::string& index) {
  SafetensorsFile result;
  for (const auto& [file, names] : read_safetensors_index(index)) {
    if (!std::filesystem::exists(file)) refuse_safetensors_index(index, text("its file ", file, " is missing"));
    SafetensorsFile part = read_one(file);
    check_names(index, file, names, part.tensors);
    result.tensors.merge(part.tensors);
    result.metadata.merge(part.metadata);
  }
  return result;
}

}  // namespace

SafetensorsFile read_safetensors(const std::string& path) {
  return is_safetensors_index(path) ? read_several(path) : read_one(path);
}

}  // namespace retrace
