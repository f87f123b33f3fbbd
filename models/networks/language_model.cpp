#include <retrace/models/networks/language_model.h>

#include <algorithm>
#include <cmath>

#include <retrace/nn/layers/recurrent.h>

namespace retrace {
namespace {

using Body = std::variant<Lstm, Gru, Rnn, RelationalMemoryCore, CausalAttention, SequenceBody>;

Body make_body(const LanguageModelOptions& options, Random& random) {
  const std::int64_t in = options.embedding, hidden = options.hidden;
  const RecurrentOptions layers{.layers = options.form.layers.value_or(1), .dropout = options.form.dropout.value_or(0)};
  switch (options.body) {
    case LanguageBody::gru:
      return Body(std::in_place_type<Gru>, in, hidden, random, layers);
    case LanguageBody::rnn:
      return Body(std::in_place_type<Rnn>, in, hidden, random, layers);
    case LanguageBody::rmc:
      return Body(std::in_place_type<RelationalMemoryCore>, in, random, options.core);
    case LanguageBody::attention:
      return Body(std::in_place_type<CausalAttention>, options, random);
    case LanguageBody::sequence:
      return Body(std::in_place_type<SequenceBody>, options, random);
    case LanguageBody::lstm:
      break;
  }
  return Body(std::in_place_type<Lstm>, in, hidden, random, layers);
}

Embedding make_embedding(const LanguageModelOptions& options, Random& random) {
  const auto positive = [](std::int64_t value, const char* name) {
    if (value < 1) throw ValueError(text("LanguageModel: ", name, " is ", value, "; it has to be 1 or more"));
  };
  positive(options.vocabulary, "vocabulary"), positive(options.hidden, "hidden");
  positive(options.embedding, "embedding"), positive(options.heads, "heads");
  positive(options.form.layers.value_or(1), "layers"), positive(options.longest, "longest");
  Embedding result(options.vocabulary, options.embedding, random);
  copy_values(result.weight.detach() / std::sqrt(static_cast<double>(options.embedding)), result.weight);
  return result;
}

std::int64_t features_of(const Lstm& lstm) { return lstm.cell.hidden(); }
std::int64_t features_of(const Gru& gru) { return gru.cell.hidden(); }
std::int64_t features_of(const Rnn& rnn) { return rnn.cell.hidden(); }
std::int64_t features_of(const RelationalMemoryCore& core) {
  return checked_product("LanguageModel", "slots x slot size", {core.options.slots, core.slot_size()});
}
std::int64_t features_of(const CausalAttention& attention) { return attention.norm.weight.dim(0); }
std::int64_t features_of(const SequenceBody& body) { return body.features; }

/// The parts of a state; undefined ones for an empty state. Throws ShapeError for a wrong number of them.
Tensors parts_of(const LanguageState& state, std::size_t count) {
  if (state.parts.empty()) return Tensors(count);
  if (state.parts.size() != count)
    throw ShapeError(text("LanguageModel: the state has ", state.parts.size(), " parts and this body ", count,
                          "; give the state that this model gave, or an empty one"));
  return state.parts;
}

struct BodyResult {
  Tensor rows;  // [B, T, features]
  LanguageState state;
};

BodyResult run(const Lstm& lstm, const Tensor& x, const LanguageState& state, Random* random) {
  const Tensors parts = parts_of(state, 2);
  const LstmResult result = lstm(x, {parts[0], parts[1]}, {}, random);
  return {result.y, {{result.state.h, result.state.c}}};
}

/// A Gru or an Rnn.
BodyResult run(const auto& recurrent, const Tensor& x, const LanguageState& state, Random* random) {
  const auto result = recurrent(x, parts_of(state, 1)[0], {}, random);
  return {result.y, {{result.h}}};
}

BodyResult run(const RelationalMemoryCore& core, const Tensor& x, const LanguageState& state, Random* random) {
  const RelationalMemoryCore::Projected projected = core.project(x);  // of all steps
  Tensor memory = parts_of(state, 1)[0];
  if (!memory.defined()) memory = core.initial_memory(x.dim(0));
  Tensors rows;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const Tensor gate = projected.gate.defined() ? at_step(projected.gate, t) : Tensor();
    memory = core.step(memory, {at_step(projected.rows, t), gate}, random).memory;
    rows.push_back(reshape(memory, {x.dim(0), features_of(core)}));
  }
  return {stack(rows, 1), {{memory}}};
}

BodyResult run(const CausalAttention& attention, const Tensor& x, const LanguageState& state, Random* random) {
  CausalAttention::Result result = attention(x, parts_of(state, attention.blocks.size()), random);
  return {std::move(result.y), {std::move(result.seen)}};
}

BodyResult run(const SequenceBody& body, const Tensor& x, const LanguageState& state, Random* random) {
  const Tensor before = parts_of(state, 1)[0];
  const Tensor rows = before.defined() ? concat({before, x}, 1) : x;
  return {body.model->answers(rows, x.dim(1), random), {{rows}}};
}

/// Refuses a model that sees later rows: it could copy the next token instead of predicting it.
void check_sees_no_later_row(std::string_view name, const SequenceModel& model, std::int64_t features,
                             std::int64_t longest) {
  const std::int64_t time = std::min<std::int64_t>(longest, 3);
  constexpr double tolerance = 1e-3;
  const NoTape unrecorded;
  Random random(1);
  const Tensor x = random.normal({1, time, features}), answers = model.answers(x, time).to(f64);
  for (std::int64_t t = 0; t < time; ++t) {
    const Tensor alone = model(slice(x, {all, range(0, t + 1)})).to(f64);
    if (!(max(abs(slice(answers, {all, t}) - alone)).item() <= tolerance * (1 + max(abs(alone)).item())))
      throw ValueError(text("LanguageModel: the model '", name, "' answers after row ", t + 1,
                            " otherwise once it has later rows; in a text it has to find those: make its answers() "
                            "see each row and those before it alone, or leave answers() out"));
  }
}

}  // namespace

