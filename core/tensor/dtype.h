// The element types of a tensor. The type is a run-time value: an op dispatches once, on raw pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include <retrace/core/base/error.h>
#include <retrace/core/tensor/dual.h>

namespace retrace {

/// f32 trains, f64 checks, i64 indexes; dual is f64 with a tangent (core/tensor/dual.h).
enum class Dtype : std::uint8_t { f32, f64, i64, dual };
inline constexpr Dtype f32 = Dtype::f32;
inline constexpr Dtype f64 = Dtype::f64;
inline constexpr Dtype i64 = Dtype::i64;
inline constexpr Dtype dual = Dtype::dual;

/// "f32", "f64", "i64" or "dual".
const char* name_of(Dtype dtype);
inline std::string to_text(Dtype dtype) { return name_of(dtype); }
std::ostream& operator<<(std::ostream& out, Dtype dtype);

/// Bytes of one element.
constexpr std::size_t size_of(Dtype dtype) { return dtype == f32 ? 4 : dtype == dual ? 16 : 8; }

template <class T> struct DtypeOf;
template <> struct DtypeOf<float> { static constexpr Dtype value = f32; };
template <> struct DtypeOf<double> { static constexpr Dtype value = f64; };
template <> struct DtypeOf<std::int64_t> { static constexpr Dtype value = i64; };
template <> struct DtypeOf<Dual> { static constexpr Dtype value = dual; };
/// The Dtype of the C++ type T.
template <class T> inline constexpr Dtype dtype_of = DtypeOf<T>::value;

/// The type that tensors get when none is asked for: f32, unless a DtypeScope says otherwise.
Dtype default_dtype();

/// Changes the default type of this thread until the end of the block.
class DtypeScope {
 public:
  explicit DtypeScope(Dtype dtype);
  ~DtypeScope();
  DtypeScope(const DtypeScope&) = delete;
  DtypeScope& operator=(const DtypeScope&) = delete;

 private:
  Dtype outer_;
};

/// Throws the DtypeError of a function that computes with real numbers alone.
[[noreturn]] void throw_not_real(Dtype dtype, const char* function);

/// Calls body(T{}) with the C++ type of a real dtype. i64 throws a DtypeError that names the function.
template <class Body> inline decltype(auto) dispatch_real(Dtype dtype, const char* function, Body&& body) {
  switch (dtype) {
    case Dtype::f32:
      return body(float{});
    case Dtype::f64:
      return body(double{});
    case Dtype::dual:
      return body(Dual{});
    case Dtype::i64:
      break;
  }
  throw_not_real(dtype, function);
}

/// Calls body(T{}) with the C++ type of any dtype.
template <class Body> inline decltype(auto) dispatch_any(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::f32:
      return body(float{});
    case Dtype::f64:
      return body(double{});
    case Dtype::i64:
      return body(std::int64_t{});
    case Dtype::dual:
      break;
  }
  return body(Dual{});
}

}  // namespace retrace
