// A recurrent network with a relational memory beside it: an LSTM reads the sequence, each of its states is written to
// a memory whose slots attend to each other, and the answer depends on both.
#pragma once

#include <retrace/models/networks/slot_memory.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/lstm.h>

namespace retrace {

/// The state of a RelationalRNN.
struct RelationalState {
  LstmState lstm;  // h, c [B, D]
  Tensor memory;   // [B, N, S]
};

/// y and the state after it.
struct RelationalResult {
  Tensor y;
  RelationalState state;
};

/// One step, x [B, I] -> y [B, D]:
///   h, c = LSTM(x, h, c), M = memory(M, h), r = W_read mean_slots(M) + b, y = tanh(W_combine [h; r] + b).
/// The memory never feeds back into the LSTM. SlotMemoryOptions::initial = zeros gives the original cell, whose slots
/// all stay equal, except for the first.
struct RelationalRNNCell {
  Lstm lstm;
  SlotMemory memory;
  Linear read;
  Linear combine;

  RelationalRNNCell(std::int64_t input, std::int64_t hidden, Random& random, const SlotMemoryOptions& options = {});

  RelationalResult operator()(const Tensor& x, const RelationalState& state) const;
  /// h = c = 0 and the initial memory.
  RelationalState initial_state(std::int64_t batch) const;
  /// The last two lines of the step, for h [..., D] and mean_slots(M) [..., S].
  Tensor answer(const Tensor& h, const Tensor& memory_mean) const;
  void visit(auto&& see) const { see("lstm", lstm), see("memory", memory), see("read", read), see("combine", combine); }
};

/// The cell over x [B, T, I] from its initial state, and z_t = W_out y_t + b_out. T is 1 or more. Dropout falls on y;
/// a null random turns it off, as in evaluation.
struct RelationalRNN {
  RelationalRNNCell cell;
  Linear out;
  double dropout = 0;  // the probability to drop a feature of y

  RelationalRNN(std::int64_t input, std::int64_t hidden, std::int64_t output, Random& random,
                const SlotMemoryOptions& options = {}, double dropout_of_y = 0);

  /// Every answer: z [B, T, O].
  RelationalResult operator()(const Tensor& x, Random* random = nullptr) const;
  /// The last `count` of them: z [B, count, O]. Throws ShapeError unless count is 1 to T.
  RelationalResult answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const;
  /// Every answer, and the state after them, from that state instead of the initial one (if its tensors are defined).
  RelationalResult continued(const Tensor& x, const RelationalState& state, Random* random = nullptr) const;
  /// The last answer, z [B, O], without computing the others.
  RelationalResult last(const Tensor& x, Random* random = nullptr) const;
  /// h and c of the LSTM and the memory after every step, and every answer.
  StatesOverTime states(const Tensor& x) const;
  /// The trace of the memory over x.
  MemoryTrace trace(const Tensor& x) const;
  void visit(auto&& see) const { see("cell", cell), see("out", out); }

 private:
  RelationalResult run(const Tensor& x, const RelationalState& state, std::int64_t count, Random* random) const;
  Tensor answer(const Tensor& y, Random* random) const {
    return out(dropout > 0 ? retrace::dropout(y, dropout, random) : y);
  }
};

}  // namespace retrace
