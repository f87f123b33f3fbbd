// Dynamic evaluation: a model that goes on learning on the text that it is tested on.
#pragma once

#include <vector>

#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/stored_run.h>

namespace retrace {

/// How a model learns from the text that it reads.
struct KeepLearningOptions {
  double learning_rate = 1e-3;  // of Adam
  double clip = 1;              // limit of the gradient norm of a segment
};

/// -ln p of every token but the first, read from beginning to end in segments of the model's length. Each segment is
/// scored before a twin of the model learns from it by a step of Adam without momentum on its mean loss (Krause et al.,
/// "Dynamic evaluation of neural sequence models", 2018, with squares of gradients from the test for those from the
/// training); the model itself does not change. Throws ValueError for fewer than 2 tokens, for a learning rate or a
/// clip that is not above 0, and where a gradient is not finite.
std::vector<double> losses_while_learning(const StoredRun& run, TokenIds ids, const KeepLearningOptions& options = {});

}  // namespace retrace