SequenceBody::SequenceBody(const LanguageModelOptions& options, Random& random)
    : model(make_model(options.sequence,
                       {.input = options.embedding,
                        .hidden = options.hidden,
                        .output = options.hidden,
                        .time = options.longest,
                        .form = options.form},
                       random)),
      features(options.hidden) {
  check_sees_no_later_row(options.sequence, *model, options.embedding, options.longest);
}

LanguageState LanguageState::detach() const {
  LanguageState result;
  for (const Tensor& part : parts) result.parts.push_back(part.detach());
  return result;
}

CausalAttention::CausalAttention(const LanguageModelOptions& options, Random& random)
    : input(options.embedding, options.hidden, random),
      positions(learned_positions("CausalAttention", options.form.positions.value_or(RowPositions::learned),
                                  options.longest, options.hidden, random)),
      norm(options.hidden),
      kind(options.form.positions.value_or(RowPositions::learned)) {
  const ModelForm& form = options.form;
  for (int k = 0; k < form.layers.value_or(2); ++k)
    blocks.emplace_back(
        options.hidden, options.heads, random,
        AttentionBlockOptions{form.feed_forward.value_or(0), form.dropout.value_or(0), in_attention(kind)});
}

CausalAttention::Result CausalAttention::operator()(const Tensor& x, const Tensors& seen, Random* random) const {
  const Scope scope(this, "causal_attention");
  const std::int64_t size = norm.weight.dim(0), time = x.dim(1);
  const std::int64_t before = seen[0].defined() && seen[0].rank() == 3 ? seen[0].dim(1) : 0;
  for (const Tensor& rows : seen)
    if (rows.defined() && rows.shape() != Shape{x.dim(0), before, size})
      throw ShapeError(text("CausalAttention: the rows seen ", rows.shape(), " must be [", x.dim(0), ", ", before, ", ",
                            size, "]; give the state of these samples"));
  if (positions && before + time > positions->dim(0))
    throw ShapeError(text("CausalAttention: ", time, " steps after ", before, " make ", before + time, "; only ",
                          positions->dim(0), " have a position: begin with an empty state, or make `longest` larger"));
  Result result{with_positions(input(x), kind, positions, before), {}};
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    auto [rows, all_rows] = blocks[k].continued(result.y, seen[k], random);
    result.y = std::move(rows);
    result.seen.push_back(std::move(all_rows));
  }
  result.y = norm(result.y);
  return result;
}

LanguageModel::LanguageModel(const LanguageModelOptions& options, Random& random)
    : embed(make_embedding(options, random)),
      body(make_body(options, random)),
      dropout(options.form.dropout.value_or(0)) {
  const std::int64_t features = std::visit([](const auto& kind) { return features_of(kind); }, body);
  if (!options.tied) {
    out.emplace(features, options.vocabulary, random);
    // Unlike a state, a memory is not bounded by 1: untrained, it would be confidently wrong.
    if (options.body == LanguageBody::rmc) copy_values(0.5 * out->weight.detach(), out->weight);
    return;
  }
  if (features != options.embedding) project.emplace(features, options.embedding, random);
  out_bias.emplace(zeros({options.vocabulary}));
}

LanguageResult LanguageModel::operator()(const Tensor& ids, const LanguageState& state, Random* random) const {
  const Scope scope(this, "language_model");
  if (ids.rank() != 2 || ids.dim(1) < 1)
    throw ShapeError(
        text("LanguageModel: the ids ", ids.shape(), " must be [batch, time of 1 or more]; unsqueeze or reshape them"));
  const Tensor x = retrace::dropout(embed(ids), dropout, random);
  auto [rows, next] = std::visit([&](const auto& kind) { return run(kind, x, state, random); }, body);
  return {logits_of(retrace::dropout(rows, dropout, random)), std::move(next)};
}

Tensor LanguageModel::logits_of(const Tensor& rows) const {
  if (out) return (*out)(rows);
  return linear(project ? (*project)(rows) : rows, embed.weight, *out_bias);
}

}  // namespace retrace
