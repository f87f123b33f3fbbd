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
    check_rows(x), check_last_steps(x, count);
    MemoryOverTime over_time(memory, x);
    Tensors last;
    for (std::int64_t t = 0; t < x.dim(1); ++t) {
      over_time.step(t);
      if (t >= x.dim(1) - count) last.push_back(flat(over_time.slots()));
    }
    const Tensor memories = stack(last, 1);
    return out(dropout > 0 ? retrace::dropout(memories, dropout, random) : memories);
  }
  /// The memory after every row, and every answer.
  StatesOverTime states(const Tensor& x) const {
    check_rows(x);
    StatesOverTime result;
    Tensor slots = memory.initial_memory(x.dim(0));
    Tensors each;
    for (const Tensor& now : steps_of(x)) {
      result.add("memory", slots = memory(slots, now));
      each.push_back(flat(slots));
    }
    result.answers = out(stack(each, 1));
    return result;
  }
  MemoryTrace trace(const Tensor& x) const { return check_rows(x), memory.trace(x); }
  void visit(auto&& see) const { see("memory", memory), see("out", out); }

 private:
  static Tensor flat(const Tensor& slots) { return reshape(slots, {slots.dim(0), slots.dim(1) * slots.dim(2)}); }
  static void check_rows(const Tensor& x) {
    check_defined("SlotMemoryModel", x, "x");
    if (x.rank() != 3 || x.dim(1) < 1)
      throw ShapeError(text("SlotMemoryModel: the input ", x, " must be [batch, time of 1 or more, features]"));
  }
};

}  // namespace retrace
