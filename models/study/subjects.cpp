#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/study/subjects.h>
#include <retrace/nn/layers/recurrent.h>
#include <retrace/nn/nn.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>

namespace retrace {
namespace {

/// Where a subject draws its weights and its point from.
struct Point {
  const StudyOptions& options;
  Random random;
  Computation computation = {};

  /// An input, which wants a gradient.
  Tensor input(std::string_view name, const Shape& shape, double deviation = 1) {
    const Tensor x = random.stream(name).normal(shape, 0, deviation).named(name).watch();
    computation.leaves.emplace_back(name, x);
    return x;
  }
  /// x [1, T, features].
  Tensor sequence() { return input("x", {1, options.tokens, options.size}); }
  int heads() const { return static_cast<int>(options.heads); }
  Random weights() const { return random.stream("weights"); }

  Computation finish(std::string_view title, std::function<Tensor()> result) {
    computation.title = title;
    computation.result = std::move(result);
    computation.cotangents = random.stream("cotangent");
    computation.dtype = options.dtype;
    return std::move(computation);
  }
  /// Shows how the gradient flows through a sequence x: states(x) -> StatesOverTime, result(states) -> y.
  template <class States, class Result> void through_time(const Tensor& x, States states, Result result) {
    Computation seeded;
    seeded.cotangents = random.stream("cotangent");
    computation.through_time = ThroughTime{
        x, std::move(states), [=](const StatesOverTime& over_time) { return seeded.loss_of(result(over_time)); }};
  }
  /// The same for a model whose result is the last of its answers.
  template <class M> void through_time_of_model(const Tensor& x, const std::shared_ptr<M>& model) {
    through_time(
        x, [model](const Tensor& rows) { return model->states(rows); },
        [](const StatesOverTime& states) { return at_step(states.answers, states.answers.dim(1) - 1); });
  }
  /// Finishes a subject that runs a module: f(module) -> y.
  template <class M, class F> Computation finish(std::string_view title, std::shared_ptr<M> module, F f) {
    if constexpr (std::derived_from<M, const SequenceModel>)
      computation.names = module->names();
    else
      computation.names = names_of(*module);
    for (const NamedTensor& parameter : parameters(*module))
      computation.leaves.emplace_back(parameter.name, parameter.tensor);
    return finish(title, [module = std::move(module), f = std::move(f)] { return f(*module); });
  }
};

Shape row_shape(const StudyOptions& options) { return {options.tokens, options.size}; }

Computation softmax_subject(Point& point) {
  const Tensor x = point.input("x", row_shape(point.options));
  return point.finish("softmax", [x] { return softmax(x); });
}

Computation layer_norm_subject(Point& point) {
  const Tensor x = point.input("x", row_shape(point.options)), gamma = point.input("gamma", {point.options.size}),
               beta = point.input("beta", {point.options.size});
  return point.finish("layer norm", [=] { return layer_norm(x, gamma, beta); });
}

Computation attention_subject(Point& point) {
  const Tensor q = point.input("q", row_shape(point.options)), k = point.input("k", row_shape(point.options)),
               v = point.input("v", row_shape(point.options));
  const AttentionOptions options{.heads = point.heads(), .causal = point.options.causal};
  return point.finish("attention", [=] { return attention(q, k, v, options); });
}

Computation multi_head_attention_subject(Point& point) {
  Random weights = point.weights();
  const auto module = std::make_shared<MultiHeadAttention>(point.options.size, weights,
                                                           MultiHeadAttentionOptions{.heads = point.heads()});
  const bool causal = point.options.causal;
  const auto attend = [causal](const MultiHeadAttention& mha, const Tensor& x) {
    return mha.without_weights(x, x, x, causal ? causal_mask(x.dim(1)) : Tensor());
  };
  const Tensor x = point.sequence();
  point.through_time(
      x, [=](const Tensor& rows) { return answers_over_time(attend(*module, rows)); },
      [](const StatesOverTime& states) { return states.answers; });
  return point.finish("multi-head attention", module, [=](const MultiHeadAttention& mha) { return attend(mha, x); });
}

/// Rnn, Lstm or Gru over a sequence; y is the state after the last step.
template <class Layer> Computation recurrent_subject(Point& point, std::string_view title) {
  Random weights = point.weights();
  const auto module = std::make_shared<Layer>(point.options.size, point.options.size, weights);
  const Tensor x = point.sequence();
  point.through_time(
      x, [module](const Tensor& rows) { return states_of(*module, rows); },
      [](const StatesOverTime& states) { return states.states.front().values.back(); });
  return point.finish(title, module, [x](const Layer& layer) {
    if constexpr (requires { layer(x).h; })
      return layer(x).h;
    else
      return layer(x).state.h;
  });
}

Computation relational_memory_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const auto module = std::make_shared<RelationalMemory>(
      options.size, weights,
      RelationalMemoryOptions{.slots = options.slots, .slot_size = options.size, .heads = point.heads()});
  const Tensor x = point.sequence(), first = point.input("memory", {1, options.slots, options.size});
  const auto states_from = [first](const RelationalMemory& core, const Tensor& rows) {
    StatesOverTime result;
    Tensor memory = broadcast_to(first, {rows.dim(0), first.dim(1), first.dim(2)});
    for (const Tensor& now : steps_of(rows)) result.add("memory", memory = core(memory, now).memory);
    return result;
  };
  const auto last = [](const StatesOverTime& states) { return states.states.front().values.back(); };
  point.through_time(
      x, [=](const Tensor& rows) { return states_from(*module, rows); }, last);
  return point.finish("relational memory", module,
                      [=](const RelationalMemory& core) { return last(states_from(core, x)); });
}

Computation relational_rnn_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const auto module = std::make_shared<RelationalRNN>(
      options.size, options.size, options.size, weights,
      SlotMemoryOptions{.slots = options.slots, .slot_size = options.size, .heads = point.heads()});
  const Tensor x = point.sequence();
  point.through_time_of_model(x, module);
  return point.finish("relational RNN", module, [x](const RelationalRNN& network) { return network.last(x).y; });
}

