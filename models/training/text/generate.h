// Text that a model writes.
#pragma once

#include <string>

#include <retrace/models/training/stored_run.h>

namespace retrace {

/// How a text is continued.
struct GenerateOptions {
  std::int64_t length = 500;  // tokens
  double temperature = 1;     // 0: always the most likely token
  std::uint64_t seed = 0;
  std::string prompt = {};
};

/// Continues the prompt token by token. Each is drawn with the probabilities softmax(logits / temperature) and is never
/// unknown_word. Without a prompt, the text begins as after the end of a line. The same seed gives the same text. When
/// attention has reached its maximum number of tokens, it goes on from the last half of them.
///
/// Throws ValueError for a model of another task than a text, for a prompt that is not UTF-8 or has a character that
/// the model does not know, and for a length or a temperature below 0.
std::string generate(const StoredRun& run, const GenerateOptions& options);

/// The text that a model wrote, and the options.
struct Generation {
  std::string model;
  GenerateOptions options;
  std::string continuation;  // of the prompt
};

/// The text and how it was made, as a JSON object.
std::string to_json(const Generation& generation);

}  // namespace retrace
