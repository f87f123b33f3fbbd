// What all models of a sequence have in common, and the models by name.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/random.h>
#include <retrace/models/networks/memory_parts.h>
#include <retrace/models/networks/memory_trace.h>
#include <retrace/nn/module.h>

namespace retrace {

/// Reads a sequence and answers after its last row, or after each of its last rows. A module as any other: parameters,
/// save, load, optimisers work on it.
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  SequenceModel(const SequenceModel&) = delete;
  SequenceModel& operator=(const SequenceModel&) = delete;

  /// x [B, T, I] -> [B, O].
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// The same after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  virtual Tensor answers(const Tensor& x, std::int64_t count) const = 0;
  /// What its memory does over x, if it has one.
  virtual std::optional<MemoryTrace> trace(const Tensor& /*x*/) const { return std::nullopt; }
  void visit(auto&& see) const {
    for (const NamedTensor& parameter : parameters_) see(parameter.name.c_str(), parameter.tensor);
  }

 protected:
  SequenceModel() = default;
  std::vector<NamedTensor> parameters_;  // of the module behind this face
};

/// [B, count, O] of a model that only answers after the last row: its answers to x[:, :T - count + 1], ..., x[:, :T].
/// Throws ShapeError unless count is 1 to T.
Tensor answers_to_prefixes(const SequenceModel& model, const Tensor& x, std::int64_t count);

/// A module with operator()(x [B, T, I]) -> [B, O] as a SequenceModel. Where it has answers(x, count) -> [B, count, O],
/// too, one run gives them all; where it has trace(x) -> MemoryTrace, `retrace eval` tells what its memory does.
template <Module M> class SequenceModelOf final : public SequenceModel {
 public:
  template <class... Arguments>
  explicit SequenceModelOf(Arguments&&... arguments) : module_(std::forward<Arguments>(arguments)...) {
    parameters_ = parameters(module_);
  }
  Tensor operator()(const Tensor& x) const override { return module_(x); }
  Tensor answers(const Tensor& x, std::int64_t count) const override {
    if constexpr (requires { module_.answers(x, count); })
      return module_.answers(x, count);
    else
      return answers_to_prefixes(*this, x, count);
  }
  std::optional<MemoryTrace> trace(const Tensor& x) const override {
    if constexpr (requires { module_.trace(x); })
      return module_.trace(x);
    else
      return std::nullopt;
  }
  const M& module() const { return module_; }

 private:
  M module_;
};

struct ModelSizes {
  std::int64_t input = 1;
  std::int64_t hidden = 64;
  std::int64_t output = 1;
  std::int64_t slot_size = 64;       // of a relational memory, or of an rmc
  std::int64_t slots = 4;            // of either
  int heads = 2;                     // of either
  std::int64_t time = 64;            // the longest sequence, for models that know positions
  std::string_view memory = "cell";  // beside a relational-rnn: cell, gated or notebook
  MemoryParts parts = {};            // of either, as far as memory_choices() has them
};

using ModelFactory = std::function<std::unique_ptr<SequenceModel>(const ModelSizes&, Random&)>;
/// Adds a model of your own to those that make_model, and so `retrace train`, `compare`, `gradcheck` and `info`, know.
/// Throws ValueError for a name that is taken or cannot be written on a command line, and for no factory. Not while
/// another thread uses these functions.
void register_model(std::string_view name, ModelFactory factory);
/// The same for a module that its sizes and a generator make: register_model<MyModel>("my-model").
template <Module M>
requires std::constructible_from<M, const ModelSizes&, Random&>
void register_model(std::string_view name) {
  register_model(name, [](const ModelSizes& sizes, Random& random) {
    return std::make_unique<SequenceModelOf<M>>(sizes, random);
  });
}

/// The names that make_model knows, those of them that were registered, and those of the memories beside a
/// relational-rnn. The first two hold until the next one is registered.
std::span<const std::string_view> model_names();
std::span<const std::string_view> registered_model_names();
std::span<const std::string_view> memory_names();
/// A model of the default dtype; its weights are drawn from `random`. Throws ValueError, with the nearest right name,
/// for one that is not known.
std::unique_ptr<SequenceModel> make_model(std::string_view name, const ModelSizes& sizes, Random& random);

}  // namespace retrace
