#include <retrace/core/base/error.h>
#include <retrace/core/files/half.h>
#include <retrace/models/data/npy_values.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace retrace {
namespace {

static_assert(std::endian::native == std::endian::little, "a value is swapped if its highest byte comes first");

/// A float of 2 bytes (IEEE 754 binary16).
struct Half {
  std::uint16_t bits;
  explicit operator float() const { return from_half(bits); }
};

/// A truth, in a byte.
struct Truth {
  std::uint8_t bits;
  explicit operator std::int64_t() const { return bits != 0 ? 1 : 0; }
};

template <class Stored> Stored value_in(const char* bytes, bool swapped) {
  std::array<char, sizeof(Stored)> own;
  std::copy_n(bytes, own.size(), own.begin());
  if (swapped) std::ranges::reverse(own);
  return std::bit_cast<Stored>(own);
}

template <class Stored, class T>
void convert(std::string_view bytes, bool swapped, NpyPlaces& places, const Tensor& to, const std::string& who) {
  const auto values = to.mutable_values<T>();
  for (; !bytes.empty(); bytes.remove_prefix(sizeof(Stored))) {
    const auto value = value_in<Stored>(bytes.data(), swapped);
    if constexpr (std::is_same_v<Stored, std::uint64_t>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw FileError(text(who, ": the value ", value, " is above 2^63 - 1; convert the array with astype"));
    values[places.next()] = static_cast<T>(value);
  }
}

template <class Stored, class T> constexpr NpyType type(std::string_view name, Dtype dtype) {
  return {name, sizeof(Stored), dtype, convert<Stored, T>};
}

constexpr std::array types{type<Half, float>("f2", f32),
                           type<float, float>("f4", f32),
                           type<double, double>("f8", f64),
                           type<Truth, std::int64_t>("b1", i64),
                           type<std::int8_t, std::int64_t>("i1", i64),
                           type<std::int16_t, std::int64_t>("i2", i64),
                           type<std::int32_t, std::int64_t>("i4", i64),
                           type<std::int64_t, std::int64_t>("i8", i64),
                           type<std::uint8_t, std::int64_t>("u1", i64),
                           type<std::uint16_t, std::int64_t>("u2", i64),
                           type<std::uint32_t, std::int64_t>("u4", i64),
                           type<std::uint64_t, std::int64_t>("u8", i64)};

/// How a NumPy user converts values of a kind that is not read; the first letter of the type names the kind.
const char* remedy(char kind) {
  if (kind == 'U' || kind == 'S') return "number the words by numpy.unique(words, return_inverse=True)[1]";
  if (kind == 'O') return "save one array of numbers, padded where lengths differ, or convert it with astype(float)";
  return "convert them with astype(float)";
}

}  // namespace

NpyPlaces::NpyPlaces(const Shape& shape, bool fortran_order) {
  std::int64_t stride = 1;
  for (int axis = shape.rank(); axis-- > 0; stride *= shape[axis]) axes_.push_back({shape[axis], stride});
  if (fortran_order) std::ranges::reverse(axes_);
}

std::size_t NpyPlaces::next() {
  const std::int64_t result = place_;
  for (Axis& axis : axes_) {
    place_ += axis.stride;
    if (++axis.at < axis.extent) break;
    place_ -= axis.extent * axis.stride;
    axis.at = 0;
  }
  return static_cast<std::size_t>(result);
}

const NpyType& npy_type(std::string_view descr, const std::string& who) {
  const std::string_view name = descr.substr(std::min<std::size_t>(1, descr.size()));
  const auto found = std::ranges::find(types, name, &NpyType::name);
  if (found != types.end() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) return *found;
  throw FileError(text(who, ": the values are '", descr,
                       "', and only integers, truths and floats of up to 8 bytes are ", "read; ",
                       remedy(name.empty() ? ' ' : name.front())));
}

}  // namespace retrace
