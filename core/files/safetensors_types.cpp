#include <retrace/core/files/half.h>
#include <retrace/core/files/safetensors_types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace retrace {
namespace {

// The upper half of a float.
float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
template <class Integer> std::int64_t from_integer(Integer number) { return number; }
std::int64_t from_bool(std::uint8_t truth) { return truth != 0; }

template <class Stored, auto value_of> void convert(const std::byte* from, std::size_t count, void* to) {
  auto* values = static_cast<decltype(value_of(Stored{}))*>(to);
  for (std::size_t k = 0; k < count; ++k) {
    Stored stored{};
    std::memcpy(&stored, from + k * sizeof stored, sizeof stored);
    values[k] = value_of(stored);
  }
}

constexpr std::array stored_types{
    StoredType{"F32", 4, f32},
    StoredType{"F64", 8, f64},
    StoredType{"F16", 2, f32, convert<std::uint16_t, from_half>},
    StoredType{"BF16", 2, f32, convert<std::uint16_t, from_bfloat16>},
    StoredType{"I64", 8, i64},
    StoredType{"I32", 4, i64, convert<std::int32_t, from_integer<std::int32_t>>},
    StoredType{"I16", 2, i64, convert<std::int16_t, from_integer<std::int16_t>>},
    StoredType{"I8", 1, i64, convert<std::int8_t, from_integer<std::int8_t>>},
    StoredType{"U32", 4, i64, convert<std::uint32_t, from_integer<std::uint32_t>>},
    StoredType{"U16", 2, i64, convert<std::uint16_t, from_integer<std::uint16_t>>},
    StoredType{"U8", 1, i64, convert<std::uint8_t, from_integer<std::uint8_t>>},
    StoredType{"BOOL", 1, i64, convert<std::uint8_t, from_bool>},
};

constexpr std::string_view other_names[] = {"U64", "F4", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F6_E2M3", "F6_E3M2", "C64"};

}  // namespace

bool is_type_name(std::string_view name) {
  return find_stored_type(name) != nullptr || std::ranges::find(other_names, name) != std::end(other_names);
}

const StoredType* find_stored_type(std::string_view name) {
  const auto found = std::ranges::find(stored_types, name, &StoredType::name);
  return found == stored_types.end() ? nullptr : &*found;
}

const StoredType& stored_type_of(Dtype dtype) {
  return *std::ranges::find_if(
      stored_types, [dtype](const StoredType& type) { return type.dtype == dtype && type.convert == nullptr; });
}

std::string stored_type_names() {
  std::string names;
  for (const StoredType& type : stored_types) {
    if (!names.empty()) names += &type == &stored_types.back() ? " and " : ", ";
    names += type.name;
  }
  return names;
}

}  // namespace retrace
