// The functions of numbers, which formulas call by the same name for floats, doubles and dual numbers.
#pragma once

#include <cmath>

#include <retrace/core/tensor/dual.h>

namespace retrace {

using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::erf, std::erfc, std::exp, std::expm1,
    std::isfinite, std::isinf, std::isnan, std::log, std::log1p, std::pow, std::sin, std::sqrt, std::tanh;

inline Dual asin(Dual a) { return chain(std::asin(a.value), 1 / std::sqrt((1 - a.value) * (1 + a.value)), a.tangent); }
inline Dual acos(Dual a) { return chain(std::acos(a.value), -1 / std::sqrt((1 - a.value) * (1 + a.value)), a.tangent); }
inline Dual atan(Dual a) { return chain(std::atan(a.value), 1 / (1 + a.value * a.value), a.tangent); }

}  // namespace retrace
