#include <retrace/nn/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <span>

#include <retrace/core/tape/tape.h>
#include <retrace/nn/optim/norm_of_numbers.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

double norm(const Vector& v) { return norm_of_values(std::span(v)).value(); }

double largest_of(const Vector& v) {
  double largest = 0;
  for (const double x : v) largest = std::abs(x) > largest ? std::abs(x) : largest;
  return largest;
}

/// a + factor b.
Vector sum_of(Vector a, double factor, const Vector& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
  return a;
}

/// The weights in a row, with the loss and its gradient there.
struct Point {
  Vector weights;
  double loss = 0;
  Vector gradient = {};
  bool is_finite() const {
    return std::isfinite(loss) && std::ranges::all_of(gradient, [](double g) { return std::isfinite(g); });
  }
};

const void* place_of(const Tensor& w) {
  return dispatch_real(w.dtype(), "lbfgs", [&](auto zero) -> const void* { return w.values<decltype(zero)>().data(); });
}

/// The loss as a function of all weights that are not frozen; tied ones are one.
class Objective {
 public:
  Objective(const std::vector<NamedTensor>& parameters, const std::function<Tensor()>& loss) : loss_(loss) {
    for (const NamedTensor& parameter : parameters) {
      check_defined("lbfgs", parameter.tensor, parameter.name.c_str());
      const void* place = place_of(parameter.tensor);
      const bool is_tied = std::ranges::any_of(weights_, [&](const Tensor& w) { return place_of(w) == place; });
      if (parameter.tensor.wants_gradient() && !is_tied) weights_.push_back(parameter.tensor);
    }
  }

  Vector weights() const {
    Vector all;
    for_each([&](const Tensor& w, auto zero) {
      using T = decltype(zero);
      for (const T value : w.values<T>()) all.push_back(static_cast<double>(value));
    });
    return all;
  }

  void set_weights(const Vector& weights) const {
    std::size_t next = 0;
    for_each([&](const Tensor& w, auto zero) {
      using T = decltype(zero);
      w.update<T>([&](std::span<T> values) {
        for (T& value : values) value = static_cast<T>(weights[next++]);
      });
    });
  }

  Point at(const Vector& weights) {
    set_weights(weights);
    for (const Tensor& w : weights_) w.zero_grad();
    Tape tape;
    const Tensor loss = loss_();
    tape.backward(loss);
    ++evaluations;
    Point point{.weights = this->weights(), .loss = loss.item()};
    for_each([&](const Tensor& w, auto zero) {
      using T = decltype(zero);
      if (!w.has_grad()) return point.gradient.resize(point.gradient.size() + static_cast<std::size_t>(w.numel()));
      for (const T g : w.grad_values<T>()) point.gradient.push_back(static_cast<double>(g));
      w.use_up_grad();
    });
    return point;
  }

  std::int64_t evaluations = 0;

 private:
  template <class Body> void for_each(Body&& body) const {
    for (const Tensor& w : weights_) dispatch_real(w.dtype(), "lbfgs", [&](auto zero) { body(w, zero); });
  }

  std::vector<Tensor> weights_;
  const std::function<Tensor()>& loss_;
};

/// The last steps s and changes of the gradient y, which stand for the inverse of the Hessian.
class Curvature {
 public:
  explicit Curvature(std::int64_t history) : history_(static_cast<std::size_t>(history)) {}

  /// -H g (algorithm 7.4).
  Vector direction(const Vector& gradient) const {
    Vector d = gradient;
    Vector factors;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      factors.push_back(dot(pair->s, d) / pair->product);
      d = sum_of(std::move(d), -factors.back(), pair->y);
    }
    if (!pairs_.empty()) {
      const double scale = pairs_.back().product / dot(pairs_.back().y, pairs_.back().y);
      for (double& x : d) x *= scale;
    }
    for (const Pair& pair : pairs_) {
      d = sum_of(std::move(d), factors.back() - dot(pair.y, d) / pair.product, pair.s);
      factors.pop_back();
    }
    for (double& x : d) x = -x;
    return d;
  }

  /// Leaves out a pair without curvature, which rounding can give.
  void add(const Point& from, const Point& to) {
    Pair pair{.s = sum_of(to.weights, -1, from.weights), .y = sum_of(to.gradient, -1, from.gradient), .product = 0};
    pair.product = dot(pair.s, pair.y);
    if (!(pair.product > std::numeric_limits<double>::epsilon() * norm(pair.s) * norm(pair.y))) return;
    if (pairs_.size() == history_) pairs_.pop_front();
    pairs_.push_back(std::move(pair));
  }

  bool is_empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }

 private:
  struct Pair {
    Vector s, y;
    double product;  // <s, y>
  };
  std::size_t history_;
  std::deque<Pair> pairs_;
};

/// A step along a direction, with the slope of the loss along it.
struct Trial {
  double step = 0;
  double slope = 0;
  Point point = {};
};

