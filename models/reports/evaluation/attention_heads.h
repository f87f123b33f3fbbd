// Every head of every attention of a model while it answers one sample: the weights, and how the loss depends on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <retrace/core/trace/trace.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

/// The weights of one head [rows, columns], each row of them a softmax, and the gradient of the loss with respect to
/// them; row by row.
struct AttentionHead {
  std::string layer;      // the path of the module
  std::int64_t step = 0;  // of a module that runs at each time step
  std::int64_t head = 0;
  std::int64_t rows = 0, columns = 0;
  std::vector<double> weights;
  std::vector<double> gradients;  // 0 where nothing flowed back
  std::vector<bool> masked;       // weights that a mask made 0
};

/// A head over all its steps.
struct HeadSummary {
  std::string layer;
  std::int64_t head;
  double columns_seen;   // 2 to the power of the entropy of a row of weights in bits, the mean over rows and steps
  double gradient_norm;  // of all its weights
};
/// In the order of layers and heads.
std::vector<HeadSummary> summarise(const std::vector<AttentionHead>& heads);

/// A sample that was answered, and all heads.
struct AttentionOfSample : AnsweredSample {
  std::vector<AttentionHead> heads;
};

/// The attentions of a trace with TraceOptions::max_elements enough for them, and fused ops as their composed twins:
/// softmax along the last axis of which a matmul takes the result, with dropout in between or not. In the order of the
/// forward; the calls of a module are its steps, and attentions within a call are layers of their own. Of a batch every
/// sample counts as more heads.
std::vector<AttentionHead> attention_heads(const Trace& trace);

/// The attentions while the model answers one sample: x [1, T, I], and y, its target.
std::vector<AttentionHead> attention_heads(const SequenceModel& model, const Task& task, const Batch& sample);

}  // namespace retrace
