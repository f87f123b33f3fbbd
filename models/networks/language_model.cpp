#include <retrace/models/networks/language_model.h>
#include <retrace/nn/layers/recurrent.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

Embedding make_embedding(const LanguageModelOptions& options, Random& random) {
  const auto positive = [](std::int64_t value, const char* name) {
    if (value < 1) throw ValueError(text("LanguageModel: ", name, " is ", value, "; it has to be 1 or more"));
  };
  const std::int64_t features = options.sizes.input;
  positive(options.vocabulary, "vocabulary"), positive(options.sizes.hidden, "hidden"), positive(features, "input");
  Embedding result(options.vocabulary, features, random);
  copy_values(result.weight.detach() / std::sqrt(static_cast<double>(features)), result.weight);
  return result;
}

std::unique_ptr<SequenceModel> make_body(const LanguageModelOptions& options, Random& random) {
  const std::optional<ModelChoices> choices = choices_of(options.model);
  ModelSizes sizes = options.sizes;
  sizes.output = choices && choices->rows ? 0 : sizes.hidden;
  return make_model(options.model, sizes, random);
}

/// The features of the model's answers. Refuses one that sees later rows: it could copy the next token instead of
/// predicting it.
std::int64_t features_of(const SequenceModel& model, const LanguageModelOptions& options) {
  const std::int64_t time = std::min<std::int64_t>(options.sizes.time, 3);
  constexpr double tolerance = 1e-3;
  const NoTape unrecorded;
  Random random(1);
  const Tensor x = random.normal({1, time, options.sizes.input}), answers = model.answers(x, time).to(f64);
  for (std::int64_t t = 0; t < time; ++t) {
    const Tensor alone = model(slice(x, {all, range(0, t + 1)})).to(f64);
    if (!(max(abs(slice(answers, {all, t}) - alone)).item() <= tolerance * (1 + max(abs(alone)).item())))
      throw ValueError(text("LanguageModel: the model '", options.model, "' answers after row ", t + 1,
                            " otherwise once it has later rows; in a text it has to find those: make its answers() "
                            "see each row and those before it alone, or leave answers() out"));
  }
  return answers.dim(-1);
}

}  // namespace

LanguageModel::LanguageModel(const LanguageModelOptions& options, Random& random)
    : embed(make_embedding(options, random)),
      body(make_body(options, random)),
      dropout(options.sizes.form.dropout.value_or(0)) {
  const std::optional<ModelChoices> choices = choices_of(options.model);
  carries = choices && choices->carried;
  const std::int64_t features = features_of(*body, options), token = options.sizes.input;
  if (!options.tied) {
    out.emplace(features, options.vocabulary, random);
    // Unlike a state, a memory is not bounded by 1: untrained, it would be confidently wrong.
    if (options.model == "rmc") copy_values(0.5 * out->weight.detach(), out->weight);
    return;
  }
  if (features != token) project.emplace(features, token, random);
  out_bias.emplace(zeros({options.vocabulary}));
}

Tensor LanguageModel::embedded(const Tensor& ids) const {
  if (ids.dtype() != i64 && ids.rank() == 3) return ids;
  if (ids.rank() != 2 || ids.dim(1) < 1)
    throw ShapeError(
        text("LanguageModel: the ids ", ids.shape(), " must be [batch, time of 1 or more]; unsqueeze or reshape them"));
  return embed(ids);
}

Continued LanguageModel::continued(const Tensor& ids, const SequenceState& state, Random* random) const {
  const Scope scope(this, "language_model");
  auto [answers, next] = body->continued(retrace::dropout(embedded(ids), dropout, random), state, random);
  return {logits_of(retrace::dropout(answers, dropout, random)), std::move(next)};
}

Tensor LanguageModel::answers(const Tensor& ids, std::int64_t count, Random* random) const {
  const Scope scope(this, "language_model");
  const Tensor rows = body->answers(retrace::dropout(embedded(ids), dropout, random), count, random);
  return logits_of(retrace::dropout(rows, dropout, random));
}

Tensor LanguageModel::operator()(const Tensor& ids, Random* random) const {
  return at_step(answers(ids, 1, random), 0);
}

StatesOverTime LanguageModel::states(const Tensor& ids) const {
  StatesOverTime result = body->states(embedded(ids));
  result.answers = logits_of(result.answers);
  return result;
}

Tensor LanguageModel::logits_of(const Tensor& answers) const {
  if (out) return (*out)(answers);
  return linear(project ? (*project)(answers) : answers, embed.weight, *out_bias);
}

Names LanguageModel::names() const {
  Names names = names_of(*this);
  names.add(body->names(), "body");
  return names;
}

}  // namespace retrace
