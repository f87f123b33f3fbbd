// One training on a text from names and numbers: what `retrace train text` does.
#pragma once

#include <string>

#include <retrace/models/training/text/text_training.h>

namespace retrace {

struct TextRunOptions {
  std::string file;
  TokenKind tokens = TokenKind::characters;
  TextModelOptions model;
  Dtype dtype = f32;
  FitOptions fit{.steps = 2000, .batch = 32, .learning_rate = 5e-3};
};

struct TextRun {
  TextRunOptions options;
  TextData data;
  TextModel model;
  FitResult fit;
};

/// Reads the text and makes the model. Throws ValueError for a name that is not known and for a text that is too short,
/// FileError for a file that cannot be read or is not UTF-8.
TextRun prepare(const TextRunOptions& options);
/// Trains the model as the options say.
void train(TextRun& run);

/// The whole run, as to_json(Run) tells that of another task.
std::string to_json(const TextRun& run);

}  // namespace retrace
