#include <retrace/core/base/error.h>
#include <retrace/models/data/idx.h>
#include <retrace/models/data/inflate.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

/// The unsigned number in the bytes of a T, the highest first.
template <class Unsigned> Unsigned number_in(const char* bytes) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) result = result << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<Unsigned>(result);
}

/// Writes values of type Stored, read as the bits of an Unsigned, into a tensor.
template <class Stored, class Unsigned> void read_values(std::string_view bytes, const Tensor& to) {
  dispatch_any(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const char* next = bytes.data();
    for (T& value : to.mutable_values<T>()) {
      value = static_cast<T>(std::bit_cast<Stored>(number_in<Unsigned>(next)));
      next += sizeof(Stored);
    }
  });
}

/// A type of values, as the third byte of a file names it.
struct StoredType {
  unsigned char code;
  std::size_t bytes;
  Dtype dtype;
  void (*read)(std::string_view, const Tensor&);
};
const StoredType stored_types[] = {
    {0x08, 1, i64, read_values<std::uint8_t, std::uint8_t>},  {0x09, 1, i64, read_values<std::int8_t, std::uint8_t>},
    {0x0b, 2, i64, read_values<std::int16_t, std::uint16_t>}, {0x0c, 4, i64, read_values<std::int32_t, std::uint32_t>},
    {0x0d, 4, f32, read_values<float, std::uint32_t>},        {0x0e, 8, f64, read_values<double, std::uint64_t>},
};

const StoredType* type_of(unsigned char code) {
  for (const StoredType& type : stored_types)
    if (type.code == code) return &type;
  return nullptr;
}

/// Whether an array of such values has that number of bytes. The product cannot overflow.
bool fills(const std::vector<std::int64_t>& extents, std::size_t value_bytes, std::uint64_t bytes) {
  if (std::ranges::find(extents, 0) != extents.end()) return bytes == 0;
  std::uint64_t left = bytes / value_bytes;
  bool even = bytes % value_bytes == 0;
  for (const std::int64_t extent : extents) {
    even = even && left % static_cast<std::uint64_t>(extent) == 0;
    left /= static_cast<std::uint64_t>(extent);
  }
  return even && left == 1;
}

void check_dtype(const std::string& who, const StoredType& type, Dtype wanted) {
  if (wanted == dual) throw DtypeError(text(who, ": dual numbers are not read from files; ask for f64"));
  if (wanted == i64 && type.dtype != i64)
    throw DtypeError(text(who, ": its values are floats; ask for f32 or f64, and round them where they are integers"));
}

}  // namespace

Tensor read_idx(const std::string& path, std::optional<Dtype> dtype) {
  const std::string who = text("read_idx: ", path);
  const auto refuse = [&who](const std::string& what) {
    throw FileError(text(who, ": ", what, "; the file is damaged or of another format: download it again"));
  };
  const std::string bytes = read_plain_or_gzip(path, who);
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) refuse("it does not begin as an IDX file");
  const StoredType* type = type_of(static_cast<unsigned char>(bytes[2]));
  if (type == nullptr) refuse(text("there is no type of values ", int{static_cast<unsigned char>(bytes[2])}));
  const std::size_t axes = static_cast<unsigned char>(bytes[3]), begin = 4 + 4 * axes;
  if (axes > max_rank) refuse(text("it has ", axes, " axes, and a tensor at most ", max_rank));
  if (bytes.size() < begin) refuse("it ends within the extents of its axes");
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < axes; ++axis)
    extents.push_back(number_in<std::uint32_t>(bytes.data() + 4 + 4 * axis));
  const std::uint64_t left = bytes.size() - begin;
  if (!fills(extents, type->bytes, left))
    refuse(
        text("values of ", type->bytes, " bytes in ", axes, " axes do not fill the ", left, " bytes after the header"));
  const Dtype wanted = dtype.value_or(type->dtype);
  check_dtype(who, *type, wanted);
  const Tensor result = empty(Shape{std::span<const std::int64_t>(extents)}, wanted);
  type->read(std::string_view(bytes).substr(begin), result);
  return result;
}

}  // namespace retrace
