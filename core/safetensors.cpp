// The reading half; core/safetensors_write.cpp has the other.
#include <retrace/core/crc64.h>
#include <retrace/core/json.h>
#include <retrace/core/printable.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/safetensors_checksum.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>
#include <vector>

namespace retrace {
namespace {

static_assert(std::endian::native == std::endian::little, "the values in the file are little-endian");

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw FileError(
      text("read_safetensors: ", path, ": ", what, "; the file is damaged or of another format: write it anew"));
}

// A zip archive or a pickle. What it begins with, read as the length of a header, is longer than any file.
void refuse_torch_save(const std::string& path, std::string_view file) {
  const bool zip = file.starts_with("PK\3\4"), pickle = file[0] == '\x80' && file[1] >= 2 && file[1] <= 5;
  if (zip || pickle)
    throw FileError(text("read_safetensors: ", path,
                         ": the file is a zip archive or a pickle, as torch.save writes; in Python write "
                         "safetensors.torch.save_file(model.state_dict(), \"x.safetensors\"), and read that file with "
                         "load_pytorch"));
}

struct Entry {
  std::string name;
  Dtype dtype = f32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // in bytes, from the end of the header
};

// Parses the header event by event: rejects anything outside the format as soon as it appears, so that a header of
// nothing but brackets cannot fill the memory.
class HeaderReader final : public JsonEvents {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  void read(const std::string& header) {
    try {
      read_json(header, *this);
    } catch (const JsonError& error) {
      refuse(path_, text("byte ", error.position() + 1, " of the header is not JSON"));
    }
    if (!header.starts_with('{')) refuse(path_, "the header does not begin with {");
  }

  void start_object() override {
    if (place_ == Place::start)
      place_ = Place::names;
    else if (place_ == Place::names)
      place_ = name_ == "__metadata__" ? Place::metadata : Place::entry;
    else
      unexpected("an object");
    keys_.emplace_back();
  }
  void key(std::string key) override {
    if (!keys_.back().insert(key).second) refuse(path_, text("the header names ", printable(key), " twice"));
    (place_ == Place::names ? name_ : field_) = std::move(key);
  }
  void end_object() override {
    if (place_ == Place::entry) finish_entry();
    keys_.pop_back();
    place_ = place_ == Place::names ? Place::end : Place::names;
  }
  void start_array() override {
    if (place_ != Place::entry || (field_ != "shape" && field_ != "data_offsets")) unexpected("a list");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
  }
  void end_array() override { place_ = Place::entry; }
  void string(std::string value) override {
    if (place_ == Place::metadata)
      metadata[field_] = std::move(value);
    else if (place_ == Place::entry && field_ == "dtype")
      dtype_ = std::move(value);
    else
      unexpected("a string");
  }
  void unsigned_integer(std::uint64_t number) override {
    if (place_ == Place::offsets && offsets_.size() < 2)
      offsets_.push_back(number);
    else if (place_ == Place::shape)
      add_extent(number);
    else
      unexpected("a number");
  }
  void number(double number) override {
    unexpected(number < 0 ? "a negative number" : "a number that is not whole or too large");
  }
  void boolean(bool) override { unexpected("true or false"); }
  void null() override { unexpected("null"); }

 private:
  enum class Place { start, names, metadata, entry, shape, offsets, end };

  [[noreturn]] void unexpected(const char* what) const {
    if (place_ == Place::start) refuse(path_, text("the header is ", what, ", not an object"));
    refuse(path_, text("the entry ", printable(name_), " of the header has ", what, " in a wrong place"));
  }
  void add_extent(std::uint64_t extent) {
    if (extents_.size() == max_rank)
      refuse(path_, text("tensor ", printable(name_), " has more than ", max_rank, " axes"));
    if (extent > static_cast<std::uint64_t>(max_elements))
      refuse(path_, text("tensor ", printable(name_), " has an axis of ", extent, " elements"));
    extents_.push_back(static_cast<std::int64_t>(extent));
  }
  void finish_entry() {
    if (keys_.back().size() != 3 || offsets_.size() != 2)  // any other key was refused with its value
      refuse(path_, text("tensor ", printable(name_), " lacks dtype, shape or data_offsets"));
    const Entry entry{name_, dtype(), Shape{std::span<const std::int64_t>(extents_)}, offsets_[0], offsets_[1]};
    const bool countable = entry.shape.numel() <= max_elements && entry.begin <= entry.end;
    if (!countable || entry.end - entry.begin != static_cast<std::uint64_t>(entry.shape.numel()) * size_of(entry.dtype))
      refuse(path_, text("tensor ", printable(name_), entry.shape, " does not fill the bytes ", entry.begin, " to ",
                         entry.end));
    entries.push_back(entry);
    extents_.clear();
    offsets_.clear();
  }
  Dtype dtype() const {
    if (dtype_ == "F32") return f32;
    if (dtype_ == "F64") return f64;
    if (dtype_ == "I64") return i64;
    throw FileError(text("read_safetensors: ", path_, ": tensor ", printable(name_), " is ", printable(dtype_),
                         ", and only F32, F64 and I64 are read; convert it where it was written"));
  }

