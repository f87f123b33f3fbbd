// Compares functions of f32 and their slopes with f64 functions of the C library, whose errors are far below the last
// place of a float.
#include <retrace/models/checks/selfcheck/figure.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <retrace/core/core.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using Exact = double;

Exact sigmoid_of(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact bend_of_sigmoid(Exact x) { return sigmoid_of(x) * sigmoid_of(-x); }
Exact softplus_of(Exact x) { return std::log1p(std::exp(-std::abs(x))) + (x > 0 ? x : 0); }
Exact distribution_of(Exact x) { return std::erfc(-x / std::numbers::sqrt2_v<Exact>) / 2; }
Exact density_of(Exact x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Exact> / std::numbers::sqrt2_v<Exact>;
}
Exact tanh_of_softplus(Exact x) { return std::tanh(softplus_of(x)); }
Exact slope_of_tanh(Exact x) { return 4 * bend_of_sigmoid(2 * x); }
Exact bend_of_mish(Exact x) {
  const Exact t = tanh_of_softplus(x);
  return (1 - t * t) * sigmoid_of(x);
}
constexpr Exact selu_scale = 1.0507009873554804934, selu_alpha = 1.6732632423543772848;

/// A slope, and the size of the terms that its formula adds up, of which the error is a part.
struct Slope {
  Exact value, size;
};
Slope sum_of(Exact a, Exact b) { return {a + b, std::abs(a) + std::abs(b)}; }
Slope of_size(Exact value) { return {value, std::abs(value)}; }

struct Accuracy {
  const char* name;
  Tensor (*op)(const Tensor&);
  Exact (*exact)(Exact);
  Slope (*slope)(Exact);
  double limit;  // in units in the last place of the exact value, or of the size of the slope
};

constexpr double of_kernels = 4;  // ops/kernels/elementwise.h
constexpr double of_gelu = 8;     // whose tail is a product of three roundings

constexpr Accuracy functions[] = {
    {"exp", exp, [](Exact x) { return std::exp(x); }, [](Exact x) { return of_size(std::exp(x)); }, of_kernels},
    {"log", log, [](Exact x) { return std::log(x); }, [](Exact x) { return of_size(1 / x); }, of_kernels},
    // 1 - y^2
    {"tanh", tanh, [](Exact x) { return std::tanh(x); },
     [](Exact x) {
       return Slope{slope_of_tanh(x), 1};
     },
     of_kernels},
    {"sigmoid", sigmoid, sigmoid_of, [](Exact x) { return of_size(bend_of_sigmoid(x)); }, of_kernels},
    {"erf", erf, [](Exact x) { return std::erf(x); },
     [](Exact x) { return of_size(2 * std::numbers::inv_sqrtpi_v<Exact> * std::exp(-x * x)); }, of_kernels},
    {"softplus", softplus, softplus_of, [](Exact x) { return of_size(sigmoid_of(x)); }, of_kernels},
    {"elu", [](const Tensor& x) { return elu(x); }, [](Exact x) { return x > 0 ? x : std::expm1(x); },
     [](Exact x) { return of_size(x > 0 ? 1 : std::exp(x)); }, of_kernels},
    {"selu", selu, [](Exact x) { return selu_scale * (x > 0 ? x : selu_alpha * std::expm1(x)); },
     [](Exact x) { return of_size(selu_scale * (x > 0 ? 1 : selu_alpha * std::exp(x))); }, of_kernels},
    {"gelu", gelu, [](Exact x) { return x * distribution_of(x); },
     [](Exact x) { return sum_of(distribution_of(x), x * density_of(x)); }, of_gelu},
    {"silu", silu, [](Exact x) { return x * sigmoid_of(x); },
     [](Exact x) { return sum_of(sigmoid_of(x), x * bend_of_sigmoid(x)); }, of_kernels},
    {"mish", mish, [](Exact x) { return x * tanh_of_softplus(x); },
     [](Exact x) { return sum_of(tanh_of_softplus(x), x * bend_of_mish(x)); }, of_kernels},
};

// x sigmoid(x) has all digits only where sigmoid(x), which is x times smaller, has them.
constexpr float smallest = 100 * std::numeric_limits<float>::min();

/// |y - exact| in units in the last place of a float of this size; 0 if that is smaller than the smallest.
double units(float y, Exact exact, Exact size) {
  const float nearest = static_cast<float>(exact);
  if (y == nearest || (std::isnan(y) && std::isnan(exact))) return 0;
  if (!std::isfinite(nearest) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
  if (size < smallest) return 0;
  const Exact unit =
      std::scalbn(Exact(1), std::ilogb(static_cast<float>(size)) - (std::numeric_limits<float>::digits - 1));
  return std::abs(static_cast<Exact>(y) - exact) / unit;
}

/// The largest error of `count` elements: error(k) of each.
template <class Error> double worst_of(std::int64_t count, const Error& error) {
  constexpr std::int64_t block = 4096;
  std::vector<double> worst(static_cast<std::size_t>((count + block - 1) / block));
  parallel_for(static_cast<std::int64_t>(worst.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin * block; k < std::min(count, end * block); ++k) {
      double& of_block = worst[static_cast<std::size_t>(k / block)];
      of_block = std::max(of_block, error(static_cast<std::size_t>(k)));
    }
  });
  return *std::ranges::max_element(worst);
}

/// The worst errors of the values and the slopes of a function at these floats.
std::pair<double, double> errors_at(const std::vector<float>& floats, const Accuracy& of) {
  const auto count = static_cast<std::int64_t>(floats.size());
  Tape tape;
  const Tensor x = parameter(tensor(floats, {count}));
  const Tensor y = of.op(x);
  tape.backward({y}, {ones_like(y)});
  const std::span<const float> values = y.values<float>(), slopes = x.grad().values<float>();
  const double of_values = worst_of(count, [&](std::size_t k) {
    const Exact exact = of.exact(floats[k]);
    return units(values[k], exact, std::abs(exact));
  });
  const double of_slopes = worst_of(count, [&](std::size_t k) {
    const Slope exact = of.slope(floats[k]);
    return units(slopes[k], exact.value, exact.size);
  });
  return {of_values, of_slopes};
}

}  // namespace

std::vector<Figure> check_accuracy_of_floats(std::uint64_t stride) {
  constexpr std::uint64_t floats_of_all = std::uint64_t{1} << 32, most_at_once = std::uint64_t{1} << 20;
  std::vector<Figure> figures;
  for (const Accuracy& of : functions) {
    Figure values{"accuracy", text(of.name, " of floats, units in the last place"), 0, 0, of.limit};
    Figure slopes{"accuracy", text("slope of ", of.name, ", units in the last place"), 0, 0, of.limit};
    for (std::uint64_t bits = 0; bits < floats_of_all;) {
      std::vector<float> floats;
      for (; bits < floats_of_all && floats.size() < most_at_once; bits += stride)
        if (const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); std::isfinite(x))
          floats.push_back(x);
      if (floats.empty()) continue;
      const auto [of_values, of_slopes] = errors_at(floats, of);
      values.worst = std::max(values.worst, of_values);
      slopes.worst = std::max(slopes.worst, of_slopes);
      values.count += static_cast<std::int64_t>(floats.size());
      slopes.count = values.count;
    }
    figures.push_back(values);
    figures.push_back(slopes);
  }
  return figures;
}

std::vector<Figure> check_accuracy() { return check_accuracy_of_floats(8191); }  // a prime

}  // namespace retrace
