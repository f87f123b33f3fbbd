#include <retrace/core/gradcheck.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <retrace/core/checked_function.h>
#include <retrace/core/element_index.h>
#include <retrace/core/exact_check.h>

namespace retrace {
namespace {

constexpr std::size_t max_reported = 10;
constexpr int directions = 3;
constexpr double min_scale = 1e-6;  // the smallest scale that errors are divided by

double root_mean_square(std::span<const double> numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return numbers.empty() ? 0 : std::sqrt(squares / static_cast<double>(numbers.size()));
}

class Checker {
 public:
  Checker(const std::function<Tensors()>& f, const NamedLeaves& leaves, const GradcheckOptions& options,
          Dtype default_type)
      : f_(f, leaves), options_(options), default_type_(default_type), random_(options.seed) {
    result_.name = options.name;
    result_.limit = options.limit;
    result_.exact_limit = options.exact_limit;
    if (options.differences_only) result_.not_exact = "GradcheckOptions::differences_only is set";
    for (const auto& [name, leaf] : leaves) {
      names_.push_back(name);
      total_ += leaf.numel();
    }
  }

  GradcheckResult run() {
    start();
    exact_.emplace(f_, cotangent_, pullback_.gradients, random_.stream("neighbours"));
    if (options_.fast && passes_along_directions()) return result_;
    for (std::size_t k = 0; k < f_.leaves(); ++k) check_leaf(k);
    std::stable_sort(result_.worst.begin(), result_.worst.end(),
                     [](const auto& a, const auto& b) { return is_worse(a.error, b.error); });
    if (result_.worst.size() > max_reported) result_.worst.resize(max_reported);
    for (int n = 0; n < directions; ++n) check_direction();
    result_.vacuous = why_vacuous();
    return result_;
  }

 private:
  // ---- values and gradients at the point itself

  // The first forward and backward in f64: a captured tensor of another dtype throws here.
  void start() {
    try {
      const std::size_t numbers = repeatable_values().size();
      for (std::size_t k = 0; k < numbers; ++k) cotangent_.push_back(random_.normal());
      pullback_ = f_.pull_back(cotangent_);
    } catch (const DtypeError& error) {
      if (options_.named_by_visit) check_named(f_.use_of_another_leaf(default_type_));
      throw DtypeError(text("gradcheck: ", error.what(), "; gradcheck runs f in f64",
                            options_.named_by_visit ? ", and the model's weights are f64 for that time: convert"
                                                    : ": call gradcheck(model, f) where f captures the weights of a "
                                                      "model, which checks them as f64 copies, and convert",
                            " any other tensor that f captures with to(f64)"));
    }
    if (options_.named_by_visit) check_named(pullback_.use_of_another_leaf);
    if (result_.name.empty()) result_.name = pullback_.name.empty() ? "f" : pullback_.name;
    std::vector<double> all;
    for (const std::vector<double>& gradient : pullback_.gradients)
      all.insert(all.end(), gradient.begin(), gradient.end());
    rms_of_all_ = root_mean_square(all);
  }

  std::vector<double> repeatable_values() const {
    const std::vector<double> first = f_.evaluate(), second = f_.evaluate();
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    if (!std::equal(first.begin(), first.end(), second.begin(), second.end(), same))
      throw ValueError(
          "gradcheck: f draws random numbers (two calls gave different values); make a generator of the same "
          "seed inside f");
    return first;
  }

  void check_named(const std::string& use) const {
    if (!use.empty())
      throw ValueError(text(
          "gradcheck: ", options_.name.empty() ? "the model" : options_.name, " computes ", use,
          " that its visit() does not name; name it there, or detach() or freeze() what is no weight of this model"));
  }

  // ---- element by element

  bool near_kink(double x) const {
    const double reach = 2 * options_.step * std::max(1.0, std::abs(x));
    return std::ranges::any_of(options_.kinks, [=](double kink) { return std::abs(x - kink) < reach; });
  }

  void check_leaf(std::size_t k) {
    const double rms = root_mean_square(pullback_.gradients[k]);
    const std::span<double> values = f_.values(k);
    bool moved = pullback_.reached[k] || values.empty();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (total_ > options_.max_elements && random_.integer(total_) >= options_.max_elements) continue;
      if (near_kink(values[i])) {
        ++result_.skipped;
        continue;
      }
      const GradcheckElement element = check_element(k, i, std::max(rms, min_scale));
      moved = moved || element.numeric != 0;
      const bool failed = !(element.error <= options_.limit);
      ++result_.elements;
      result_.failed += failed ? 1 : 0;
      if (is_worse(element.error, result_.worst_error)) result_.worst_error = element.error;
      if (failed || result_.worst.size() < max_reported) result_.worst.push_back(element);
    }
    if (!moved) unused_.push_back(names_[k]);
  }

  GradcheckElement check_element(std::size_t k, std::size_t i, double scale) {
    double& x = f_.values(k)[i];
    const SlopeAt slope_at = [&](double h) { return f_.slope(x, h, cotangent_); };
    const double first_step = options_.step * std::max(1.0, std::abs(x));
    const Difference difference = extrapolated_difference(slope_at, first_step, options_.limit / 100, scale);
    const double analytic = pullback_.gradients[k][i], distance = std::abs(analytic - difference.value);
    GradcheckElement element{.input = names_[k],
                             .index = static_cast<std::int64_t>(i),
                             .position = index_at(static_cast<std::int64_t>(i), f_.shape(k)),
                             .analytic = analytic,
                             .numeric = difference.value};
    const double compared_with = std::max({std::abs(analytic), std::abs(difference.value), scale});
    element.error = distance / compared_with;
    double noise = min_rounding_noise(difference);
    if (element.error <= options_.limit && noise <= options_.limit * compared_with) return element;
    if (!(element.error <= options_.limit))
      noise = rounding_noise(slope_at, first_step, difference) + exact_->rounding_noise(k, i);
    if (distance <= noise) decide_within_noise(element, k, i, noise, scale);
    return element;
  }

