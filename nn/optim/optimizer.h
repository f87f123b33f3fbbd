// The base of the optimisers. A step checks every gradient, then updates each parameter in one pass. It consumes the
// gradients: they can still be read, but the next backward overwrites them.
//
// Parameters in groups have options of their own. A schedule scales the learning rates of all groups together:
//
//   AdamW adam({{parameters(body), {.lr = 1e-4}}, {parameters(head), {.lr = 1e-3}}});
//   const WarmUpCosine schedule{.base = 1, .warm_up = 100, .steps = 10000};
//   adam.scale_learning_rates(schedule(step));  // before each step
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/tape/unvisited.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// Parameters that share options.
template <class Options> struct ParameterGroup {
  std::vector<NamedTensor> parameters;
  Options options;
};

/// A parameter and the optimiser's state for it ("m", "v", ...), in the order of the options' state_names().
struct OptimizerSlot {
  NamedTensor parameter;
  std::vector<NamedTensor> state;
  std::size_t group = 0;
  std::int64_t updates = 0;  // made of this parameter: fewer than steps() if it was frozen or had no gradient
};

/// The interface of every optimiser.
class AnyOptimizer {
 public:
  AnyOptimizer() = default;
  AnyOptimizer(const AnyOptimizer&) = delete;
  AnyOptimizer& operator=(const AnyOptimizer&) = delete;
  virtual ~AnyOptimizer() = default;

  /// Updates every parameter by its gradient, except those that are frozen now: they may become frozen, or unfrozen,
  /// after the optimiser was made. A gradient that a parameter got before it was frozen is used up, not applied. If it
  /// throws, nothing is changed, and the error names the parameter. Throws
  ///  - TapeError if a parameter that is not frozen has no gradient since the last step, unless allow_missing;
  ///  - ValueError if a gradient has a NaN or an infinity, or is of a loss that was NaN, unless allow_nonfinite;
  ///  - TapeError if a parameter that no optimiser has got a gradient on a tape with parameters that one has, unless
  ///    allow_unvisited: a member missing from visit() would otherwise never be trained. Frozen parameters, watched
  ///    leaves and tapes without parameters of an optimiser are ignored;
  ///  - DtypeError if the dtype of a parameter differs from that of its state.
  virtual void step() = 0;
  /// "adam", ...: a file of a training with an optimiser of another name is refused (nn/files/training_file.h).
  virtual const char* name() const { return "optimizer"; }

  /// The number of groups, and the learning rate that the next step uses for one of them. Throws IndexError if there is
  /// no such group.
  std::size_t groups() const { return base_rates_.size(); }
  double learning_rate(std::size_t group = 0) const {
    check_group("learning_rate", group);
    return rate(group);
  }
  /// Sets the learning rate of every group, or of one, until the next call of these functions. Throws ValueError unless
  /// it is finite and at least 0.
  void set_learning_rate(double lr);
  void set_learning_rate(double lr, std::size_t group);
  /// Sets the learning rate of every group to factor times the rate with which it was made, whatever was set since, so
  /// that the ratios of the groups remain (LambdaLR of PyTorch). Throws ValueError unless the factor is finite and at
  /// least 0.
  void scale_learning_rates(double factor);

  /// The number of steps made so far.
  std::int64_t steps() const { return steps_; }
  /// All parameters with their state, in the order of the groups. Save these to resume later.
  const std::vector<OptimizerSlot>& slots() const { return slots_; }
  /// Continues as after `steps` steps, each of which updated every parameter. Copy the state saved at that point into
  /// the tensors of slots() first.
  void resume(std::int64_t steps);

  /// The state to save in addition to the tensors of slots().
  struct Standing {
    std::int64_t steps = 0;
    std::vector<std::int64_t> updates;   // of each slot
    std::vector<double> learning_rates;  // of each group
  };
  Standing standing() const;
  /// Continues from there. Throws ValueError if it is of another number of slots or groups, or has a count below 0 or a
  /// learning rate that set_learning_rate refuses.
  void resume(const Standing& standing);

 protected:
  /// The learning rate of a group in its options.
  virtual double rate(std::size_t group) const = 0;
  virtual void set_rate(std::size_t group, double lr) = 0;
  void check_group(const char* function, std::size_t group) const;
  static void check_finite(const NamedTensor& parameter);
  static void check_loss(const NamedTensor& parameter);
  static void check_all_visited(bool allow_unvisited);

