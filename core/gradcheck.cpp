#include <retrace/core/gradcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <ostream>

#include <retrace/core/random.h>
#include <retrace/core/tape.h>

namespace retrace {
namespace {

constexpr std::size_t most_reported = 10;
constexpr int directions = 3;

// Gives a leaf other values for a time: its node is what the function holds, so the node's storage is exchanged.
class Replaced {
 public:
  explicit Replaced(const Tensor& leaf)
      : leaf_(leaf),
        original_(leaf.detach()),
        gradient_(std::exchange(leaf.node().gradient, nullptr)),
        gradient_used_(std::exchange(leaf.node().gradient_used, false)) {}
  Replaced(Replaced&& other) noexcept
      : leaf_(std::move(other.leaf_)),
        original_(std::move(other.original_)),
        gradient_(std::exchange(other.gradient_, nullptr)),
        gradient_used_(other.gradient_used_) {}
  Replaced& operator=(Replaced&&) = delete;
  ~Replaced() {
    if (!leaf_.defined()) return;
    put(original_);
    leaf_.node().gradient = gradient_;
    leaf_.node().gradient_used = gradient_used_;
  }
  /// From here on the leaf has these values and their dtype; its gradient is forgotten.
  void put(const Tensor& values) {
    Node& node = leaf_.node();
    release_gradient(&node);
    retain(values.node().storage);
    release(node.storage);
    node.storage = values.node().storage;
    node.offset = values.node().offset;
    node.dtype = values.dtype();
  }
  const Tensor& original() const { return original_; }

 private:
  Tensor leaf_;
  Tensor original_;
  Storage* gradient_;
  bool gradient_used_;
};

Tensor as_f64(const Tensor& x) {
  Tensor result = empty(x.shape(), f64);
  dispatch_any(x.dtype(), [&](auto zero) {
    const auto from = x.values<decltype(zero)>();
    std::transform(from.begin(), from.end(), result.mutable_values<double>().begin(),
                   [](auto value) { return static_cast<double>(value); });
  });
  return result;
}

// All real numbers that f gives, in one row.
std::vector<double> numbers_of(const Tensors& outputs) {
  std::vector<double> result;
  for (const Tensor& output : outputs) {
    if (output.dtype() == i64) continue;
    dispatch_real(output.dtype(), "gradcheck", [&](auto zero) {
      for (const auto value : output.values<decltype(zero)>()) result.push_back(static_cast<double>(value));
    });
  }
  return result;
}

class Checker {
 public:
  Checker(const std::function<Tensors()>& f, const std::vector<std::pair<std::string, Tensor>>& parameters,
          const GradcheckOptions& options)
      : f_(f), options_(options), random_(options.seed) {
    result_.limit = options.limit;
    result_.exact_limit = options.exact_limit;
    for (const auto& [name, leaf] : parameters) {
      names_.push_back(name);
      leaves_.push_back(leaf);
      replaced_.emplace_back(leaf);
      values_.push_back(as_f64(leaf));
      replaced_.back().put(values_.back());
      total_ += leaf.numel();
    }
  }

  GradcheckResult run() {
    check_repeatable();
    walk_back();
    for (std::size_t k = 0; k < leaves_.size(); ++k) check_leaf(k);
    std::stable_sort(result_.worst.begin(), result_.worst.end(),
                     [](const auto& a, const auto& b) { return is_worse(a.error, b.error); });
    if (result_.worst.size() > most_reported) result_.worst.resize(most_reported);
    for (int n = 0; n < directions; ++n) check_exactly();
    return result_;
  }

 private:
  std::vector<double> evaluate() const {
    const NoTape no_tape;
    return numbers_of(f_());
  }

  void check_repeatable() {
    const std::vector<double> first = evaluate(), second = evaluate();
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    if (!std::equal(first.begin(), first.end(), second.begin(), second.end(), same))
      throw ValueError(
          "gradcheck: f draws random numbers (two calls gave different values); make a generator of the same "
          "seed inside f");
  }

  // u, and J^T u.
  void walk_back() {
    Tape tape;
    const Tensors outputs = f_();
    Tensors differentiable, cotangents;
    for (const Tensor& output : outputs) {
      if (output.dtype() == i64) continue;
      const Tensor u = random_.normal(output.shape(), f64);
      for (const double number : u.values<double>()) cotangent_.push_back(number);
      if (!output.wants_gradient()) continue;
      differentiable.push_back(output);
      cotangents.push_back(u);
    }
    if (!differentiable.empty()) tape.backward(differentiable, cotangents);
    for (const Tensor& leaf : leaves_) {
      std::vector<double> gradient(static_cast<std::size_t>(leaf.numel()), 0.0);
      if (leaf.has_grad()) std::ranges::copy(leaf.grad().values<double>(), gradient.begin());
      gradients_.push_back(std::move(gradient));
    }
  }

  // u.(f(x + h) - f(x - h)) / 2h: output by output first, so that no large sums cancel.
  double slope(double& x, double h) const {
    const double here = x;
    x = here + h;
    const double above = x;
    const std::vector<double> up = evaluate();
    x = here - h;
    const double below = x;
    const std::vector<double> down = evaluate();
    x = here;
    double sum = 0;
    for (std::size_t k = 0; k < up.size(); ++k) sum += cotangent_[k] * ((up[k] - down[k]) / (above - below));
    return sum;
  }

