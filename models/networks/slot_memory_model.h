// A model of a relational memory alone: the memories that a relational-rnn has beside its LSTM, with an output layer.
#pragma once

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/slot_memory.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/recurrent.h>

namespace retrace {

/// x [B, T, I] -> z [B, O]: M_t = memory(M_(t-1), x_t) from the identity, z = W_out M_T + b_out for the flat M_T [N S],
/// on which dropout falls; a null random turns it off, as in evaluation.
template <MemoryKind kind> struct SlotMemoryModel {
  SlotMemory memory;
  Linear out;
  double dropout;

  SlotMemoryModel(const ModelSizes& sizes, Random& random)
      : memory(sizes.input, random,
               {.kind = kind,
                .slots = sizes.slots,
                .slot_size = sizes.slot_size,
                .heads = sizes.heads,
                .gate = sizes.parts.gate != MemoryGate::none}),
        out(checked_product("SlotMemoryModel", "slots x slot size", {sizes.slots, sizes.slot_size}), sizes.output,
            random),
        dropout(sizes.form.dropout.value_or(0)) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    const Tensor y = answers(x, 1, random);
    return reshape(y, {y.dim(0), y.dim(2)});
  }
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    return run(x, {}, count, random).answers;
  }
  /// From the slots.
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const {
    check_rows(x);
    return run(x, state, x.dim(1), random);
  }
  /// The memory after every row, and every answer.
  StatesOverTime states(const Tensor& x) const { return check_rows(x), memory_over_time(*this, x); }
  MemoryTrace trace(const Tensor& x) const { return check_rows(x), memory.trace(x); }
  void visit(auto&& see) const { see("memory", memory), see("out", out); }

 private:
  /// The answers after the last `count` rows.
  Continued run(const Tensor& x, const SequenceState& state, std::int64_t count, Random* random) const {
    check_rows(x), check_last_steps(x, count);
    MemoryOverTime over_time(memory, x, state.take(1)[0]);
    Tensors last;
    for (std::int64_t t = 0; t < x.dim(1); ++t) {
      over_time.step(t);
      if (t >= x.dim(1) - count) last.push_back(flat(over_time.slots()));
    }
    const Tensor memories = stack(last, 1);
    return {out(dropout > 0 ? retrace::dropout(memories, dropout, random) : memories), {{over_time.slots()}}};
  }
  static Tensor flat(const Tensor& slots) { return reshape(slots, {slots.dim(0), slots.dim(1) * slots.dim(2)}); }
  static void check_rows(const Tensor& x) {
    check_defined("SlotMemoryModel", x, "x");
    if (x.rank() != 3 || x.dim(1) < 1)
      throw ShapeError(text("SlotMemoryModel: the input ", x, " must be [batch, time of 1 or more, features]"));
  }
};

}  // namespace retrace
