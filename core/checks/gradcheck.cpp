#include <retrace/core/checks/gradcheck.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <retrace/core/checks/checked_function.h>
#include <retrace/core/checks/checked_gradients.h>
#include <retrace/core/checks/second_order.h>
#include <retrace/core/tensor/element_index.h>

namespace retrace {
namespace {

constexpr std::size_t max_reported = 10;
constexpr std::int64_t max_failures_to_explain = 10;
constexpr int directions = 3;
constexpr double max_scale = 1e100;  // of a direction

// The step along a leaf at which it contributes about as much to a derivative as all others do.
double step_along(double rms) { return rms > 0 ? std::clamp(1 / rms, 1 / max_scale, max_scale) : 1; }

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

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
    check_repetition();
    exact_.emplace(f_, cotangent_, pullback_.gradients, random_.stream("neighbours"));
    gradients_.emplace(
        f_, cotangent_, pullback_.gradients, *exact_, [this](const LeafNumbers& v) { return exactly_along(v); },
        options_);
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
      const std::vector<double> values = repeatable_values();
      has_nan_ = std::ranges::any_of(values, [](double value) { return std::isnan(value); });
      for (std::size_t k = 0; k < values.size(); ++k) cotangent_.push_back(random_.normal());
      pullback_ = f_.pull_back(cotangent_);
    } catch (const DtypeError& error) {
      if (options_.named_by_visit) {
        if (const auto* refusal = dynamic_cast<const DtypeMismatch*>(&error))
          check_named(f_.use_of_another_leaf(*refusal));
        check_named(f_.use_of_another_leaf(default_type_));
      }
      throw DtypeError(text("gradcheck: ", error.what(), "; gradcheck runs f in f64",
                            options_.named_by_visit
                                ? ", and the weights that the model's visit() names are f64 for that time: convert"
                                : ": call gradcheck(model, f) where f captures the weights of a "
                                  "model, which checks them as f64 copies, and convert",
                            " any other tensor that f captures with to(f64)"));
    }
    if (options_.named_by_visit) check_named(pullback_.use_of_another_leaf);
    if (result_.name.empty()) result_.name = pullback_.name.empty() ? "f" : pullback_.name;
  }

  void check_repetition() {
    const LeafNumbers again = f_.pull_back(cotangent_).gradients;
    for (std::size_t k = 0; k < again.size(); ++k) {
      const auto [first, second] = std::ranges::mismatch(pullback_.gradients[k], again[k], is_same);
      if (second == again[k].end()) continue;
      const auto index = static_cast<std::int64_t>(second - again[k].begin());
      result_.not_repeatable =
          text("two backwards of the same inputs differ: the gradient of ", names_[k], " at ",
               index_in_brackets(index_at(index, f_.shape(k))), " is ", *first, ", then ", *second);
      return;
    }
  }

  std::vector<double> repeatable_values() const {
    const std::vector<double> first = f_.evaluate(), second = f_.evaluate();
    if (!std::ranges::equal(first, second, is_same))
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
    const std::span<double> values = f_.values(k);
    bool moved = pullback_.reached[k] || values.empty();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (total_ > options_.max_elements && random_.integer(total_) >= options_.max_elements) continue;
      if (near_kink(values[i])) {
        ++result_.skipped;
        continue;
      }
      GradcheckElement element = gradients_->check(k, i, result_.failed < max_failures_to_explain);
      element.input = names_[k];
      element.index = static_cast<std::int64_t>(i);
      element.position = index_at(element.index, f_.shape(k));
      moved = moved || element.numeric != 0;
      count(std::move(element));
    }
    if (!moved) unused_.push_back(names_[k]);
  }

  void count(GradcheckElement element) {
    const bool failed = !(element.error <= options_.limit);
    ++result_.elements;
    result_.failed += failed ? 1 : 0;
    result_.undecided += element.decided_by == DecidedBy::duals_within_noise ? 1 : 0;
    result_.at_kinks += element.decided_by == DecidedBy::duals_at_kink ? 1 : 0;
    result_.divergent += element.decided_by == DecidedBy::duals_as_differences_diverge ? 1 : 0;
    result_.noise = std::max(result_.noise, element.noise);
    if (is_worse(element.error, result_.worst_error)) result_.worst_error = element.error;
    const bool is_told =
        element.decided_by == DecidedBy::duals_at_kink || element.decided_by == DecidedBy::duals_as_differences_diverge;
    if (is_told && result_.told.size() < max_reported) result_.told.push_back(element);
    if (failed || result_.worst.size() < max_reported) result_.worst.push_back(std::move(element));
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

  // Leaves whose gradients differ in size by orders of magnitude contribute alike, and those with a gradient of 0 are
  // moved on their own.
  void check_direction() {
    LeafNumbers direction = f_.zeros(), of_zeros = f_.zeros();
    bool has_zeros = false;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      const double rms = gradients_->rms(k);
      has_zeros = has_zeros || rms == 0;
      for (std::size_t i = 0; i < direction[k].size(); ++i) {
        const double v = random_.normal() * step_along(rms);
        const bool is_left_out = near_kink(f_.values(k)[i]) || !std::isfinite(pullback_.gradients[k][i]);
        (rms == 0 ? of_zeros : direction)[k][i] = is_left_out ? 0 : v;
      }
    }
    check_along(direction);
    if (has_zeros) check_along(of_zeros);
  }

  void check_along(const LeafNumbers& direction) {
    const auto exact = exactly_along(direction);
    if (!exact || exact->difference() == 0) return;
    double error = exact->difference() / exact->terms;
    if (!(error <= options_.exact_limit)) {
      const double noise = exact_->rounding_noise(direction, *exact);
      result_.exact_noise = std::max(result_.exact_noise, noise);
      error = exact->beyond(noise) / exact->terms;
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
    const auto is_finite = [](const std::vector<double>& gradient) {
      return std::ranges::all_of(gradient, [](double g) { return std::isfinite(g); });
    };
    if (!(result_.exact_error <= options_.exact_limit) || !std::ranges::all_of(pullback_.gradients, is_finite))
      return false;
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
    if (has_nan_) return "f is nan at this point, which has no gradient; choose another one";
    if (options_.allow_empty && (total_ == 0 || cotangent_.empty())) return "";
    if (total_ == 0) return "the inputs have no elements";
    if (cotangent_.empty()) return "f gives no real numbers (f32 or f64)";
    // A function may be linear, whose gradients depend on no input.
    if (!unused_.empty() && options_.order == 1 && (!options_.allow_unused || unused_.size() == names_.size()))
      return ignored();
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
  bool has_nan_ = false;  // among the values of f
  std::vector<double> cotangent_;
  Pullback pullback_;
  std::optional<ExactCheck> exact_;
  std::optional<CheckedGradients> gradients_;
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck_parameters(const std::function<Tensors()>& f, const NamedLeaves& parameters,
                                     const GradcheckOptions& options) {
  if (options.order != 1 && options.order != 2)
    throw ValueError(text("gradcheck: the order is ", options.order, "; derivatives of order 1 and 2 can be checked"));
  const Dtype default_type = default_dtype();
  const DtypeScope scope(f64);
  if (options.order == 1) return Checker(f, parameters, options, default_type).run();
  Tensors leaves;
  for (const auto& [name, leaf] : parameters) leaves.push_back(leaf);
  const std::function<Tensors()> gradients = gradients_of_weighted(f, leaves, options.seed);
  return Checker(gradients, parameters, options, default_type).run();
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
