// A number as an argument: an integer stays exact, where a double would round it.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <retrace/core/base/error.h>

namespace retrace {

/// Any arithmetic value, converted to it implicitly: full({2}, 7, i64), where(mask, x, 0.5).
class Scalar {
 public:
  template <class Value>
  requires std::is_arithmetic_v<Value>
  constexpr Scalar(Value value) : real_(static_cast<double>(value)) {
    if constexpr (std::is_floating_point_v<Value>) {
      constexpr double limit = 0x1p63;
      if (real_ >= -limit && real_ < limit) integer_ = static_cast<std::int64_t>(real_);
      is_i64_ = real_ >= -limit && real_ < limit && static_cast<double>(integer_) == real_;
    } else {
      using Wide = std::conditional_t<std::is_signed_v<Value>, std::int64_t, std::uint64_t>;
      is_i64_ = std::in_range<std::int64_t>(static_cast<Wide>(value));
      integer_ = static_cast<std::int64_t>(value);
    }
  }

  /// Whether it is an integer in the range of i64.
  constexpr bool is_i64() const { return is_i64_; }
  constexpr double real() const { return real_; }
  /// The number as a T, rounded once; of i64, only a number that is_i64().
  template <class T> constexpr T as() const {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return integer_;
    else if constexpr (std::is_floating_point_v<T>)
      return is_i64_ && integer_ != 0 ? static_cast<T>(integer_) : static_cast<T>(real_);  // -0 stays
    else
      return T(real_);
  }

 private:
  double real_;
  std::int64_t integer_ = 0;
  bool is_i64_ = false;
};

/// The text of the number that it holds.
inline std::string to_text(const Scalar& number) {
  return number.is_i64() ? to_text(static_cast<long long>(number.as<std::int64_t>())) : to_text(number.real());
}

}  // namespace retrace