  std::vector<OptimizerSlot> slots_;
  std::vector<double> base_rates_;  // of the groups, as they were made
  std::int64_t steps_ = 0;
};

/// The base of all optimisers. `Options` has lr, allow_missing, allow_nonfinite, allow_unvisited and state_names(), or
/// state_names(parameter) where that depends on the parameter, and may have state_shape(name, shape of the parameter)
/// for state of another shape than the parameter's, and check(), which throws ValueError for invalid options; the
/// derived class defines the update of one parameter.
template <class Options> class Optimizer : public AnyOptimizer {
 public:
  /// Updates all parameters of the module, with the same options.
  template <Module M>
  explicit Optimizer(const M& module, const Options& options = {}) : Optimizer(parameters(module), options) {}
  /// Updates a list of parameters. Throws ValueError if one is undefined, or an option is invalid.
  explicit Optimizer(std::vector<NamedTensor> parameters, const Options& options = {})
      : Optimizer(std::vector<ParameterGroup<Options>>{{std::move(parameters), options}}) {}
  /// Updates several groups of parameters, each with options of its own. Throws ValueError if one is undefined, or
  /// an option is invalid.
  explicit Optimizer(const std::vector<ParameterGroup<Options>>& groups) {
    for (const ParameterGroup<Options>& group : groups) {
      if constexpr (requires { group.options.check(); }) group.options.check();
      for (const NamedTensor& parameter : group.parameters) {
        check_defined("optimizer", parameter.tensor, parameter.name.c_str());
        OptimizerSlot slot{.parameter = parameter, .state = {}, .group = options_.size()};
        for (const char* name : state_names(group.options, parameter.tensor))
          slot.state.push_back({text(parameter.name, ".", name), initial_state(group.options, name, parameter.tensor)});
        slots_.push_back(std::move(slot));
      }
      options_.push_back(group.options);
      base_rates_.push_back(group.options.lr);
    }
    for (const OptimizerSlot& slot : slots_) has_optimizer(slot.parameter.tensor);
  }

  void step() override {
    for (const OptimizerSlot& slot : slots_)
      if (slot.parameter.tensor.wants_gradient()) check(slot);
    for (const OptimizerSlot& slot : slots_)
      if (!options_[slot.group].allow_nonfinite) check_loss(slot.parameter);
    check_all_visited(std::ranges::any_of(options_, &Options::allow_unvisited));
    ++steps_;
    for (OptimizerSlot& slot : slots_) {
      const Tensor& tensor = slot.parameter.tensor;
      if (!tensor.has_unused_grad()) continue;
      if (tensor.wants_gradient()) {
        ++slot.updates;
        update(slot, options_[slot.group]);
      }
      tensor.use_up_grad();
    }
  }

 protected:
  /// Updates one parameter by its gradient; slot.updates counts this update, too.
  virtual void update(OptimizerSlot& slot, const Options& options) = 0;

 private:
  void check(const OptimizerSlot& slot) const {
    const auto& [name, tensor] = slot.parameter;
    for (const NamedTensor& state : slot.state)
      if (state.tensor.dtype() != tensor.dtype())
        throw DtypeError(text("step: parameter ", name, " ", tensor.shape(), " is ", tensor.dtype(),
                              ", but the optimiser's state is ", state.tensor.dtype(),
                              "; make the optimiser after converting the model"));
    const Options& options = options_[slot.group];
    if (tensor.has_unused_grad()) {
      if (!options.allow_nonfinite) check_finite(slot.parameter);
    } else if (!options.allow_missing) {
      throw TapeError(text("step: parameter ", name, " ", tensor.shape(),
                           " has no gradient since the last step; call backward on a loss that depends on it, or set "
                           "allow_missing"));
    }
  }
  static std::vector<const char*> state_names(const Options& options, const Tensor& parameter) {
    if constexpr (requires { options.state_names(parameter); })
      return options.state_names(parameter);
    else
      return options.state_names();
  }
  static Tensor initial_state(const Options& options, const char* name, const Tensor& parameter) {
    if constexpr (requires { options.state_shape(name, parameter.shape()); })
      return zeros(options.state_shape(name, parameter.shape()), parameter.dtype());
    else
      return zeros_like(parameter);
  }
  double rate(std::size_t group) const override { return options_[group].lr; }
  void set_rate(std::size_t group, double lr) override { options_[group].lr = lr; }

  std::vector<Options> options_;
};

}  // namespace retrace
