// A language model with its vocabulary: made by name, saved and loaded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/networks/language_model.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/fit.h>

namespace retrace {

/// The sizes of a language model, by name.
struct TextModelOptions {
  std::string model = "lstm";  // model_names(); attention is causal
  std::int64_t hidden = 128;   // features of the body; an rmc's are rounded down to a multiple of 4
  std::int64_t length = 64;    // tokens of a segment, and attention's limit
  ModelForm form = {};         // dropout also falls on the embedded tokens
  SizeOptions memory = {};     // of an rmc; what is not given is 1 slot of `hidden` features and 4 heads
  MemoryParts parts = {};      // of an rmc
  std::optional<std::int64_t> embedding = {};  // features of a token; if not given, see embedding_size

  /// The model with its sizes; those of an rmc are all given.
  ModelSpec spec() const;
};

/// The features of a token. If they are not given, `hidden`; but for a vocabulary of V characters, no more than V or
/// 64, whichever is larger: V embeddings span at most V dimensions, so wider ones cost time and say nothing more. In
/// less than 64, random embeddings resemble each other, and are learned more slowly.
std::int64_t embedding_size(const TextModelOptions& options, const Vocabulary& vocabulary);

/// A LanguageModel for the tokens of a vocabulary. For words, the embedding is tied to the logits. An rmc has, unless
/// the options say otherwise, one slot of 4 heads, as in the language models of its paper; attention and the
/// transformer have 4 heads and, unless the form says otherwise, 2 blocks.
struct TextModel {
  TextModelOptions options;
  Vocabulary vocabulary;
  LanguageModel network;
  TextSource source = {};             // on which it was trained, if that is known
  std::string test_fingerprint = {};  // of the tokens on which it was tested
  std::int64_t step = 0;              // of a checkpoint: after which it was written; 0 for weights

  /// Makes the weights in the default dtype. Throws ValueError for an unknown model (and suggests the nearest known
  /// name), for an option of the form that it does not have, for bidirectional layers and for attention that is not
  /// causal, which would see the tokens to predict, for `hidden` that is not a multiple of attention's heads, for slots
  /// that are not a multiple of an rmc's, and for a registered model that sees later rows.
  TextModel(TextModelOptions options, Vocabulary vocabulary, Random& random);
  /// Whether the state carries over from segment to segment (ModelChoices::carried), as of lstm, gru, rnn and rmc; the
  /// others read each segment by itself.
  bool carries_state() const;
};

/// The options, the vocabulary and the source, in the entry "text_model".
ModelDescription describe_text_model(const TextModel& model);
/// The weights as a safetensors file with that description.
void save_text_model(const std::string& path, const TextModel& model);
/// The model of a file of weights, or the best one so far of a checkpoint. Throws FileError for a file that cannot be
/// read or is not of a model of text.
TextModel load_text_model(const std::string& path);
/// The file of a stored model (stored_weights_file), if it is there and of a model of text.
std::optional<std::string> text_model_file(const std::string& path);

}  // namespace retrace
