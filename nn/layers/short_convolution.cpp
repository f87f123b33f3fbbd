#include <retrace/nn/layers/short_convolution.h>

#include <retrace/nn/layers/recurrent.h>

#include <cmath>

namespace retrace {
namespace {

Tensor initial_taps(std::int64_t features, Random& random, std::int64_t taps) {
  if (taps < 1) throw ValueError(text("ShortConvolution: ", taps, " taps; at least one is needed"));
  const double limit = 1 / std::sqrt(static_cast<double>(taps));
  return random.uniform(parameter_shape("ShortConvolution", "weight", {taps, features}), -limit, limit);
}

}  // namespace

ShortConvolution::ShortConvolution(std::int64_t features, Random& random, std::int64_t taps)
    : weight(initial_taps(features, random, taps)), bias(zeros({features})) {}

Tensor ShortConvolution::operator()(const Tensor& x) const {
  const Scope scope(this, "short_convolution");
  check_input("ShortConvolution", x, 3, bias.dim(0));
  const std::int64_t before = taps() - 1, time = x.dim(1);
  const Tensor padded = pad(x, {{0, 0}, {before, 0}, {0, 0}});
  Tensor y = x * slice(weight, {0}) + bias;
  for (std::int64_t j = 1; j <= before; ++j)
    y = y + slice(padded, {all, range(before - j, before - j + time)}) * slice(weight, {j});
  return y;
}

}  // namespace retrace
