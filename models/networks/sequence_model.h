// The interface of all sequence models, and the models by name.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/models/networks/memory_trace.h>
#include <retrace/models/networks/model_choices.h>
#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/sequence_state.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/module/names.h>

namespace retrace {

/// Reads a sequence and answers after its last row, or after each of its last rows. A module like any other:
/// parameters(), save(), load() and optimisers work on it.
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  SequenceModel(const SequenceModel&) = delete;
  SequenceModel& operator=(const SequenceModel&) = delete;

  /// x [B, T, I] -> [B, O]. In training, dropout draws from `random`; null turns it off, as in evaluation.
  virtual Tensor operator()(const Tensor& x, Random* random = nullptr) const = 0;
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  virtual Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const = 0;
  /// Goes on from a state: reads x [B, T, I] after the rows that led to it, and answers after each row. The answers to
  /// segments one after the other are those of answers() to all their rows at once, if an answer depends on no later
  /// row. Throws ShapeError for a state of another model or batch. A model without a state of its own keeps all rows
  /// and reads them again.
  virtual Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const;
  /// Whether a segment of a text begins with the state after the one before (ModelChoices::carried), in training, too.
  virtual bool carries_state() const { return false; }
  /// Ids [B, T] (i64) of a text as the rows that its layers read, [B, T, I]; it also reads these. Other x stay as they
  /// are.
  virtual Tensor embedded(const Tensor& x) const { return x; }
  /// The trace of its memory over x, if it has one.
  virtual std::optional<MemoryTrace> trace(const Tensor& /*x*/) const { return std::nullopt; }
  /// Its states after each row of x, and the answers after all of them. Of a model that shows no states, only the
  /// answers, as a state "y".
  virtual StatesOverTime states(const Tensor& x) const;
  /// The names of its parameters and of the modules in it.
  virtual Names names() const { return names_of(*this); }
  void visit(auto&& see) const {
    for (const NamedTensor& parameter : parameters_) see(parameter.name.c_str(), parameter.tensor);
  }

 protected:
  SequenceModel() = default;
  std::vector<NamedTensor> parameters_;  // of the module that implements this interface
};

/// [B, count, O] of a model that only answers after the last row: its answers to x[:, :T - count + 1], ..., x[:, :T].
/// Throws ShapeError unless count is 1 to T.
Tensor answers_to_prefixes(const SequenceModel& model, const Tensor& x, std::int64_t count, Random* random = nullptr);

/// A module with operator()(x [B, T, I]) -> [B, O] as a SequenceModel. Where it has answers(x, count) -> [B, count, O],
/// too, one run gives them all; where it has continued(x, state, random) -> Continued, a text is continued from that
/// state; where it has trace(x) -> MemoryTrace, `retrace eval` reports on its memory; where it has states(x) ->
/// StatesOverTime, `retrace study --gradient-flow` shows the gradients of its states. A module with dropout takes a
/// Random*, null for evaluation, as the last argument of operator() and of answers().
template <Module M> class SequenceModelOf final : public SequenceModel {
 public:
  template <class... Arguments>
  explicit SequenceModelOf(Arguments&&... arguments) : module_(std::forward<Arguments>(arguments)...) {
    parameters_ = parameters(module_);
  }
  Tensor operator()(const Tensor& x, Random* random = nullptr) const override {
    if constexpr (requires { module_(x, random); })
      return module_(x, random);
    else
      return module_(x);
  }
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const override {
    if constexpr (requires { module_.answers(x, count, random); })
      return module_.answers(x, count, random);
    else if constexpr (requires { module_.answers(x, count); })
      return module_.answers(x, count);
    else
      return answers_to_prefixes(*this, x, count, random);
  }
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const override {
    if constexpr (requires { module_.continued(x, state, random); })
      return module_.continued(x, state, random);
    else
      return SequenceModel::continued(x, state, random);
  }
  bool carries_state() const override {
    if constexpr (requires { module_.carries_state(); })
      return module_.carries_state();
    else
      return false;
  }
  Tensor embedded(const Tensor& x) const override {
    if constexpr (requires { module_.embedded(x); })
      return module_.embedded(x);
    else
      return x;
  }
  std::optional<MemoryTrace> trace(const Tensor& x) const override {
    if constexpr (requires { module_.trace(x); })
      return module_.trace(x);
    else
      return std::nullopt;
  }
  StatesOverTime states(const Tensor& x) const override {
    if constexpr (requires { module_.states(x); })
      return module_.states(x);
    else
      return SequenceModel::states(x);
  }
  Names names() const override {
    if constexpr (requires { module_.names(); })
      return module_.names();
    else
      return names_of(module_);
  }
  const M& module() const { return module_; }

 private:
  M module_;
};

/// Makes a model of the sizes with weights drawn from the generator.
using ModelFactory = std::function<std::unique_ptr<SequenceModel>(const ModelSizes&, Random&)>;

/// Adds a model of your own to those that make_model, and so `retrace train`, `compare`, `gradcheck` and `info`, know;
/// the zoo (models/zoo) adds its own in the same way. Without choices, the model gets all options and may ignore them.
/// Lists of models give the name of the collection instead of those in it, which `retrace info COLLECTION` lists.
/// Throws ValueError for a name that is taken or cannot be written on a command line, and for no factory. Not while
/// another thread uses these functions.
void register_model(std::string_view name, ModelFactory factory,
                    const std::optional<ModelChoices>& choices = std::nullopt, std::string_view collection = {});

/// A factory of SequenceModels for a module with a constructor M(sizes, random).
template <Module M>
requires std::constructible_from<M, const ModelSizes&, Random&> ModelFactory factory_of() {
  return [](const ModelSizes& sizes, Random& random) { return std::make_unique<SequenceModelOf<M>>(sizes, random); };
}

/// Registers a module with a constructor M(sizes, random): register_model<MyModel>("my-model").
template <Module M>
requires std::constructible_from<M, const ModelSizes&, Random&>
void register_model(std::string_view name, const std::optional<ModelChoices>& choices = std::nullopt,
                    std::string_view collection = {}) {
  register_model(name, factory_of<M>(), choices, collection);
}

/// The names that make_model knows, and those of them that were registered. They hold until the next one is registered.
std::span<const std::string_view> model_names();
std::span<const std::string_view> registered_model_names();
/// The models of a collection.
std::vector<std::string_view> models_in(std::string_view collection);
/// Some names of models, "lstm, gru and those of the zoo (retrace info zoo)".
std::string listed_models(std::span<const std::string_view> names = model_names());

/// The options of a model; nothing for one that is not known or was registered without choices.
std::optional<ModelChoices> choices_of(std::string_view model);

/// A model of the default dtype; its weights are drawn from `random`. Throws ValueError, with the nearest right name,
/// for one that is not known.
std::unique_ptr<SequenceModel> make_model(std::string_view name, const ModelSizes& sizes, Random& random);

}  // namespace retrace
