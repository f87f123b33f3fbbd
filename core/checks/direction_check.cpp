#include <retrace/core/checks/direction_check.h>
#include <retrace/core/checks/three_ways.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace retrace {
namespace {

/// Starts anew for each record, and a reader of the trace can draw the same numbers.
class Direction {
 public:
  std::vector<double> next(std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (double& number : numbers) {
      state_ = 1664525u * state_ + 1013904223u;
      number = std::ldexp(static_cast<double>(state_), -31) - 1;
    }
    return numbers;
  }

 private:
  std::uint32_t state_ = 7;
};

/// x + t v in the dtype of t.
Tensor moved(const Tensor& x, const std::vector<double>& v, const Tensor& t) {
  const Tensor start = as_f64(x), result = empty(x.shape(), t.dtype());
  dispatch_real(t.dtype(), "check_direction", [&](auto zero) {
    using T = decltype(zero);
    const auto from = start.values<double>();
    const auto to = result.mutable_values<T>();
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = T(from[k]) + t.values<T>()[0] * T(v[k]);
  });
  return result;
}

bool have_equal_numbers(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && all_numbers({a}) == all_numbers({b});
}

class AlongDirection {
 public:
  AlongDirection(const Record& record, const ForwardOfInputs& forward) : forward_(forward) {
    Direction direction;
    for (int i = 0; i < record.inputs(); ++i) {
      inputs_.push_back(record.saved(i).tensor());
      directions_.push_back(record.wants(i) ? direction.next(record.in(i).numel()) : std::vector<double>());
    }
  }

  double by_backward(std::span<const Tensor> dx) const {
    double sum = 0;
    for (std::size_t i = 0; i < dx.size(); ++i) {
      if (!dx[i].defined()) continue;
      const std::vector<double> numbers = all_numbers({dx[i]});
      for (std::size_t k = 0; k < numbers.size(); ++k) sum += numbers[k] * directions_[i][k];
    }
    return sum;
  }

  /// forward(x + t v).
  Tensor at(const Tensor& t) const {
    Tensors there;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool is_real = inputs_[i].dtype() != i64;
      const std::vector<double> still(static_cast<std::size_t>(inputs_[i].numel()));
      const std::vector<double>& v = directions_[i].empty() ? still : directions_[i];
      there.push_back(is_real ? moved(inputs_[i], v, t) : inputs_[i]);
    }
    const Tensor y = forward_(there);
    if (y.dtype() != t.dtype()) throw DtypeError("check_direction: forward gave another dtype than that of its inputs");
    return y;
  }

 private:
  const ForwardOfInputs& forward_;
  Tensors inputs_;
  std::vector<std::vector<double>> directions_;
};

}  // namespace

DirectionCheck check_direction(const Record& record, const ForwardOfInputs& forward, const Tensor& dy,
                               std::span<const Tensor> dx) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const NoTape nothing_is_recorded;
  const DtypeScope scope(f64);
  const AlongDirection along(record, forward);
  DirectionCheck check{.backward = along.by_backward(dx), .dual = nan, .difference = nan};
  const Tensor t = zeros({}, f64);
  try {
    if (!have_equal_numbers(along.at(t), along.at(t))) return check;
    const std::function<Tensors()> f = [&] { return Tensors{along.at(t)}; };
    ThreeWays ways(f, {{"t", t}}, all_numbers({dy}));
    check.difference = ways.by_difference(0, 0, check.backward);
    check.dual = ways.by_duals(0, 0);
  } catch (const std::exception&) {  // forward does not run on such numbers
  }
  return check;
}

}  // namespace retrace