/// Where the cubic through the losses and slopes of two trials is least; the middle, where that is nearer to one of
/// them than a tenth of their distance.
double cubic_minimum(const Trial& a, const Trial& b) {
  const double width = b.step - a.step, middle = a.step + width / 2;
  if (!b.point.is_finite()) return middle;
  const double d1 = a.slope + b.slope - 3 * (b.point.loss - a.point.loss) / width;
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return middle;
  const double d2 = std::copysign(std::sqrt(square), width);
  const double step = b.step - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
  const double low = std::min(a.step, b.step) + std::abs(width) / 10,
               high = std::max(a.step, b.step) - std::abs(width) / 10;
  return step >= low && step <= high ? step : middle;
}

/// A step of at most some trials that meets the strong Wolfe conditions.
class LineSearch {
 public:
  LineSearch(Objective& objective, const Point& start, const Vector& direction)
      : objective_(objective), direction_(direction), start_{0, dot(start.gradient, direction), start} {}

  /// Algorithm 3.5. Returns the start where no smaller loss was found.
  Point find(double step) {
    Trial last = start_;
    for (; trials_ < max_trials; step *= 2) {
      Trial trial = at(step);
      if (is_too_high(trial) || (last.step > 0 && trial.point.loss >= last.point.loss)) return between(last, trial);
      if (is_flat(trial)) return trial.point;
      if (trial.slope >= 0) return between(trial, last);
      last = std::move(trial);
    }
    return last.point;
  }

 private:
  static constexpr int max_trials = 40;

  Trial at(double step) {
    ++trials_;
    Trial trial{.step = step, .point = objective_.at(sum_of(start_.point.weights, step, direction_))};
    trial.slope = dot(trial.point.gradient, direction_);
    return trial;
  }
  bool is_too_high(const Trial& t) const {
    return !t.point.is_finite() || t.point.loss > start_.point.loss + 1e-4 * t.step * start_.slope;
  }
  bool is_flat(const Trial& t) const { return std::abs(t.slope) <= -0.9 * start_.slope; }

  /// Algorithm 3.6.
  Point between(Trial low, Trial high) {
    while (trials_ < max_trials) {
      Trial trial = at(cubic_minimum(low, high));
      if (trial.point.weights == low.point.weights) break;  // no number lies between
      if (is_too_high(trial) || trial.point.loss >= low.point.loss) {
        high = std::move(trial);
        continue;
      }
      if (is_flat(trial)) return trial.point;
      if (trial.slope * (high.step - low.step) >= 0) high = std::move(low);
      low = std::move(trial);
    }
    return low.point;
  }

  Objective& objective_;
  const Vector& direction_;
  Trial start_;
  int trials_ = 0;
};

void check_start(const Point& start) {
  if (start.is_finite()) return;
  const std::string loss = std::isfinite(start.loss) ? "its gradient is not" : text("it is ", start.loss);
  throw ValueError(text("lbfgs: the loss at the start has to be finite, with its gradient, but ", loss,
                        "; start from other weights"));
}

/// One step from a point; the same point where no smaller loss was found. Pairs that rounding has spoilt may lead
/// nowhere: then the gradient by itself is tried.
Point next_point(Objective& objective, Curvature& curvature, const Point& from) {
  for (;; curvature.clear()) {
    const Vector direction = curvature.direction(from.gradient);
    const double slope = dot(direction, from.gradient);
    if (slope < 0 && std::isfinite(slope)) {
      // Without curvature, the first step is no longer than 1.
      const double first = curvature.is_empty() ? std::min(1.0, 1 / norm(direction)) : 1;
      Point to = LineSearch(objective, from, direction).find(first);
      if (to.loss < from.loss) {
        curvature.add(from, to);
        return to;
      }
    }
    if (curvature.is_empty()) return from;
  }
}

}  // namespace

void LbfgsOptions::check() const {
  check_number("LbfgsOptions", "max_iterations", max_iterations, above_0, "such as 100");
  check_number("LbfgsOptions", "history", history, above_0, "such as 10");
  check_number("LbfgsOptions", "gradient_tolerance", gradient_tolerance, not_negative, "such as 1e-7");
  check_number("LbfgsOptions", "loss_tolerance", loss_tolerance, not_negative, "such as 1e-12");
}

LbfgsResult lbfgs(const std::vector<NamedTensor>& parameters, const std::function<Tensor()>& loss,
                  const LbfgsOptions& options) {
  options.check();
  Objective objective(parameters, loss);
  Point best{.weights = objective.weights()};
  LbfgsResult result;
  try {
    best = objective.at(best.weights);
    check_start(best);
    Curvature curvature(options.history);
    result.converged = largest_of(best.gradient) <= options.gradient_tolerance;
    while (!result.converged && result.iterations < options.max_iterations) {
      Point next = next_point(objective, curvature, best);
      if (!(next.loss < best.loss)) break;
      ++result.iterations;
      result.converged = best.loss - next.loss <= options.loss_tolerance * std::abs(best.loss) ||
                         largest_of(next.gradient) <= options.gradient_tolerance;
      best = std::move(next);
    }
  } catch (...) {
    objective.set_weights(best.weights);
    throw;
  }
  objective.set_weights(best.weights);
  result.loss = best.loss;
  result.gradient = largest_of(best.gradient);
  result.evaluations = objective.evaluations;
  return result;
}

}  // namespace retrace
