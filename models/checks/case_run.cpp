#include <retrace/models/checks/case_run.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>

#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

// Changes every element through a span that is taken now. Integers trade places, so that they stay in their range.
std::function<void()> later_write(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) -> std::function<void()> {
    using T = decltype(zero);
    return [values = x.mutable_values<T>()] {
      if constexpr (std::is_same_v<T, std::int64_t>)
        std::ranges::reverse(values);
      else
        for (T& value : values) value = value * T(3) + T(1);
    };
  });
}

struct PlannedFailure : std::exception {};

constexpr OpInfo failing_info{"failing", "y = x", "", "x"};

Tensor failing(const Tensor& x) {
  const Tensor y = x.clone();
  record(failing_info, [](Record&) { throw PlannedFailure(); }, {&x}, {&y});
  return y;
}

constexpr double use_scale = 0.5;

// The gradient that flows back to another use of an input.
Tensor cotangent_of_use(std::size_t input, const Shape& shape) { return Random(100 + input).normal(shape, f64); }

// The tensors from which the backward pass starts, and their cotangents.
struct Ends {
  Tensors outputs, cotangents;

  void add(const Tensor& output, const Tensor& cotangent) {
    if (!output.wants_gradient()) return;
    outputs.push_back(output);
    cotangents.push_back(converted(cotangent, output.dtype()));
  }
};

class CaseRun {
 public:
  CaseRun(const CheckedName& checked, const CheckCase& one, const CaseSetting& setting)
      : checked_(checked), case_(one), setting_(setting) {
    for (std::size_t k = 0; k < one.inputs.size(); ++k) leaves_.push_back(leaf_of(k));
  }

  CaseOutcome outcome() {
    if (setting_.fails_first) walk_and_fail();
    walk();
    if (setting_.used_up_in_between)
      for (const Tensor& leaf : leaves_) leaf.use_up_grad();
    if (setting_.walked_twice) walk();
    for (const Tensor& leaf : leaves_) result_.gradients.push_back(gradient_of(leaf));
    return result_;
  }

 private:
  Tensor leaf_of(std::size_t k) const {
    const Tensor& input = case_.inputs[k];
    if (input.dtype() == i64) return setting_.written_later ? input.clone() : input;
    Tensor leaf = converted(input, setting_.dtype);
    if (setting_.in_views) leaf = stack({zeros_like(leaf), leaf});
    return setting_.only < 0 || static_cast<std::size_t>(setting_.only) == k ? leaf.watch() : leaf;
  }

  Tensor input_of(const Tensor& leaf) const {
    if (leaf.dtype() == i64) return leaf;
    const Tensor input = setting_.in_views ? leaf[1] : leaf;
    return setting_.behind_identity ? identity(input) : input;
  }

  Numbers gradient_of(const Tensor& leaf) const {
    if (!leaf.has_grad()) return {};
    Numbers all = numbers_of(leaf.grad());
    if (setting_.in_views) all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    return all;
  }

  void walk() {
    Tape tape;
    Ends ends;
    std::vector<std::function<void()>> writes;
    for (const Tensor& leaf : leaves_)
      if (setting_.written_later) writes.push_back(later_write(leaf));
    record_case(ends);
    for (const Record* record : tape.records())
      result_.recorded_itself = result_.recorded_itself || checked_.name == record->op().name;
    for (const auto& write : writes) write();
    if (!ends.outputs.empty()) tape.backward(ends.outputs, ends.cotangents);
  }

  // The records of `failing` are the first, so the walk comes to them last.
  void walk_and_fail() {
    Tape tape;
    Ends ends;
    for (const Tensor& leaf : leaves_)
      if (leaf.wants_gradient()) ends.add(failing(leaf), leaf);
    record_case(ends);
    result_.outputs.clear();
    try {
      if (!ends.outputs.empty()) tape.backward(ends.outputs, ends.cotangents);
    } catch (const PlannedFailure&) {
    }
  }

