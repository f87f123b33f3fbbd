#include <retrace/nn/layers/positions.h>

#include <array>
#include <cmath>

namespace retrace {
namespace {

// Constants beside dual numbers stay f64.
Dtype dtype_of_constants(const Tensor& x) { return x.dtype() == f32 ? f32 : f64; }

void check_positions(const char* function, const Tensor& x) {
  check_defined(function, x, "x");
  if (x.rank() < 2) throw ShapeError(text(function, ": x", x.shape(), " must be [..., time, features]; reshape it"));
}

void check_extents(std::int64_t length, std::int64_t size, std::int64_t first) {
  if (length < 0 || size < 0 || first < 0)
    throw ShapeError(text("sinusoidal_positions: [", length, ", ", size, "] from position ", first,
                          "; extents and positions are 0 or more"));
}

}  // namespace

Tensor LearnedPositions::operator()(const Tensor& x, std::int64_t first) const {
  const Scope scope(this, "learned_positions");
  check_positions("LearnedPositions", x);
  const std::int64_t time = x.dim(-2), longest = weight.dim(0);
  if (x.dim(-1) != weight.dim(1))
    throw ShapeError(text("LearnedPositions: x", x.shape(), " must be [..., time, ", weight.dim(1), "]; reshape it"));
  if (first < 0 || first > longest - time)
    throw IndexError(text("LearnedPositions: x", x.shape(), " has ", time, " steps from position ", first, " on, but ",
                          longest, " positions were learned; take a larger `longest`"));
  return x + slice(weight, {range(first, first + time)});
}

Tensor sinusoidal_positions(std::int64_t length, std::int64_t size, std::int64_t first, Dtype dtype) {
  check_extents(length, size, first);
  if (dtype == i64) throw DtypeError("sinusoidal_positions: positions are fractions; take f32 or f64 and not i64");
  Tensor positions = empty({length, size}, f64);
  positions.update<double>([=](std::span<double> values) {
    auto next = values.begin();
    for (std::int64_t t = first; t < first + length; ++t)
      for (std::int64_t f = 0; f < size; ++f) {
        const double exponent = static_cast<double>(f - f % 2) / static_cast<double>(size);
        const double angle = static_cast<double>(t) / std::pow(10000.0, exponent);
        *next++ = f % 2 == 0 ? std::sin(angle) : std::cos(angle);
      }
  });
  return positions.to(dtype);
}

Tensor SinusoidalPositions::operator()(const Tensor& x, std::int64_t first) const {
  const Scope scope(this, "sinusoidal_positions");
  check_positions("SinusoidalPositions", x);
  return x + sinusoidal_positions(x.dim(-2), x.dim(-1), first, dtype_of_constants(x));
}

Tensor alibi_slopes(int heads, Dtype dtype) {
  if (heads < 1) throw ValueError(text("alibi_slopes: ", heads, " heads; at least one is needed"));
  int power = 1;
  while (2 * power <= heads) power *= 2;
  Tensor slopes = empty({heads}, f64);
  slopes.update<double>([=](std::span<double> values) {
    auto next = values.begin();
    for (int h = 1; h <= power; ++h) *next++ = std::exp2(-8.0 * h / power);
    for (int h = 0; h < heads - power; ++h) *next++ = std::exp2(-8.0 * (2 * h + 1) / (2.0 * power));
  });
  return slopes.to(dtype);
}

Tensor alibi_bias(int heads, std::int64_t queries, std::int64_t keys, Dtype dtype) {
  if (queries < 0 || keys < 0)
    throw ShapeError(text("alibi_bias: ", queries, " queries and ", keys, " keys; give numbers of 0 or more"));
  const Tensor slopes = reshape(alibi_slopes(heads, f64), {heads, 1, 1}), distances = empty({queries, keys}, f64);
  distances.update<double>([=](std::span<double> values) {
    auto next = values.begin();
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) *next++ = -std::abs(static_cast<double>(i + keys - queries - j));
  });
  return (slopes * distances).to(dtype);
}

}  // namespace retrace