Computation rmc_subject(Point& point) {
  const StudyOptions& options = point.options;
  if (options.heads < 1 || options.size % options.heads != 0)
    throw ShapeError(text("study: ", options.heads, " heads do not divide the ", options.size,
                          " features of a slot (--size); choose a divisor"));
  Random weights = point.weights();
  const auto module = std::make_shared<RmcModel>(
      RmcModelOptions{
          .input = options.size,
          .output = options.size,
          .core = {.slots = options.slots, .head_size = options.size / options.heads, .heads = point.heads()},
          .head_layers = 1,
          .head_size = options.size},
      weights);
  const Tensor x = point.sequence();
  point.through_time_of_model(x, module);
  return point.finish("relational memory core", module, [x](const RmcModel& model) { return model(x); });
}

Computation attention_model_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const auto module = std::make_shared<AttentionModel>(AttentionModelOptions{.input = options.size,
                                                                             .output = options.size,
                                                                             .size = options.size,
                                                                             .heads = point.heads(),
                                                                             .longest = options.tokens},
                                                       weights);
  const Tensor x = point.sequence();
  point.through_time_of_model(x, module);
  return point.finish("attention model", module, [x](const AttentionModel& model) { return model(x); });
}

Computation registered_subject(Point& point, std::string_view name) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const ModelSizes sizes{.input = options.size,
                         .hidden = options.size,
                         .output = options.size,
                         .slot_size = options.size,
                         .slots = options.slots,
                         .heads = point.heads(),
                         .time = options.tokens};
  const std::shared_ptr<const SequenceModel> model = make_model(name, sizes, weights);
  const Tensor x = point.sequence();
  point.through_time_of_model(x, model);
  return point.finish(name, model, [x](const SequenceModel& network) { return network(x); });
}

using OptionNames = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> all_options{"tokens", "size", "heads", "causal", "slots"};
constexpr std::array<std::string_view, 4> options_of_memories{"tokens", "size", "heads", "slots"};
constexpr OptionNames of_rows = OptionNames(all_options).first(2), with_heads = OptionNames(all_options).first(3),
                      of_attention = OptionNames(all_options).first(4), of_memories = options_of_memories;

struct Subject {
  std::string_view name;
  OptionNames options;
  Computation (*make)(Point& point);
};

constexpr std::array<Subject, 11> subjects{{
    {"softmax", of_rows, softmax_subject},
    {"layer-norm", of_rows, layer_norm_subject},
    {"attention", of_attention, attention_subject},
    {"multi-head-attention", of_attention, multi_head_attention_subject},
    {"rnn", of_rows, [](Point& point) { return recurrent_subject<Rnn>(point, "RNN"); }},
    {"lstm", of_rows, [](Point& point) { return recurrent_subject<Lstm>(point, "LSTM"); }},
    {"gru", of_rows, [](Point& point) { return recurrent_subject<Gru>(point, "GRU"); }},
    {"relational-memory", of_memories, relational_memory_subject},
    {"relational-rnn", of_memories, relational_rnn_subject},
    {"rmc", of_memories, rmc_subject},
    {"attention-model", with_heads, attention_model_subject},
}};

/// The models of the user's own; those of a collection, such as the zoo, do not have all the options.
std::vector<std::string_view> own_models() {
  const OptionNames registered = registered_model_names();
  std::vector<std::string_view> names = models_in({});
  std::erase_if(names, [&](std::string_view name) { return std::ranges::find(registered, name) == registered.end(); });
  return names;
}

}  // namespace

std::vector<std::string_view> subject_names() {
  std::vector<std::string_view> names;
  for (const Subject& subject : subjects) names.push_back(subject.name);
  for (const std::string_view model : own_models()) names.push_back(model);
  return names;
}

OptionNames options_of_subject(std::string_view name) {
  const auto known = std::ranges::find(subjects, name, &Subject::name);
  if (known != subjects.end()) return known->options;
  const std::vector<std::string_view> registered = own_models();
  return std::ranges::find(registered, name) != registered.end() ? of_memories : OptionNames();
}

OptionNames options_of_subjects() { return all_options; }

Computation subject(std::string_view name, const StudyOptions& options) {
  for (const auto& [what, size] : {std::pair("tokens", options.tokens), std::pair("size", options.size),
                                   std::pair("slots", options.slots), std::pair("heads", options.heads)})
    if (size < 1) throw ValueError(text("study: ", what, " is ", size, "; it must be 1 or more"));
  const DtypeScope scope(options.dtype);
  Point point{options, Random(options.seed)};
  const auto known = std::ranges::find(subjects, name, &Subject::name);
  if (known != subjects.end()) return known->make(point);
  const std::vector<std::string_view> registered = own_models();
  if (std::ranges::find(registered, name) != registered.end()) return registered_subject(point, name);
  throw ValueError(unknown_name("study", "subject", name, subject_names(), "retrace study --help"));
}

Trace study(std::string_view name, const StudyOptions& options) {
  return trace_of(subject(name, options), {.expand_fused = options.expand_fused, .max_elements = options.max_elements});
}

}  // namespace retrace
