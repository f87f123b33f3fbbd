// The report on a model of text: `retrace eval` of a run of `retrace train text`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/reports/comparison/statistics.h>
#include <retrace/models/reports/evaluation/categories.h>
#include <retrace/models/training/text/keep_learning.h>

namespace retrace {

struct TextReportOptions {
  std::string test_file = {};  // if not given, the text on which the training was tested
  std::int64_t passages = 5;   // that are shown
  std::optional<KeepLearningOptions> keep_learning = {};
};

/// A part of the text.
struct TextPassage {
  std::int64_t line = 0;  // of its file, from 1
  std::string text;
  double value = 0;  // the metric
};

struct TextReport {
  std::string path, model, file;  // file: of the text
  std::int64_t step = 0;          // of a checkpoint: after which it was written; 0 for weights
  bool as_in_training = false;    // the text is that of the training's test
  TokenKind kind = TokenKind::characters;
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;  // that were predicted
  Estimate metric;          // metric_name(kind); its interval is computed from consecutive parts of the text
  double chance = 0;        // of an even guess
  CategoryTable categories;
  std::vector<TextPassage> passages = {};  // the worst first
  std::optional<KeepLearningOptions> keep_learning = {};
  Estimate keeps_learning = {};  // of a model that learns as it reads (training/text/keep_learning.h); `metric` is then
                                 // that of the same pass over the text
  Summary difference = {};       // of the two, in bits per token: below 0 if learning helps
};

/// The tokens to test on.
struct TestText {
  std::string file;
  std::vector<std::int32_t> ids;
  std::int64_t first_line = 1;
  bool as_in_training = false;  // as the model's training was tested on
};

/// Which text, and the words of errors.
struct TestTextOptions {
  std::string file = {};  // if not given, the text on which the training was tested
  std::string_view command = "retrace eval";
  std::string_view remedy = "give --test-text FILE";
};

/// The text to test the model at `path` on. Throws as make_text_report does.
TestText test_text(const TextModel& model, const std::string& path, const TestTextOptions& options = {});

/// Tests a stored model on the text of its training's test, or on another. Throws FileError for a text that cannot be
/// read, has a character that the model does not know, or is not as it was in training; ValueError for fewer than 2
/// tokens and for a model that does not know its text, if none is given.
TextReport make_text_report(const std::string& path, const TextReportOptions& options = {});

/// For a terminal.
std::string to_text(const TextReport& report);
/// One JSON object.
std::string to_json(const TextReport& report);

}  // namespace retrace