  void record_case(Ends& ends) {
    Tensors inputs;
    for (const Tensor& leaf : leaves_) inputs.push_back(input_of(leaf));
    record_uses(setting_.before, inputs, ends);
    const Tensors outputs = case_.function(inputs);
    record_uses(setting_.after, inputs, ends);
    Random random(3);
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      const Tensor u = random.normal(outputs[j].shape(), 0, setting_.cotangent_factor, f64);
      result_.outputs.push_back(numbers_of(outputs[j]));
      if (setting_.only_output >= 0 && static_cast<std::size_t>(setting_.only_output) != j) continue;
      for (int use = 0; use < (setting_.output_twice ? 2 : 1); ++use) ends.add(end_of(outputs[j]), u);
    }
  }

  static void record_uses(InputUse use, const Tensors& inputs, Ends& ends) {
    for (std::size_t k = 0; k < inputs.size() && use != InputUse::none; ++k)
      if (inputs[k].wants_gradient())
        ends.add(use == InputUse::scaled ? scale(inputs[k], use_scale) : identity(inputs[k]),
                 cotangent_of_use(k, inputs[k].shape()));
  }

  // A scale gives the gradient of an output a buffer of its own.
  Tensor end_of(const Tensor& output) const {
    if (!output.wants_gradient()) return output;
    return setting_.let_go ? scale(output, 1) : setting_.output_twice ? identity(output) : output;
  }

  const CheckedName& checked_;
  const CheckCase& case_;
  const CaseSetting& setting_;
  Tensors leaves_;
  CaseOutcome result_;
};

}  // namespace

Numbers numbers_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    Numbers result;
    for (const auto value : x.values<decltype(zero)>()) result.push_back(static_cast<double>(value));
    return result;
  });
}

Tensor converted(const Tensor& x, Dtype dtype) {
  Tensor result = empty(x.shape(), dtype);
  const Numbers numbers = numbers_of(x);
  dispatch_real(dtype, "gradcheck", [&](auto zero) {
    using T = decltype(zero);
    std::size_t k = 0;
    for (T& value : result.mutable_values<T>()) value = static_cast<T>(numbers[k++]);
  });
  return result;
}

CaseOutcome run_case(const CheckedName& checked, const CheckCase& one, const CaseSetting& setting) {
  const DtypeScope scope(setting.dtype);
  return CaseRun(checked, one, setting).outcome();
}

std::vector<Numbers> with_uses(const std::vector<Numbers>& gradients, const CheckCase& one,
                               const CaseSetting& setting) {
  std::vector<Numbers> result = gradients;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    if (one.inputs[k].dtype() == i64) continue;
    const Numbers of_use = numbers_of(cotangent_of_use(k, one.inputs[k].shape()));
    result[k].resize(of_use.size());  // zeros where the case itself gives no gradient
    for (const InputUse use : {setting.before, setting.after})
      for (std::size_t n = 0; n < of_use.size() && use != InputUse::none; ++n)
        result[k][n] += (use == InputUse::scaled ? use_scale : 1) * of_use[n];
  }
  return result;
}

std::vector<Numbers> sum_over_outputs(const CheckedName& checked, const CheckCase& one, const CaseOutcome& plain) {
  std::vector<Numbers> sums(one.inputs.size());
  for (std::size_t j = 0; j < plain.outputs.size(); ++j) {
    const std::vector<Numbers> alone = run_case(checked, one, {.only_output = static_cast<int>(j)}).gradients;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k].resize(std::max(sums[k].size(), alone[k].size()));
      for (std::size_t n = 0; n < alone[k].size(); ++n) sums[k][n] += alone[k][n];
    }
  }
  return sums;
}

double distance(const std::vector<Numbers>& a, const std::vector<Numbers>& b, double factor) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double scale = 1e-6;
    for (const double x : a[k]) scale = std::max(scale, std::isfinite(x) ? std::abs(x) : 0);
    if (a[k].size() != b[k].size()) return INFINITY;
    for (std::size_t n = 0; n < a[k].size(); ++n) {
      if (a[k][n] * factor == b[k][n]) continue;
      const double error = std::abs(a[k][n] * factor - b[k][n]) / std::max(1.0, scale);
      if (is_worse(error, worst)) worst = error;
    }
  }
  return worst;
}

}  // namespace retrace
