// A language model: predicts the next token id, with any body that reads from left to right.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/layers/gru.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/lstm.h>
#include <retrace/nn/layers/rnn.h>
#include <retrace/nn/memory/relational_memory_core.h>

namespace retrace {

/// The network between the embedding and the logits.
enum class LanguageBody { lstm, gru, rnn, rmc, attention, sequence };

/// The sizes of a language model.
struct LanguageModelOptions {
  std::int64_t vocabulary = 1;  // V: ids are 0 to V - 1
  LanguageBody body = LanguageBody::lstm;
  std::int64_t embedding = 64;            // features of a token
  std::int64_t hidden = 64;               // of a recurrent layer, or of attention's rows
  RelationalMemoryCoreOptions core = {};  // of rmc
  int heads = 4;                          // of attention
  std::int64_t longest = 512;             // positions that attention knows: those of all segments together
  bool tied = false;                      // the embedding's weights are also those of the logits
  std::string sequence = {};              // the name of a SequenceModel (sequence_model.h)
  ModelForm form = {};  // of the body (but see core); attention has 2 layers and learned positions, unless it says
                        // otherwise. Dropout also falls on the embedded tokens and on the body's answers.
};

/// The state that a body carries: h (and c); the memory; the rows so far of each block of attention; the embedded
/// tokens so far of a SequenceModel. Empty at first.
struct LanguageState {
  Tensors parts;

  /// A copy through which no gradient flows back, for the next segment of truncated backpropagation.
  LanguageState detach() const;
};

/// Logits, and the state to go on from.
struct LanguageResult {
  Tensor logits;  // [B, T, V], for the token after each
  LanguageState state;
};

/// x [B, T, E] -> rows [B, T, size] of causal self-attention: A = x W + b + position_t (without that term unless
/// positions are learned or sinusoidal), blocks in which row t sees rows up to t, y = LN(A).
struct CausalAttention {
  Linear input;
  std::optional<Parameter> positions;  // if learned: [longest, size], normal with deviation 0.1 at first
  std::vector<AttentionBlock> blocks;
  LayerNorm norm;
  RowPositions kind;  // of positions

  CausalAttention(const LanguageModelOptions& options, Random& random);
  /// Continues after the rows of `seen` (one tensor per block; none at first) and adds to them.
  struct Result {
    Tensor y;
    Tensors seen;
  };
  Result operator()(const Tensor& x, const Tensors& seen, Random* random = nullptr) const;
  void visit(auto&& see) const {
    see("input", input), see("positions", positions), see("blocks", blocks), see("norm", norm);
  }
};

/// x [B, T, E] -> [B, T, hidden], the answers after each row of the registered model of that name, which reads the
/// sequence from its first row.
struct SequenceBody {
  std::shared_ptr<const SequenceModel> model;
  std::int64_t features;

  /// Throws ValueError for an unknown model, and for one whose answer after a row depends on later rows.
  SequenceBody(const LanguageModelOptions& options, Random& random);
  void visit(auto&& see) const { model->visit(see); }
};

/// Ids [B, T] -> logits [B, T, V]: x_t = embedding of id_t, y = body(x, state), logits_t = W y_t + b. An rmc's y_t is
/// its memory after step t, flattened. Tied, W is the embedding's [V, E], after a projection of y_t to E features if it
/// has another size (Press and Wolf, 2017). The embedding begins normal with deviation 1 / sqrt(E), and W of an rmc,
/// unless it is tied, half as large as that of another Linear.
///
/// Segments of a long text are run one after the other, each from the state that the last one gave; the results are
/// those of one long run. Detach the state in between, or gradients go back through all segments of one tape:
///
///   LanguageState state;
///   for (...) { Tape tape; auto [logits, next] = model(ids, state); ...; state = next.detach(); }
struct LanguageModel {
  Embedding embed;
  std::variant<Lstm, Gru, Rnn, RelationalMemoryCore, CausalAttention, SequenceBody> body;
  std::optional<Linear> project;      // tied, for a body of another size than the embedding
  std::optional<Linear> out;          // not tied
  std::optional<Parameter> out_bias;  // tied: [V]
  double dropout;

  LanguageModel(const LanguageModelOptions& options, Random& random);
  /// With a generator, dropout; without one, evaluation. Throws ShapeError for ids that are not [B, T], T of 1 or more,
  /// and for a state of another body or batch, and IndexError for an id outside the vocabulary.
  LanguageResult operator()(const Tensor& ids, const LanguageState& state = {}, Random* random = nullptr) const;
  void visit(auto&& see) const {
    see("embed", embed);
    std::visit([&](const auto& kind) { see("body", kind); }, body);
    see("project", project), see("out", out), see("out_bias", out_bias);
  }

 private:
  Tensor logits_of(const Tensor& rows) const;
};

}  // namespace retrace
