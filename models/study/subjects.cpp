#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/study/subjects.h>
#include <retrace/nn/nn.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

/// Where a subject draws its weights and its point from.
struct Point {
  const StudyOptions& options;
  Random random;

  /// An input, which wants a gradient.
  Tensor input(std::string_view name, const Shape& shape) {
    return random.stream(name).normal(shape).named(name).watch();
  }
  /// x [1, T, features].
  Tensor sequence() { return input("x", {1, options.tokens, options.size}); }
  int heads() const { return static_cast<int>(options.heads); }
  Random weights() const { return random.stream("weights"); }
};

/// The backward from a random cotangent of y.
Trace trace_from(Point& point, Tape& tape, std::string_view title, const Tensor& y, const Names& names) {
  const Tensor cotangent = point.random.stream("cotangent").normal(y.shape(), y.dtype());
  return trace_backward(tape, {y}, {cotangent},
                        {.title = std::string(title), .names = names, .max_elements = point.options.max_elements});
}

/// A function of inputs: f() -> y.
template <class F> Trace trace_of_function(Point& point, std::string_view title, const F& f) {
  Tape tape(point.options.tape());
  const Tensor y = f();
  return trace_from(point, tape, title, y, {});
}

/// A module on a sequence: f(module, x) -> y.
template <class M, class F> Trace trace_of_module(Point& point, std::string_view title, const M& module, const F& f) {
  const Tensor x = point.sequence();
  Tape tape(point.options.tape());
  const Tensor y = f(module, x);
  return trace_from(point, tape, title, y, names_of(module));
}

Shape row_shape(const StudyOptions& options) { return {options.tokens, options.size}; }

Trace softmax_subject(Point& point) {
  const Tensor x = point.input("x", row_shape(point.options));
  return trace_of_function(point, "softmax", [&] { return softmax(x); });
}

Trace layer_norm_subject(Point& point) {
  const Tensor x = point.input("x", row_shape(point.options)), gamma = point.input("gamma", {point.options.size}),
               beta = point.input("beta", {point.options.size});
  return trace_of_function(point, "layer norm", [&] { return layer_norm(x, gamma, beta); });
}

Trace attention_subject(Point& point) {
  const Tensor q = point.input("q", row_shape(point.options)), k = point.input("k", row_shape(point.options)),
               v = point.input("v", row_shape(point.options));
  return trace_of_function(
      point, "attention", [&] { return attention(q, k, v, {.heads = point.heads(), .causal = point.options.causal}); });
}

Trace multi_head_attention_subject(Point& point) {
  Random weights = point.weights();
  const MultiHeadAttention module(point.options.size, weights, {.heads = point.heads()});
  const Tensor mask = point.options.causal ? causal_mask(point.options.tokens) : Tensor();
  return trace_of_module(point, "multi-head attention", module, [&](const MultiHeadAttention& mha, const Tensor& x) {
    return mha.without_weights(x, x, x, mask);
  });
}

/// Rnn, Lstm or Gru over a sequence; y is the state after the last step.
template <class Layer> Trace recurrent_subject(Point& point, std::string_view title) {
  Random weights = point.weights();
  const Layer module(point.options.size, point.options.size, weights);
  return trace_of_module(point, title, module, [](const Layer& layer, const Tensor& x) {
    if constexpr (requires { layer(x).h; })
      return layer(x).h;
    else
      return layer(x).state.h;
  });
}

Trace relational_memory_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const RelationalMemory module(options.size, weights,
                                {.slots = options.slots, .slot_size = options.size, .heads = point.heads()});
  Random start = point.random.stream("memory");
  Tensor memory = module.reset_memory(1, start, 1);
  return trace_of_module(point, "relational memory", module, [&](const RelationalMemory& core, const Tensor& x) {
    for (std::int64_t t = 0; t < options.tokens; ++t) memory = core(memory, slice(x, {all, t})).memory;
    return memory;
  });
}

