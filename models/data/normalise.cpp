#include <retrace/core/base/error.h>
#include <retrace/core/tensor/dtype.h>
#include <retrace/models/data/normalise.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace retrace {
namespace {

using Values = std::span<const double>;

/// In f64 for every dtype, so that sums keep their digits.
Tensor in_f64(const Tensor& x) {
  if (x.dtype() != f32 && x.dtype() != f64)
    throw DtypeError(text("normalise: ", x, " is ", x.dtype(), "; convert it to f32 or f64"));
  return x.detach().to(f64);
}

/// Shift and scale of a feature.
struct Measure {
  double shift = 0;
  double scale = 1;
};

/// The standard deviation. Differences in units of the range: no square overflows, and not all vanish.
double deviation(Values values, std::size_t feature, std::size_t features, double mean, double range) {
  double squares = 0, count = 0;
  for (std::size_t i = feature; i < values.size(); i += features, ++count) {
    const double difference = (values[i] - mean) / range;
    squares += difference * difference;
  }
  return range * std::sqrt(squares / count);
}

Measure measure(Values values, std::size_t feature, std::size_t features, Normalisation kind) {
  const double origin = values[feature];  // of the sum: a large mean costs no digits
  double low = origin, high = origin, sum = 0, count = 0;
  bool finite = true;
  for (std::size_t i = feature; i < values.size(); i += features, ++count) {
    finite = finite && std::isfinite(values[i]);
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    sum += values[i] - origin;
  }
  const double range = high - low;
  if (!finite || !std::isfinite(range))
    throw ValueError(
        text("normalise: feature ", feature, " is not finite everywhere, or its range is not; remove such samples"));
  if (range == 0) return {.shift = low, .scale = 1};
  if (kind == Normalisation::minmax) return {.shift = low, .scale = range};
  const double mean = origin + sum / count;
  return {.shift = mean, .scale = deviation(values, feature, features, mean, range)};
}

/// y = f(x, feature) for every element.
template <class F> Tensor each(const Normaliser& normaliser, const Tensor& x, F f) {
  const std::size_t features = normaliser.shift.size();
  if (x.rank() < 1 || x.dim(-1) != static_cast<std::int64_t>(features))
    throw ShapeError(text("normalise: ", x, " must be [..., ", features, "], as the data that were measured"));
  const Tensor from = in_f64(x), y = empty(x.shape(), f64);
  const Values values = from.values<double>();
  const std::span<double> to = y.mutable_values<double>();
  for (std::size_t k = 0; k < values.size(); ++k) to[k] = f(values[k], k % features);
  return y.to(x.dtype());
}

}  // namespace

Tensor Normaliser::operator()(const Tensor& x) const {
  return each(*this, x,
              [this](double value, std::size_t feature) { return (value - shift[feature]) / scale[feature]; });
}

Tensor Normaliser::inverse(const Tensor& y) const {
  return each(*this, y, [this](double value, std::size_t feature) { return value * scale[feature] + shift[feature]; });
}

Normaliser normalise(const Tensor& x, Normalisation kind) {
  if (x.rank() < 1) throw ShapeError(text("normalise: ", x, " has no axis of features; reshape it to [..., features]"));
  if (x.numel() == 0) throw ValueError(text("normalise: ", x, " has no values to measure; give one sample or more"));
  const Tensor values = in_f64(x);
  const auto features = static_cast<std::size_t>(x.dim(-1));
  Normaliser result;
  for (std::size_t feature = 0; feature < features; ++feature) {
    const Measure found = measure(values.values<double>(), feature, features, kind);
    result.shift.push_back(found.shift);
    result.scale.push_back(found.scale);
  }
  return result;
}

}  // namespace retrace
