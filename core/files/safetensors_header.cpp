// Reads the header of a safetensors file.
#include <retrace/core/base/printable.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/safetensors_header.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace retrace {
namespace {

// A name of the file, cut where it is long.
std::string shown(const std::string& name) {
  constexpr std::size_t longest = 200;
  return printable(name.size() <= longest ? name : name.substr(0, longest) + "...");
}

// Parses the header event by event: rejects anything outside the format as soon as it appears, so that a header of
// nothing but brackets cannot fill the memory.
class HeaderReader final : public JsonEvents {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  SafetensorsHeader result;

  void read(const std::string& header) {
    try {
      read_json(header, *this);
    } catch (const JsonError& error) {
      refuse_safetensors(path_, text("byte ", error.position() + 1, " of the header is not JSON"));
    }
    if (!header.starts_with('{')) refuse_safetensors(path_, "the header does not begin with {");
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
    if (!keys_.back().insert(key).second) refuse_safetensors(path_, text("the header names ", shown(key), " twice"));
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
      result.metadata[field_] = std::move(value);
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
    if (place_ == Place::start) refuse_safetensors(path_, text("the header is ", what, ", not an object"));
    refuse_safetensors(path_, text("the entry ", shown(name_), " of the header has ", what, " in a wrong place"));
  }
  void add_extent(std::uint64_t extent) {
    if (extents_.size() == max_rank)
      refuse_safetensors(path_, text("tensor ", shown(name_), " has more than ", max_rank, " axes"));
    if (extent > static_cast<std::uint64_t>(max_elements))
      refuse_safetensors(path_, text("tensor ", shown(name_), " has an axis of ", extent, " elements"));
    extents_.push_back(static_cast<std::int64_t>(extent));
  }
  void finish_entry() {
    if (keys_.back().size() != 3 || offsets_.size() != 2)  // any other key was refused with its value
      refuse_safetensors(path_, text("tensor ", shown(name_), " lacks dtype, shape or data_offsets"));
    const SafetensorsEntry entry{name_, type(), Shape{std::span<const std::int64_t>(extents_)}, offsets_[0],
                                 offsets_[1]};
    const bool countable = entry.shape.numel() <= max_elements && entry.begin <= entry.end;
    if (!countable || entry.end - entry.begin != static_cast<std::uint64_t>(entry.shape.numel()) * entry.type->size)
      refuse_safetensors(path_, text("tensor ", shown(name_), entry.shape, " does not fill the bytes ", entry.begin,
                                     " to ", entry.end));
    result.entries.push_back(entry);
    extents_.clear();
    offsets_.clear();
  }
  const StoredType* type() const {
    if (const StoredType* type = find_stored_type(dtype_)) return type;
    if (!is_type_name(dtype_))
      refuse_safetensors(path_, text("tensor ", shown(name_), " is of no type of the format: ", shown(dtype_)));
    throw FileError(text("read_safetensors: ", path_, ": tensor ", shown(name_), " is ", shown(dtype_), ", and only ",
                         stored_type_names(), " are read; convert it where it was written"));
  }

  const std::string& path_;
  Place place_ = Place::start;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  std::string name_, field_, dtype_;
  std::vector<std::int64_t> extents_;
  std::vector<std::uint64_t> offsets_;
};

// The tensors follow each other from the first byte of the data to the last. Sorts them so.
void check_offsets(const std::string& path, std::vector<SafetensorsEntry>& entries, std::uint64_t data) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t offset = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != offset)
      refuse_safetensors(path, text("tensor ", shown(entry.name), " begins at byte ", entry.begin,
                                    ", and what is before it ends at ", offset));
    offset = entry.end;
  }
  if (offset != data) refuse_safetensors(path, text("the tensors take ", offset, " bytes, and ", data, " are there"));
}

}  // namespace

void refuse_safetensors(const std::string& path, const std::string& what) {
  throw FileError(
      text("read_safetensors: ", path, ": ", what, "; the file is damaged or of another format: write it anew"));
}

SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& header, std::uint64_t data) {
  HeaderReader reader(path);
  reader.read(header);
  check_offsets(path, reader.result.entries, data);
  return std::move(reader.result);
}

}  // namespace retrace
