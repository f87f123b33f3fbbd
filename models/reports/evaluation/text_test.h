// The test of a model of text: by kind of token, and the worst passages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/reports/comparison/statistics.h>
#include <retrace/models/reports/evaluation/categories.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/text/keep_learning.h>

namespace retrace {

/// A part of the text.
struct TextPassage {
  std::int64_t line = 0;  // of its file, from 1
  std::string text;
  double value = 0;  // the metric
};

/// The result of a model that learns as it reads (training/text/keep_learning.h).
struct KeptLearning {
  KeepLearningOptions options;
  Estimate metric;
  Summary difference;  // from the frozen weights, in bits per token: below 0 if learning helps
};

/// Results over the tokens of a text but the first.
struct TextTest {
  std::string file;
  std::int64_t tokens = 0;
  TokenKind kind = TokenKind::characters;
  Evaluation evaluation;
  Estimate metric;  // its interval is computed from consecutive parts of the text
  CategoryTable categories;
  std::vector<TextPassage> passages;     // the worst first
  std::optional<KeptLearning> learning;  // the other results are then those of the same pass over the text
};

/// Tests the model of a text on the part for that, and passes the first segments with the model's logits to `see`. With
/// options for it, also a model that keeps learning. Throws ValueError for fewer than 2 tokens.
TextTest test_on_text(const StoredRun& run, std::int64_t passages,
                      const std::optional<KeepLearningOptions>& keep_learning, const SeePortion& see = {});

}  // namespace retrace
