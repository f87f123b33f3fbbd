// The base of the optimisers. A step checks every gradient, then updates each parameter in one pass. It consumes the
// gradients: they can still be read, but the next backward overwrites them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/unvisited.h>
#include <retrace/nn/module.h>

namespace retrace {

/// Parameters that share options.
template <class Options> struct ParameterGroup {
  std::vector<NamedTensor> parameters;
  Options options;
};

/// A parameter and the optimiser's state for it ("m", "v", ...), in the order of Options::state_names().
struct OptimizerSlot {
  NamedTensor parameter;
  std::vector<NamedTensor> state;
  std::size_t group = 0;
};

/// The interface of every optimiser.
class AnyOptimizer {
 public:
  AnyOptimizer() = default;
  AnyOptimizer(const AnyOptimizer&) = delete;
  AnyOptimizer& operator=(const AnyOptimizer&) = delete;
  virtual ~AnyOptimizer() = default;

  /// Updates every parameter by its gradient. If it throws, nothing is changed, and the error names the parameter.
  /// Throws
  ///  - TapeError if a parameter has no gradient since the last step, unless allow_missing;
  ///  - ValueError if a gradient has a NaN or an infinity, unless allow_nonfinite;
  ///  - TapeError if a parameter that no optimiser has got a gradient on a tape with parameters that one has, unless
  ///    allow_unvisited: a member missing from visit() would otherwise never be trained. Frozen parameters, watched
  ///    leaves and tapes without parameters of an optimiser are ignored;
  ///  - DtypeError if the dtype of a parameter differs from that of its state.
  virtual void step() = 0;
  /// Sets the learning rate of every group.
  virtual void set_learning_rate(double lr) = 0;

  /// The number of steps made so far.
  std::int64_t steps() const { return steps_; }
  /// All parameters with their state, in the order of the groups. Save these to resume later.
  const std::vector<OptimizerSlot>& slots() const { return slots_; }
  /// Continues as after `steps` steps. Copy the state saved at that point into the tensors of slots() first.
  void resume(std::int64_t steps) { steps_ = steps; }

 protected:
  static void check_finite(const NamedTensor& parameter);
  static void check_all_visited(bool allow_unvisited);

  std::vector<OptimizerSlot> slots_;
  std::int64_t steps_ = 0;
};

/// The base of all optimisers. `Options` has lr, allow_missing, allow_nonfinite, allow_unvisited and state_names(); the
/// derived class defines the update of one parameter.
template <class Options> class Optimizer : public AnyOptimizer {
 public:
  /// Updates all parameters of the module, with the same options.
  template <Module M>
  explicit Optimizer(const M& module, const Options& options = {}) : Optimizer(parameters(module), options) {}
  /// Updates a list of parameters. Throws ValueError if one is undefined.
  explicit Optimizer(std::vector<NamedTensor> parameters, const Options& options = {})
      : Optimizer(std::vector<ParameterGroup<Options>>{{std::move(parameters), options}}) {}
  /// Updates several groups of parameters, each with options of its own. Throws ValueError if one is undefined.
  explicit Optimizer(const std::vector<ParameterGroup<Options>>& groups) {
    for (const ParameterGroup<Options>& group : groups) {
      for (const NamedTensor& parameter : group.parameters) {
        check_defined("optimizer", parameter.tensor, parameter.name.c_str());
        OptimizerSlot slot{parameter, {}, options_.size()};
        for (const char* name : group.options.state_names())
          slot.state.push_back({text(parameter.name, ".", name), zeros_like(parameter.tensor)});
        slots_.push_back(std::move(slot));
      }
      options_.push_back(group.options);
    }
    for (const OptimizerSlot& slot : slots_) has_optimizer(slot.parameter.tensor);
  }

  void step() override {
    for (const OptimizerSlot& slot : slots_) check(slot);
    check_all_visited(std::ranges::any_of(options_, &Options::allow_unvisited));
    ++steps_;
    for (OptimizerSlot& slot : slots_) {
      if (!slot.parameter.tensor.has_unused_grad()) continue;
      update(slot, options_[slot.group]);
      slot.parameter.tensor.use_up_grad();
    }
  }
  void set_learning_rate(double lr) override {
    for (Options& options : options_) options.lr = lr;
  }

 protected:
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

  std::vector<Options> options_;
};

}  // namespace retrace