Trace relational_rnn_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const RelationalRNN module(options.size, options.size, options.size, weights,
                             {.slots = options.slots, .slot_size = options.size, .heads = point.heads()});
  return trace_of_module(point, "relational RNN", module,
                         [](const RelationalRNN& network, const Tensor& x) { return network.last(x).y; });
}

Trace rmc_subject(Point& point) {
  const StudyOptions& options = point.options;
  if (options.heads < 1 || options.size % options.heads != 0)
    throw ShapeError(text("study: ", options.heads, " heads do not divide the ", options.size,
                          " features of a slot (--size); choose a divisor"));
  Random weights = point.weights();
  const RmcModel module(
      {.input = options.size,
       .output = options.size,
       .core = {.slots = options.slots, .head_size = options.size / options.heads, .heads = point.heads()},
       .head_layers = 1,
       .head_size = options.size},
      weights);
  return trace_of_module(point, "relational memory core", module,
                         [](const RmcModel& model, const Tensor& x) { return model(x); });
}

Trace attention_model_subject(Point& point) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const AttentionModel module({.input = options.size,
                               .output = options.size,
                               .size = options.size,
                               .heads = point.heads(),
                               .longest = options.tokens},
                              weights);
  return trace_of_module(point, "attention model", module,
                         [](const AttentionModel& model, const Tensor& x) { return model(x); });
}

Trace registered_subject(Point& point, std::string_view name) {
  const StudyOptions& options = point.options;
  Random weights = point.weights();
  const ModelSizes sizes{.input = options.size,
                         .hidden = options.size,
                         .output = options.size,
                         .slot_size = options.size,
                         .slots = options.slots,
                         .heads = point.heads(),
                         .time = options.tokens};
  const std::unique_ptr<SequenceModel> model = make_model(name, sizes, weights);
  const Tensor x = point.sequence();
  Tape tape(options.tape());
  const Tensor y = (*model)(x);
  return trace_from(point, tape, name, y, model->names());
}

struct Subject {
  std::string_view name;
  Trace (*trace)(Point& point);
};

constexpr std::array<Subject, 11> subjects{{
    {"softmax", softmax_subject},
    {"layer-norm", layer_norm_subject},
    {"attention", attention_subject},
    {"multi-head-attention", multi_head_attention_subject},
    {"rnn", [](Point& point) { return recurrent_subject<Rnn>(point, "RNN"); }},
    {"lstm", [](Point& point) { return recurrent_subject<Lstm>(point, "LSTM"); }},
    {"gru", [](Point& point) { return recurrent_subject<Gru>(point, "GRU"); }},
    {"relational-memory", relational_memory_subject},
    {"relational-rnn", relational_rnn_subject},
    {"rmc", rmc_subject},
    {"attention-model", attention_model_subject},
}};

}  // namespace

std::vector<std::string_view> subject_names() {
  std::vector<std::string_view> names;
  for (const Subject& subject : subjects) names.push_back(subject.name);
  for (const std::string_view model : registered_model_names()) names.push_back(model);
  return names;
}

Trace study(std::string_view subject, const StudyOptions& options) {
  for (const auto& [name, size] : {std::pair("tokens", options.tokens), std::pair("size", options.size),
                                   std::pair("slots", options.slots), std::pair("heads", options.heads)})
    if (size < 1) throw ValueError(text("study: ", name, " is ", size, "; it must be 1 or more"));
  const DtypeScope scope(options.dtype);
  Point point{options, Random(options.seed)};
  const auto known = std::ranges::find(subjects, subject, &Subject::name);
  if (known != subjects.end()) return known->trace(point);
  const std::span<const std::string_view> registered = registered_model_names();
  if (std::ranges::find(registered, subject) != registered.end()) return registered_subject(point, subject);
  throw ValueError(unknown_name("study", "subject", subject, subject_names()));
}

}  // namespace retrace