  // The exact derivative decides. Without one, an element that differs passes only if its noise is at most the limit
  // times the rms of all gradients, so that any error hidden by the noise is equally small compared with them.
  void decide_within_noise(GradcheckElement& element, std::size_t k, std::size_t i, double noise, double scale) {
    ++result_.undecided;
    result_.noise = std::max(result_.noise, noise);
    element.noise = noise;
    LeafNumbers direction = f_.zeros();
    direction[k][i] = 1;
    if (const auto exact = exactly_along(direction)) {
      element.exact = exact->by_duals;
      scale = std::max({std::abs(element.analytic), std::abs(element.exact), scale});
      element.error = exact->difference() / scale;
      if (!(element.error <= options_.limit))
        element.error = exact->beyond(exact_->rounding_noise(direction, *exact)) / scale;
    } else if (noise <= options_.limit * rms_of_all_) {
      element.error = 0;
    }
  }

  // ---- by dual numbers

  // Empty if f does not run on dual numbers.
  std::optional<ExactDerivative> exactly_along(const LeafNumbers& direction) {
    if (!result_.not_exact.empty()) return {};
    try {
      return exact_->along(direction);
    } catch (const DifferencesOnlyError& error) {
      result_.not_exact = error.what();
      return {};
    } catch (const DtypeError& error) {
      throw DtypeError(text("gradcheck: ", error.what(),
                            " (the exact check runs f on dual numbers; the option differences_only leaves it out)"));
    }
  }

  void check_direction() {
    LeafNumbers direction = f_.zeros();
    for (std::vector<double>& leaf : direction)
      for (double& number : leaf) number = random_.normal();
    const auto exact = exactly_along(direction);
    if (!exact) return;
    const double scale = std::max(exact->terms, min_scale);
    double error = exact->difference() / scale;
    if (!(error <= options_.exact_limit)) {
      const double noise = exact_->rounding_noise(direction, *exact);
      result_.exact_noise = std::max(result_.exact_noise, noise);
      error = exact->beyond(noise) / scale;
    }
    if (is_worse(error, result_.exact_error)) result_.exact_error = error;
  }

  // A fast check. False if it found an error, which is then looked for in the elements.
  bool passes_along_directions() {
    for (int n = 0; n < directions && result_.not_exact.empty(); ++n) check_direction();
    if (!result_.not_exact.empty()) {
      result_.vacuous = "a fast check is one by dual numbers, and there was none";
      return true;
    }
    if (!(result_.exact_error <= options_.exact_limit)) return false;
    for (std::size_t k = 0; k < f_.leaves(); ++k)
      if (!pullback_.reached[k] && f_.shape(k).numel() > 0) unused_.push_back(names_[k]);
    result_.elements = total_;
    result_.directions = directions;
    result_.vacuous = why_vacuous();
    return true;
  }

  // ---- checks of the whole run

  std::string why_vacuous() const {
    if (names_.empty()) return "no input has real numbers (f32 or f64)";
    if (options_.allow_empty && (total_ == 0 || cotangent_.empty())) return "";
    if (total_ == 0) return "the inputs have no elements";
    if (cotangent_.empty()) return "f gives no real numbers (f32 or f64)";
    if (!unused_.empty() && (!options_.allow_unused || unused_.size() == names_.size())) return ignored();
    if (result_.elements > 0) return "";
    if (result_.skipped > 0)
      return text("all ", result_.skipped, " elements were skipped: they are too close to a kink");
    return text("no element was drawn: max_elements is ", options_.max_elements);
  }

  std::string ignored() const {
    std::string list;
    for (const std::string& name : unused_) list += text(list.empty() ? "" : ", ", name);
    return text("f does not depend on ", list,
                ": it is constant there, or reads a captured tensor instead of its argument (allow_unused lets "
                "some inputs be of no use)");
  }

  CheckedFunction f_;
  const GradcheckOptions& options_;
  Dtype default_type_;  // the caller's, while the check runs in f64
  Random random_;
  std::vector<std::string> names_, unused_;
  std::int64_t total_ = 0;
  std::vector<double> cotangent_;
  Pullback pullback_;
  double rms_of_all_ = 0;
  std::optional<ExactCheck> exact_;
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck_parameters(const std::function<Tensors()>& f, const NamedLeaves& parameters,
                                     const GradcheckOptions& options) {
  const Dtype default_type = default_dtype();
  const DtypeScope scope(f64);
  return Checker(f, parameters, options, default_type).run();
}

GradcheckResult gradcheck(const Function& f, const Tensors& inputs, const GradcheckOptions& options) {
  Tensors point;
  NamedLeaves leaves;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() == i64) {
      point.push_back(inputs[k]);
      continue;
    }
    const std::string given = k < options.names.size() ? options.names[k] : std::string(inputs[k].name());
    point.push_back(parameter(as_f64(inputs[k])));
    leaves.emplace_back(given.empty() ? text("input ", k) : given, point.back());
  }
  return gradcheck_parameters([&] { return f(point); }, leaves, options);
}

}  // namespace retrace
