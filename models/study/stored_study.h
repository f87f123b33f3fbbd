// One sample of a trained model, to study.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <retrace/models/study/computation.h>
#include <retrace/models/training/stored_run.h>

namespace retrace {

/// Which sample is studied, and how.
struct StoredStudyOptions {
  std::int64_t example = 0;  // a test sample of the training, from 0
  bool worst = false;        // instead, the sample with the largest loss
};

/// The loss of one test sample, which wants a gradient, as do the weights. The title names task, model and sample. Of a
/// text, the samples are the segments of its part for the test, read from an empty state, and x are the embedded
/// tokens. Throws IndexError for a sample that the test does not have.
Computation computation_of(const std::shared_ptr<const StoredRun>& run, const StoredStudyOptions& options = {});

}  // namespace retrace
