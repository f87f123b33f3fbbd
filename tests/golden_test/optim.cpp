// Optimisers with given gradients, clipping and schedules.
#include <retrace/tests/golden_test/optimizers.h>

namespace retrace::golden {
namespace {

/// Leaves the gradients g in the parameters w.
void give_gradients(const Tensors& w, const Tensors& g) {
  Tape tape;
  Tensors outputs;
  for (const Tensor& x : w) outputs.push_back(identity(x));
  tape.backward(outputs, g);
}

/// A row of each tensor.
Tensors rows_of(const Tensors& tensors, std::int64_t row) {
  Tensors rows;
  for (const Tensor& x : tensors) rows.push_back(x[row].clone());
  return rows;
}

/// Parameters and states are named by their numbers: "0", "0.v".
NamedTensors run_optimizer(const std::string& name, const Arguments& c) {
  const Tensors w = c.numbered("w_"), g = c.numbered("g_");
  std::vector<NamedTensor> parameters;
  for (std::size_t k = 0; k < w.size(); ++k) parameters.push_back({std::to_string(k), w[k]});
  std::vector<Tensors> trajectories(w.size());
  NamedTensors result;
  with_optimizer(name, c, parameters, [&](auto& optimizer) {
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
      give_gradients(w, rows_of(g, step));
      optimizer.step();
      for (std::size_t k = 0; k < w.size(); ++k) trajectories[k].push_back(w[k].clone());
    }
    for (const OptimizerSlot& slot : optimizer.slots())
      for (const NamedTensor& state : slot.state)
        result.emplace(state.name.substr(slot.parameter.name.size() + 1) + "_" + slot.parameter.name, state.tensor);
  });
  for (std::size_t k = 0; k < w.size(); ++k) result.emplace(text("w_", k), stack(trajectories[k]));
  return result;
}

NamedTensors run_sgd(const Arguments& c) { return run_optimizer("sgd", c); }
NamedTensors run_momentum(const Arguments& c) { return run_optimizer("momentum", c); }
NamedTensors run_momentum_lr_inside(const Arguments& c) { return run_optimizer("momentum_lr_inside", c); }
NamedTensors run_rmsprop(const Arguments& c) { return run_optimizer("rmsprop", c); }
NamedTensors run_adam(const Arguments& c) { return run_optimizer("adam", c); }
NamedTensors run_adamw(const Arguments& c) { return run_optimizer("adamw", c); }
NamedTensors run_adagrad(const Arguments& c) { return run_optimizer("adagrad", c); }

/// One parameter per tensor, with that tensor as its gradient.
Tensors with_gradients(const Tensors& gradients) {
  Tensors parameters, given;
  for (const Tensor& gradient : gradients) {
    parameters.push_back(parameter(zeros_like(gradient)));
    given.push_back(gradient.detach());
  }
  give_gradients(parameters, given);
  return parameters;
}

NamedTensors run_clip_norm(const Arguments& c) {
  const std::string variant = c.attribute("variant", "exact");
  if (variant != "exact" && variant != "torch") throw Unsupported("no variant " + variant);
  const Tensors w = with_gradients(c.numbered("g_"));
  const double norm = clip_norm(w, c.number("max_norm"), variant == "exact" ? ClipRule::exact : ClipRule::with_epsilon);
  NamedTensors result{{"norm", full({}, norm, f64)}};
  for (std::size_t k = 0; k < w.size(); ++k) result.emplace(text("g_", k), w[k].grad());
  return result;
}
NamedTensors run_clip_value(const Arguments& c) {
  const Tensors w = with_gradients({c["g"]});
  clip_value(w, c.number("c"));
  return {{"g", w[0].grad()}};
}

template <class Schedule> NamedTensors rates_of(const Schedule& schedule, std::int64_t steps) {
  Tensor rates = empty({steps}, f64);
  for (std::int64_t t = 0; t < steps; ++t) rates.mutable_values<double>()[static_cast<std::size_t>(t)] = schedule(t);
  return {{"lr", rates}};
}
NamedTensors run_schedule(const Arguments& c) {
  const std::int64_t steps = c.integer("n");
  if (c.has_attribute("every"))
    return rates_of(StepDecay{.base = c.number("base"), .gamma = c.number("gamma"), .every = c.integer("every")},
                    steps);
  return rates_of(
      WarmUpCosine{.base = c.number("base"), .min = c.number("min", 0), .warm_up = c.integer("warmup"), .steps = steps},
      steps);
}

}  // namespace

Adapters optim_adapters() {
  return {{"opt_sgd", run_sgd},
          {"opt_momentum", run_momentum},
          {"opt_momentum_lr_inside", run_momentum_lr_inside},
          {"opt_rmsprop", run_rmsprop},
          {"opt_adam", run_adam},
          {"opt_adamw", run_adamw},
          {"opt_adagrad", run_adagrad},
          {"clip_global_norm", run_clip_norm},
          {"clip_value", run_clip_value},
          {"lr_schedule", run_schedule}};
}

}  // namespace retrace::golden
