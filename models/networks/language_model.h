// A language model: predicts the next token id by any sequence model that reads from left to right.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/layers/layers.h>

namespace retrace {

/// The sizes of a language model.
struct LanguageModelOptions {
  std::int64_t vocabulary = 1;  // V: ids are 0 to V - 1
  std::string model = "lstm";   // model_names()
  ModelSizes sizes = {};  // of that model: `input` is the features of a token, `time` the number of positions, and
                          // dropout also falls on the embedded tokens and on the model's answers
  bool tied = false;      // the embedding's weights are also those of the logits
};

/// Ids [B, T] -> logits [B, T, V]: x_t = embedding of id_t, y = body(x, state), logits_t = W y_t + b. The body's
/// answers y_t are its rows before the last layer, if it can leave that out (ModelChoices::rows), otherwise `hidden`
/// features. Tied, W is the embedding's [V, E], after a projection of y_t to E features if it has another size (Press
/// and Wolf, 2017). The embedding begins normal with deviation 1 / sqrt(E), and W of an rmc, unless it is tied, half as
/// large as that of another Linear.
///
/// Segments of a long text are run one after the other, each from the state that the last one gave; the results are
/// those of one long run. Detach the state in between, or gradients go back through all segments of one tape:
///
///   SequenceState state;
///   for (...) { Tape tape; auto [logits, next] = model.continued(ids, state); ...; state = next.detach(); }
///
/// Instead of ids, all functions take what embedded() makes of them, [B, T, E].
struct LanguageModel {
  Embedding embed;
  std::unique_ptr<const SequenceModel> body;
  std::optional<Linear> project;      // tied, for a body of another size than the embedding
  std::optional<Linear> out;          // not tied
  std::optional<Parameter> out_bias;  // tied: [V]
  double dropout;
  bool carries;  // its state from segment to segment

  /// Throws ValueError for an unknown model, and for one whose answer after a row depends on later rows.
  LanguageModel(const LanguageModelOptions& options, Random& random);
  /// Logits [B, T, V] for the token after each, and the state to go on from. With a generator, dropout; without one,
  /// evaluation. Throws ShapeError for ids that are not [B, T], T of 1 or more, and for a state of another model or
  /// batch, and IndexError for an id outside the vocabulary.
  Continued continued(const Tensor& ids, const SequenceState& state = {}, Random* random = nullptr) const;
  /// [B, V], for the token after the last, and [B, count, V], for those after the last `count`.
  Tensor operator()(const Tensor& ids, Random* random = nullptr) const;
  Tensor answers(const Tensor& ids, std::int64_t count, Random* random = nullptr) const;
  /// [B, T, E].
  Tensor embedded(const Tensor& ids) const;
  bool carries_state() const { return carries; }
  /// Those of the body.
  std::optional<MemoryTrace> trace(const Tensor& ids) const { return body->trace(embedded(ids)); }
  StatesOverTime states(const Tensor& ids) const;
  /// [B, T, V], of the body's answers [B, T, features].
  Tensor logits_of(const Tensor& answers) const;
  /// The names of its parameters and of the modules in it, also in its body.
  Names names() const;
  void visit(auto&& see) const {
    see("embed", embed), see("body", body), see("project", project), see("out", out), see("out_bias", out_bias);
  }
};

}  // namespace retrace
