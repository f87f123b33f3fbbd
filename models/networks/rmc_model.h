// The model of the relational memory core's paper: the core reads a sequence, and an MLP answers from its last memory.
#pragma once

#include <vector>

#include <retrace/models/networks/memory_trace.h>
#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/memory/relational_memory_core.h>

namespace retrace {

/// The core of an rmc with these slots, parts and form.
RelationalMemoryCoreOptions core_options(const ModelSizes& sizes);

/// The sizes of an RmcModel.
struct RmcModelOptions {
  std::int64_t input = 1;
  std::int64_t output = 1;  // 0: without the MLP; the answers are the flattened memories
  RelationalMemoryCoreOptions core = {};
  int head_layers = 2;  // hidden layers of the MLP
  std::int64_t head_size = 128;
};

/// x [B, T, I] -> z [B, O]: M_t = core(M_(t-1), x_t) from the identity, z = MLP(M_T flattened), ReLU between its
/// layers, whose activations have the core's dropout. A null random turns it off, as in evaluation.
struct RmcModel {
  RelationalMemoryCore core;
  std::vector<Linear> head;

  RmcModel(const RmcModelOptions& options, Random& random);
  Tensor operator()(const Tensor& x, Random* random = nullptr) const;
  /// Answers after each of the last `count` steps: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const;
  /// From the memory.
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const;
  /// The memory after every step, and every answer.
  StatesOverTime states(const Tensor& x) const;
  /// The trace of the memory over x; its attention is that of the last block.
  MemoryTrace trace(const Tensor& x) const;
  void visit(auto&& see) const {
    if (head.empty()) return core.visit(see);
    see("core", core), see("head", head);
  }

 private:
  /// The answers after the last `count` steps.
  Continued run(const Tensor& x, const SequenceState& state, std::int64_t count, Random* random) const;
  /// The MLP for flat memories [B, T, N S].
  Tensor answer(const Tensor& memories, Random* random = nullptr) const;
};

}  // namespace retrace
