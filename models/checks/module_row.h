// A row of the table, and functions that make its cases. Only this folder includes it. A case's inputs are all weights
// of a module and its input x; the check moves their values in place, in the module that the case's function holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <retrace/nn/nn.h>
#include <retrace/ops/checks/check_case.h>

namespace retrace::module_checks {

using Cases = CheckCases;

inline constexpr std::string_view listed_modules[] = {
#define MODULE(name) #name,
#define VARIANT(name, module) #name,
#define PART(name, module)
#include <retrace/nn/modules.def>
#undef MODULE
#undef VARIANT
#undef PART
};

/// The module of a row. Any name that modules.def does not list does not compile.
struct ModuleName {
  std::string_view text;
  consteval ModuleName(const char* name) : text(found(name)) {}

 private:
  static constexpr std::string_view found(std::string_view name) {
    for (const std::string_view module : listed_modules)
      if (module == name) return module;
    throw "modules.def lists no MODULE and no VARIANT of this name";
  }
};

/// A row: a module of nn and its cases, whose weights and points are drawn when it is called.
struct ModuleChecks {
  ModuleName name;
  Cases (*cases)();
};
/// A row: a network of models.
struct NetworkChecks {
  std::string_view name;
  Cases (*cases)();
};

// ---- modules and points

/// Rows draw from one generator, in the order of the table, unless they have one of their own.
inline Random& numbers() {
  static Random random;
  return random;
}

inline constexpr std::int64_t steps = 20;  // of time
inline const Shape sequence{2, steps, 3};

template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments) {
  return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}
/// The module with all weights drawn anew, biases too: where they begin so small that gradients drown in roundings.
template <class M> std::shared_ptr<M> with_larger_weights(std::shared_ptr<M> module, Random& random = numbers()) {
  for_each_parameter(*module, [&](const Path&, const Tensor& weight) {
    copy_values(random.normal(weight.shape(), 0, 0.7, f64), weight);
  });
  return module;
}

// ---- one case

/// The case f(module, x); weights go by their paths.
template <class M, class F> CheckCase of(const std::shared_ptr<M>& module, const Tensor& x, F f) {
  CheckCase result{.function = {}, .inputs = {}, .holds_inputs = true};
  for (const NamedTensor& parameter : parameters(*module)) {
    result.inputs.push_back(parameter.tensor);
    result.names.push_back(parameter.name);
  }
  result.inputs.push_back(x);
  result.names.push_back("x");
  result.function = [module, f](const Tensors& in) { return f(*module, in.back()); };
  return result;
}
/// The case with an x of random numbers, drawn after the module's weights.
template <class M, class F>
CheckCase of(const std::shared_ptr<M>& module, const Shape& x, F f, Random& random = numbers()) {
  return of(module, random.normal(x), f);
}

// ---- functions of a module and x

inline constexpr auto result = [](const auto& module, const Tensor& x) { return Tensors{module(x)}; };
inline constexpr auto result_y = [](const auto& module, const Tensor& x) { return Tensors{module(x).y}; };
inline constexpr auto last_answers = [](const auto& module, const Tensor& x) { return Tensors{module.answers(x, 3)}; };

/// The memory after some steps that all read x.
template <class M> Tensors memory_after(std::int64_t count, const M& module, Tensor memory, const Tensor& x) {
  for (std::int64_t t = 0; t < count; ++t) memory = module(memory, x).memory;
  return {memory};
}
inline constexpr auto from_initial_memory = [](const auto& module, const Tensor& x) {
  return memory_after(steps, module, module.initial_memory(2), x);
};
/// From a memory that is no symmetric point.
inline constexpr auto from_random_memory = [](const auto& module, const Tensor& x) {
  Random start(11);
  const Shape shape{2, module.options.slots, module.options.slot_size};
  return memory_after(steps, module, start.normal(shape, f64).to(x.dtype()), x);
};

inline RelationalMemoryCoreOptions core_options(MemoryGate gate, int blocks,
                                                const RelationalMemoryCoreVariant& variant = {}) {
  return {.slots = 2, .head_size = 2, .heads = 2, .key_size = 1, .blocks = blocks, .gate = gate, .variant = variant};
}

}  // namespace retrace::module_checks
