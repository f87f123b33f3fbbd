#include <retrace/nn/optim/optimizer.h>

#include <retrace/core/tensor/finite_check.h>
#include <retrace/nn/optim/number_range.h>
#include <retrace/ops/kernels/run.h>

namespace retrace {
namespace {

constexpr const char* where_to_look =
    "; Tape({.check_finite = true}) finds the op where it begins, zero_grad skips this step, and allow_nonfinite takes "
    "it";

[[noreturn]] void throw_nonfinite(const NamedTensor& parameter, const void* gradient) {
  const Shape& shape = parameter.tensor.shape();
  const Dtype dtype = parameter.tensor.dtype();
  const std::int64_t position = find_nonfinite(gradient, shape.numel(), dtype);
  throw ValueError(text("step: the gradient of parameter ", parameter.name, " ", shape, " is ",
                        element_text(gradient, shape, dtype, position), where_to_look));
}

void check_rate(const char* function, double lr) {
  check_number(function, "the learning rate", lr, not_negative, "such as 1e-3; look at the schedule that gave it");
}

}  // namespace

void AnyOptimizer::set_learning_rate(double lr) {
  check_rate("set_learning_rate", lr);
  for (std::size_t group = 0; group < groups(); ++group) set_rate(group, lr);
}

void AnyOptimizer::set_learning_rate(double lr, std::size_t group) {
  check_group("set_learning_rate", group);
  check_rate("set_learning_rate", lr);
  set_rate(group, lr);
}

void AnyOptimizer::scale_learning_rates(double factor) {
  check_number("scale_learning_rates", "the factor", factor, not_negative, "such as schedule(step) with base 1");
  for (const double base : base_rates_) check_rate("scale_learning_rates", base * factor);
  for (std::size_t group = 0; group < groups(); ++group) set_rate(group, base_rates_[group] * factor);
}

void AnyOptimizer::resume(std::int64_t steps) {
  check_number("resume", "the number of steps", steps, not_negative);
  steps_ = steps;
  for (OptimizerSlot& slot : slots_) slot.updates = steps;
}

AnyOptimizer::Standing AnyOptimizer::standing() const {
  Standing result{.steps = steps_, .updates = {}, .learning_rates = {}};
  for (const OptimizerSlot& slot : slots_) result.updates.push_back(slot.updates);
  for (std::size_t group = 0; group < groups(); ++group) result.learning_rates.push_back(rate(group));
  return result;
}

void AnyOptimizer::resume(const Standing& standing) {
  if (standing.updates.size() != slots_.size() || standing.learning_rates.size() != groups())
    throw ValueError(text("resume: the standing is of ", standing.updates.size(), " parameters in ",
                          standing.learning_rates.size(), " groups, the optimiser has ", slots_.size(), " in ",
                          groups(), "; make it as it was made before"));
  for (const double lr : standing.learning_rates) check_rate("resume", lr);
  check_number("resume", "the number of steps", standing.steps, not_negative);
  for (const std::int64_t updates : standing.updates)
    check_number("resume", "the number of updates", updates, not_negative);
  steps_ = standing.steps;
  for (std::size_t k = 0; k < slots_.size(); ++k) slots_[k].updates = standing.updates[k];
  for (std::size_t group = 0; group < groups(); ++group) set_rate(group, standing.learning_rates[group]);
}

void AnyOptimizer::check_group(const char* function, std::size_t group) const {
  if (group < groups()) return;
  throw IndexError(text(function, ": there is no group ", group, "; the optimiser has ", groups(), ", counted from 0"));
}

void AnyOptimizer::check_finite(const NamedTensor& parameter) {
  dispatch_real(parameter.tensor.dtype(), "step", [&](auto zero) {
    using T = decltype(zero);
    const T* gradient = parameter.tensor.grad_values<T>().data();
    bool are_finite = true;
    kernels::run<T>(&kernels::KernelTable::check_finite, plain::check_finite<T>,
                    {.x = gradient, .count = parameter.tensor.numel(), .are_finite = &are_finite});
    if (!are_finite) throw_nonfinite(parameter, gradient);
  });
}

void AnyOptimizer::check_loss(const NamedTensor& parameter) {
  if (!parameter.tensor.wants_gradient() || !parameter.tensor.has_grad_of_nan()) return;
  throw ValueError(text("step: the loss was nan, though the gradient of parameter ", parameter.name, " ",
                        parameter.tensor.shape(), " is finite", where_to_look));
}

void AnyOptimizer::check_all_visited(bool allow_unvisited) {
  const std::vector<UnvisitedParameter> unvisited = take_unvisited();
  if (allow_unvisited || unvisited.empty()) return;
  const auto& [parameter, use] = unvisited.front();
  throw TapeError(
      text("step: a parameter ", parameter, " that ", use,
           " takes got a gradient, but no optimiser has it; name it in visit() of its module, freeze it if "
           "it is not to be trained, watch() a leaf instead of making it a parameter, make an optimiser for "
           "it before the step, or set allow_unvisited"));
}

}  // namespace retrace