  const std::string& path_;
  Place place_ = Place::start;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  std::string name_, field_, dtype_;
  std::vector<std::int64_t> extents_;
  std::vector<std::uint64_t> offsets_;
};

// The tensors follow each other from the first byte of the data to the last. Sorts them so.
void check_offsets(const std::string& path, std::vector<Entry>& entries, std::uint64_t data) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t offset = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != offset)
      refuse(path, text("tensor ", printable(entry.name), " begins at byte ", entry.begin,
                        ", and what is before it ends at ", offset));
    offset = entry.end;
  }
  if (offset != data) refuse(path, text("the tensors take ", offset, " bytes, and ", data, " are there"));
}

void read_bytes(std::ifstream& file, const std::string& path, void* to, std::uint64_t count) {
  errno = 0;
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
  if (!file)
    throw FileError(text("read_safetensors: ", path, ": cannot be read: ",
                         errno == 0 ? "it became shorter meanwhile" : std::strerror(errno), "; try again"));
}

// Accepts a mark with a few damaged bytes, so that damage there is reported too. With more, the header is not JSON.
bool is_marked(std::string_view file) {
  constexpr std::size_t damaged_bytes = 4;
  std::size_t equal = 0;
  for (std::size_t k = 0; k < checksum_mark.size(); ++k) equal += file[sizeof(std::uint64_t) + k] == checksum_mark[k];
  return equal + damaged_bytes >= checksum_mark.size();
}

// Reads the whole file before it is parsed, so that damage is reported as damage wherever it is. Returns whether the
// file has a checksum: files of other programs have none.
bool check_checksum(std::ifstream& file, const std::string& path, std::uint64_t size) {
  constexpr std::uint64_t digits_at = sizeof(std::uint64_t) + checksum_mark.size(), portion = 1 << 16;
  if (size < digits_at + blank_digits.size()) return false;
  std::string bytes(std::min(size, portion), '\0');
  read_bytes(file, path, bytes.data(), bytes.size());
  const bool marked = is_marked(bytes);
  if (marked) {
    const std::string digits = bytes.substr(digits_at, blank_digits.size());
    bytes.replace(digits_at, blank_digits.size(), blank_digits);
    Crc64 checksum;
    checksum.add(bytes.data(), bytes.size());
    for (std::uint64_t left = size - bytes.size(); left > 0; left -= bytes.size()) {
      bytes.resize(std::min(left, portion));
      read_bytes(file, path, bytes.data(), bytes.size());
      checksum.add(bytes.data(), bytes.size());
    }
    if (digits != checksum_digits(checksum.value()))
      throw FileError(text("read_safetensors: ", path,
                           ": the file is damaged: its bytes are not those of its checksum; write it anew (and leave "
                           "the entry ",
                           checksum_key, " of the metadata out if another program changed the file)"));
  }
  file.seekg(0);
  return marked;
}

// Reports a shape that no tensor may have, or a lack of memory, as an error in reading the file.
Tensor empty_for(const std::string& path, const Entry& entry) {
  try {
    return empty(entry.shape, entry.dtype, "");
  } catch (const Error& error) {
    throw FileError(text("read_safetensors: ", path, ": tensor ", printable(entry.name), error.what()));
  }
}

Tensor read_tensor(std::ifstream& file, const std::string& path, const Entry& entry) {
  Tensor result = empty_for(path, entry);
  dispatch_any(entry.dtype, [&](auto zero) {
    read_bytes(file, path, result.mutable_values<decltype(zero)>().data(), entry.end - entry.begin);
  });
  return result;
}

}  // namespace

SafetensorsFile read_safetensors(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  if (failure) throw FileError(text("read_safetensors: ", path, ": ", failure.message(), "; check the path"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(text("read_safetensors: ", path, ": ", std::strerror(errno), "; check the permissions"));
  if (size < 8) refuse(path, text("it has ", size, " bytes, and the length of the header alone takes 8"));
  const bool checked = check_checksum(file, path, size);
  std::uint64_t length = 0;
  read_bytes(file, path, &length, sizeof length);
  if (length > size - 8) {
    refuse_torch_save(path, {reinterpret_cast<const char*>(&length), sizeof length});
    refuse(path, text("a header of ", length, " bytes is more than the file holds"));
  }
  std::string header(length, '\0');
  read_bytes(file, path, header.data(), length);

  HeaderReader reader(path);
  reader.read(header);
  if (reader.metadata.erase(checksum_key) > 0 && !checked)
    refuse(path, text("the entry ", checksum_key, " of the metadata is not at its beginning"));
  check_offsets(path, reader.entries, size - 8 - length);
  SafetensorsFile result;
  result.metadata = std::move(reader.metadata);
  for (const Entry& entry : reader.entries) result.tensors[entry.name] = read_tensor(file, path, entry);
  return result;
}

}  // namespace retrace