  // Ridders (1982): slopes at smaller and smaller steps, extrapolated to a step of 0; of all extrapolations the one
  // that changed least is taken. Smooth functions need three steps, and no more are made once a change is far below the
  // limit.
  double numeric(double& x, double scale) const {
    constexpr int most_steps = 14;  // the last is short enough for most kinks to lie beyond it
    std::array<double, most_steps> now{}, before{};
    double best = std::numeric_limits<double>::quiet_NaN(), least_change = std::numeric_limits<double>::infinity();
    double h = options_.step * std::max(1.0, std::abs(x));
    for (std::size_t k = 0; k < most_steps; ++k, h /= 2) {
      now[0] = slope(x, h);
      double power = 4;  // the error in h^2, then in h^4, ... cancels
      for (std::size_t j = 1; j <= k; ++j, power *= 4) {
        now[j] = (power * now[j - 1] - before[j - 1]) / (power - 1);
        const double change = std::max(std::abs(now[j] - now[j - 1]), std::abs(now[j] - before[j - 1]));
        if (change <= least_change) least_change = change, best = now[j];
      }
      if (k >= 2 && least_change <= options_.limit / 100 * std::max(std::abs(best), scale)) break;
      before = now;
    }
    return best;
  }

  bool near_kink(double x) const {
    const double reach = 2 * options_.step * std::max(1.0, std::abs(x));
    return std::ranges::any_of(options_.kinks, [=](double kink) { return std::abs(x - kink) < reach; });
  }

  void check_leaf(std::size_t k) {
    const std::vector<double>& gradient = gradients_[k];
    double squares = 0;
    for (const double g : gradient) squares += g * g;
    const double rms = gradient.empty() ? 0 : std::sqrt(squares / static_cast<double>(gradient.size()));
    const std::span<double> values = values_[k].mutable_values<double>();
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (total_ > options_.most_elements && random_.integer(total_) >= options_.most_elements) continue;
      if (near_kink(values[at])) {
        ++result_.skipped;
        continue;
      }
      GradcheckElement element{names_[k], static_cast<std::int64_t>(at), gradient[at],
                               numeric(values[at], std::max(rms, 1e-6))};
      const double scale = std::max({std::abs(element.analytic), std::abs(element.numeric), rms, 1e-6});
      element.error = std::abs(element.analytic - element.numeric) / scale;
      ++result_.elements;
      if (is_worse(element.error, result_.worst_error)) result_.worst_error = element.error;
      if (!(element.error <= options_.limit) || result_.worst.size() < most_reported) result_.worst.push_back(element);
    }
  }

  void check_exactly() {
    double by_gradient = 0, terms = 0;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      Tensor moving = empty(values_[k].shape(), dual);
      const std::span<Dual> duals = moving.mutable_values<Dual>();
      for (std::size_t at = 0; at < duals.size(); ++at) {
        duals[at] = {values_[k].values<double>()[at], random_.normal()};
        by_gradient += gradients_[k][at] * duals[at].tangent;
        terms += std::abs(gradients_[k][at] * duals[at].tangent);
      }
      replaced_[k].put(moving);
    }
    double by_tangent = 0;
    std::size_t at = 0;
    {
      const NoTape no_tape;
      for (const Tensor& output : f_()) {
        if (output.dtype() == i64) continue;
        for (std::int64_t n = 0; n < output.numel(); ++n, ++at) {
          if (output.dtype() != dual) continue;  // a constant
          const double term = cotangent_[at] * output.values<Dual>()[static_cast<std::size_t>(n)].tangent;
          by_tangent += term;
          terms += std::abs(term);
        }
      }
    }
    for (std::size_t k = 0; k < leaves_.size(); ++k) replaced_[k].put(values_[k]);
    const double error = std::abs(by_tangent - by_gradient) / std::max(terms, 1e-6);
    if (is_worse(error, result_.exact_error)) result_.exact_error = error;
  }

  const std::function<Tensors()>& f_;
  const GradcheckOptions& options_;
  Random random_;
  std::vector<std::string> names_;
  Tensors leaves_, values_;
  std::vector<Replaced> replaced_;
  std::int64_t total_ = 0;
  std::vector<double> cotangent_;
  std::vector<std::vector<double>> gradients_;
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck_parameters(const std::function<Tensors()>& f,
                                     const std::vector<std::pair<std::string, Tensor>>& parameters,
                                     const GradcheckOptions& options) {
  const DtypeScope scope(f64);
  return Checker(f, parameters, options).run();
}

GradcheckResult gradcheck(const Function& f, const Tensors& inputs, const GradcheckOptions& options) {
  Tensors at;
  std::vector<std::pair<std::string, Tensor>> leaves;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() == i64) {
      at.push_back(inputs[k]);
      continue;
    }
    const std::string given = k < options.names.size() ? options.names[k] : std::string(inputs[k].name());
    at.push_back(parameter(as_f64(inputs[k])));
    leaves.emplace_back(given.empty() ? text("input ", k) : given, at.back());
  }
  return gradcheck_parameters([&] { return f(at); }, leaves, options);
}

std::ostream& operator<<(std::ostream& out, const GradcheckResult& result) {
  char line[200];
  std::snprintf(line, sizeof line,
                "gradcheck %s: %lld elements, worst error %.2e (limit %.0e), exact error %.2e (limit %.0e)\n",
                result.passed() ? "passed" : "FAILED", static_cast<long long>(result.elements), result.worst_error,
                result.limit, result.exact_error, result.exact_limit);
  out << line;
  if (result.passed()) return out;
  std::snprintf(line, sizeof line, "  %-24s %8s %14s %14s %10s %10s %9s\n", "input", "index", "analytic", "numeric",
                "absolute", "relative", "ratio");
  out << line;
  for (const GradcheckElement& e : result.worst) {
    std::snprintf(line, sizeof line, "  %-24s %8lld %14.6e %14.6e %10.2e %10.2e %9.3f\n", e.input.c_str(),
                  static_cast<long long>(e.index), e.analytic, e.numeric, std::abs(e.analytic - e.numeric), e.error,
                  e.analytic / e.numeric);
    out << line;
  }
  return out;
}

}  // namespace retrace
