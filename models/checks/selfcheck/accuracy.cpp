// Functions of f32 beside long double, on a sample of all floats.
#include <retrace/models/checks/selfcheck/figure.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using Exact = long double;

Exact sigmoid_of(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact softplus_of(Exact x) { return std::log1p(std::exp(-std::abs(x))) + (x > 0 ? x : 0); }
Exact gelu_of(Exact x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Exact>); }
Exact selu_of(Exact x) {
  const Exact scale = 1.0507009873554804934193349852946L, alpha = 1.6732632423543772848170429916717L;
  return scale * (x > 0 ? x : alpha * std::expm1(x));
}

struct Accuracy {
  const char* name;
  Tensor (*op)(const Tensor&);
  Exact (*exact)(Exact);
  double limit;  // in units in the last place of the exact value
};

constexpr double of_kernels = 4;  // ops/kernels/elementwise.h
constexpr double of_gelu = 8;     // whose tail is a product of three roundings

constexpr Accuracy functions[] = {
    {"exp", exp, [](Exact x) { return std::exp(x); }, of_kernels},
    {"log", log, [](Exact x) { return std::log(x); }, of_kernels},
    {"tanh", tanh, [](Exact x) { return std::tanh(x); }, of_kernels},
    {"sigmoid", sigmoid, sigmoid_of, of_kernels},
    {"erf", erf, [](Exact x) { return std::erf(x); }, of_kernels},
    {"softplus", softplus, softplus_of, of_kernels},
    {"elu", [](const Tensor& x) { return elu(x); }, [](Exact x) { return x > 0 ? x : std::expm1(x); }, of_kernels},
    {"selu", selu, selu_of, of_kernels},
    {"gelu", gelu, gelu_of, of_gelu},
    {"silu", silu, [](Exact x) { return x * sigmoid_of(x); }, of_kernels},
    {"mish", mish, [](Exact x) { return x * std::tanh(softplus_of(x)); }, of_kernels},
};

constexpr std::uint32_t stride = 8191;  // between the bits of two floats of the sample: a prime

std::vector<float> sample() {
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride)
    if (const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); std::isfinite(x)) floats.push_back(x);
  return floats;
}

// x sigmoid(x) has all digits only where sigmoid(x), which is x times smaller, has them.
constexpr float smallest = 100 * std::numeric_limits<float>::min();

/// |y - exact| in units in the last place of `exact` as a float; 0 if that is smaller than the smallest.
double units(float y, Exact exact) {
  const float nearest = static_cast<float>(exact);
  if (y == nearest || (std::isnan(y) && std::isnan(exact))) return 0;
  if (!std::isfinite(nearest) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
  if (std::abs(nearest) < smallest) return 0;
  const Exact unit = std::scalbn(Exact(1), std::ilogb(nearest) - (std::numeric_limits<float>::digits - 1));
  return static_cast<double>(std::abs(static_cast<Exact>(y) - exact) / unit);
}

}  // namespace

std::vector<Figure> check_accuracy() {
  const std::vector<float> floats = sample();
  const Tensor x = tensor(floats, {static_cast<std::int64_t>(floats.size())});
  std::vector<Figure> figures;
  for (const Accuracy& of : functions) {
    Figure figure{"accuracy", text(of.name, " of floats, units in the last place"),
                  static_cast<std::int64_t>(floats.size()), 0, of.limit};
    const Tensor y = of.op(x);
    for (std::size_t k = 0; const float value : y.values<float>())
      figure.worst = std::max(figure.worst, units(value, of.exact(floats[k++])));
    figures.push_back(figure);
  }
  return figures;
}

}  // namespace retrace
