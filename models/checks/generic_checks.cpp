#include <retrace/models/checks/generic_checks.h>

#include <algorithm>
#include <cmath>

#include <retrace/core/random.h>
#include <retrace/core/tape.h>
#include <retrace/core/threads_scope.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    Numbers result;
    for (const auto value : x.values<decltype(zero)>()) result.push_back(static_cast<double>(value));
    return result;
  });
}

// How a case is run.
struct Setting {
  Dtype dtype = f64;
  bool behind_identity = false;
  bool output_twice = false;
  double cotangent_factor = 1;
  int only = -1;  // the one input that wants a gradient
};

struct Outcome {
  std::vector<Numbers> outputs, gradients;  // a gradient for each input, empty if it wants none
  bool recorded_itself = false;
};

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

Outcome run(const CheckedName& checked, const CheckCase& one, const Setting& setting) {
  const DtypeScope scope(setting.dtype);
  Tensors leaves, inputs;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    const Tensor& input = one.inputs[k];
    const bool wanted = input.dtype() != i64 && (setting.only < 0 || static_cast<std::size_t>(setting.only) == k);
    leaves.push_back(input.dtype() == i64 ? input : converted(input, setting.dtype));
    if (wanted) leaves.back().watch();
  }
  Outcome result;
  Tape tape;
  for (const Tensor& leaf : leaves) inputs.push_back(setting.behind_identity && leaf.dtype() != i64 ? identity(leaf) : leaf);
  Tensors outputs = one.function(inputs);
  Random random(3);
  Tensors differentiable, cotangents;
  for (const Tensor& output : outputs) {
    result.outputs.push_back(numbers_of(output));
    const Tensor u = converted(random.normal(output.shape(), 0, setting.cotangent_factor, f64), output.dtype());
    for (int use = 0; use < (setting.output_twice ? 2 : 1); ++use)
      if (output.wants_gradient()) {
        differentiable.push_back(setting.output_twice ? identity(output) : output);
        cotangents.push_back(u);
      }
  }
  for (const Record* record : tape.records())
    result.recorded_itself = result.recorded_itself || checked.name == record->op().name;
  if (!differentiable.empty()) tape.backward(differentiable, cotangents);
  for (const Tensor& leaf : leaves)
    result.gradients.push_back(leaf.has_grad() ? numbers_of(leaf.grad()) : Numbers{});
  return result;
}

double distance(const std::vector<Numbers>& a, const std::vector<Numbers>& b, double factor = 1) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double scale = 1e-6;
    for (const double x : a[k]) scale = std::max(scale, std::isfinite(x) ? std::abs(x) : 0);
    if (a[k].size() != b[k].size()) return INFINITY;
    for (std::size_t n = 0; n < a[k].size(); ++n)
      if (a[k][n] * factor != b[k][n]) worst = std::max(worst, std::abs(a[k][n] * factor - b[k][n]) / std::max(1.0, scale));
  }
  return worst;
}

}  // namespace

std::vector<std::string> generic_failures(const CheckedName& checked, const CheckCase& one) {
  std::vector<std::string> failures;
  const auto expect = [&](bool holds, const std::string& rule) {
    if (!holds) failures.push_back(text(checked.name, ": ", rule));
  };
  std::vector<Numbers> inputs;
  for (const Tensor& input : one.inputs) inputs.push_back(numbers_of(input));
  const auto run_on = [&](int count) {
    const ThreadsScope scope(count);
    return run(checked, one, {});
  };
  const Outcome plain = run_on(1), again = run_on(2);
  expect(!checked.is_op || plain.recorded_itself, "the op did not record itself under its name");
  expect(distance(plain.outputs, again.outputs) == 0 && distance(plain.gradients, again.gradients) == 0,
         "a second run, on two threads, gave other bits");
  expect(distance(plain.gradients, run(checked, one, {.behind_identity = true}).gradients) == 0,
         "inputs behind identity get other gradients than leaves");
  expect(distance(plain.gradients, run(checked, one, {.output_twice = true}).gradients, 2) < 1e-12,
         "outputs used twice do not give twice the gradient");
  for (const Numbers& gradient : run(checked, one, {.cotangent_factor = 0}).gradients)
    expect(std::ranges::all_of(gradient, [](double g) { return g == 0; }), "a zero cotangent gives a gradient");
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    if (one.inputs[k].dtype() == i64) continue;
    const Outcome alone = run(checked, one, {.only = static_cast<int>(k)});
    expect(distance({plain.gradients[k]}, {alone.gradients[k]}) == 0,
           text("input ", k, " alone gets another gradient than beside the others"));
  }
  const Outcome single = run(checked, one, {.dtype = f32});
  expect(distance(plain.outputs, single.outputs) < 1e-4 && distance(plain.gradients, single.gradients) < 1e-3,
         "f32 does not agree with f64");
  for (std::size_t k = 0; k < inputs.size(); ++k)
    expect(distance({inputs[k]}, {numbers_of(one.inputs[k])}) == 0, text("input ", k, " was changed"));
  return failures;
}

}  // namespace retrace
