// A model of a recurrent network with a stack or a tape.
#pragma once

#include <algorithm>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/recurrent.h>
#include <retrace/nn/soft_memory_rnn.h>

namespace retrace {

/// The memory of a SoftMemoryModel: one stack or tape of cells of 8 numbers, as many as the longest sequence has rows,
/// but at most 30 (the sizes of Deletang et al., 2023). A tape jumps by half the rows of that sequence: in the tasks
/// that recite their input, about its length.
inline SoftMemoryRnnOptions soft_memory_of(SoftMemoryKind kind, const ModelSizes& sizes) {
  return {.kind = kind,
          .cells = std::clamp<std::int64_t>(sizes.time, 1, 30),
          .jump = kind == SoftMemoryKind::tape ? std::max<std::int64_t>(1, sizes.time / 2) : 0};
}

/// x [B, T, I] -> z [B, O]: z = h_T W_out + b_out. Dropout falls on h_T; a null random turns it off, as in evaluation.
template <SoftMemoryKind kind> struct SoftMemoryModel {
  SoftMemoryRnn rnn;
  Linear out;
  double dropout;

  SoftMemoryModel(const ModelSizes& sizes, Random& random)
      : rnn(sizes.input, sizes.hidden, random, soft_memory_of(kind, sizes)),
        out(sizes.hidden, sizes.output, random),
        dropout(sizes.form.dropout.value_or(0)) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const { return answer(rnn(x).state.h, random); }
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    return answer(last_steps(rnn(x).y, count), random);
  }
  /// h and the cells after every row, and every answer.
  StatesOverTime states(const Tensor& x) const {
    StatesOverTime result;
    SoftMemoryState state;
    Tensors outputs;
    for (const Tensor& now : steps_of(x)) {
      state = rnn(unsqueeze(now, 1), state).state;
      const Shape shape = state.cells.shape();
      const Tensor cells = reshape(state.cells, {shape[0], shape[1] * shape[2], shape[3]});
      result.add("h", state.h);
      result.add("cells", cells);
      outputs.push_back(state.h);
      state.cells = reshape(cells, shape);  // later steps depend on what is shown
    }
    result.answers = out(stack(outputs, 1));
    return result;
  }
  void visit(auto&& see) const { see("rnn", rnn), see("out", out); }

 private:
  Tensor answer(const Tensor& h, Random* random) const {
    return out(dropout > 0 ? retrace::dropout(h, dropout, random) : h);
  }
};

}  // namespace retrace
