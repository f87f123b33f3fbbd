// A model of a Neural Turing Machine or a Differentiable Neural Computer.
#pragma once

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/recurrent.h>

namespace retrace {

/// x [B, T, I] -> z [B, O]: z = W_out y_T + b_out for y_T [B, H + R W], the state of the LSTM and what it read last.
/// Dropout falls on y_T; a null random turns it off, as in evaluation. Memory is Ntm or Dnc, with slots of the sizes'
/// slot_size and as many read heads as the sizes' heads.
template <class Memory> struct ExternalMemoryModel {
  Memory memory;
  Linear out;
  double dropout;

  ExternalMemoryModel(const ModelSizes& sizes, Random& random)
      : memory(sizes.input, sizes.hidden, random,
               {.slots = sizes.slots, .slot_size = sizes.slot_size, .read_heads = sizes.heads}),
        out(sizes.hidden + sizes.heads * sizes.slot_size, sizes.output, random),
        dropout(sizes.form.dropout.value_or(0)) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    return answer(slice(memory(x).y, {all, -1}), random);
  }
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    return answer(last_steps(memory(x).y, count), random);
  }
  /// h, the memory and the weights of the heads after every row, and every answer.
  StatesOverTime states(const Tensor& x) const {
    StatesOverTime result;
    decltype(memory(x).state) state;
    Tensors outputs;
    for (const Tensor& now : steps_of(x)) {
      auto [y, after] = memory(unsqueeze(now, 1), state);
      state = std::move(after);
      result.add("h", state.h);
      result.add("memory", state.memory);
      result.add("read weights", state.read_weights);
      result.add("write weights", state.write_weights);
      outputs.push_back(y);
    }
    result.answers = out(concat(outputs, 1));
    return result;
  }
  void visit(auto&& see) const { see("memory", memory), see("out", out); }

 private:
  Tensor answer(const Tensor& y, Random* random) const {
    return out(dropout > 0 ? retrace::dropout(y, dropout, random) : y);
  }
};

}  // namespace retrace
