// How a model does on inputs of given lengths, which may be longer than those it was trained on:
// `retrace eval --by-length`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/reports/evaluation/estimate.h>
#include <retrace/models/training/stored_run.h>

namespace retrace {

/// first, first + step, ... up to last.
struct LengthRange {
  std::int64_t first = 1, last = 1, step = 1;
};
/// "41..500", or "41..500/10". Throws ValueError for anything else, and unless 1 <= first <= last and step >= 1.
LengthRange length_range_named(std::string_view text);

struct ByLengthOptions {
  std::optional<std::int64_t> samples = {};  // of each length; if not given, 64
  std::optional<std::uint64_t> seed = {};    // if not given, the training's own
};

/// The metric at neighbouring lengths.
struct LengthBin {
  std::int64_t first, last;
  double value;  // the mean over the lengths
  std::int64_t lengths;
};

struct ResultsByLength {
  std::string path, task, model;
  Metric metric = Metric::accuracy;
  std::int64_t samples = 0;  // of each length
  std::uint64_t seed = 0;
  struct AtLength {
    std::int64_t length;
    double value;  // the metric, over all answers
  };
  std::vector<AtLength> lengths = {};
  std::vector<LengthBin> bins = {};  // ten, or one per length if there are fewer
  double score = 0;                  // the mean over the lengths, as in Deletang et al. (2023)
  Baselines baselines;
};

/// Tests the model on samples of each length; the lengths are handed out to `ranks`. Throws ValueError for a task
/// with a fixed length (Task::of_length), for a length that it does not have, for less than one sample, and for a model
/// that has no positions for the longest input.
ResultsByLength evaluate_by_length(const StoredRun& run, const LengthRange& range, const ByLengthOptions& options = {},
                                   Communicator* ranks = nullptr);

/// For a terminal.
std::string to_text(const ResultsByLength& results);
/// One JSON object.
std::string to_json(const ResultsByLength& results);

}  // namespace retrace
