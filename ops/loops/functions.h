// The functions of numbers, which formulas call by the same name for floats, doubles and dual numbers.
#pragma once

#include <cmath>

#include <retrace/core/tensor/dual.h>

namespace retrace {

using std::abs, std::cos, std::erf, std::erfc, std::exp, std::expm1, std::isfinite, std::isinf, std::isnan, std::log,
    std::log1p, std::pow, std::sin, std::sqrt, std::tanh;

}  // namespace retrace
