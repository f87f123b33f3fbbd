// A model of a recurrent network with a stack or a tape.
#pragma once

#include <algorithm>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/recurrent.h>
#include <retrace/nn/memory/soft_memory_rnn.h>

namespace retrace {

/// x [B, T, I] -> z [B, O]: z = h_T W_out + b_out, after one stack or tape of T cells of 8 numbers, large enough for
/// any length, as in Deletang et al. (2023). A tape jumps by the length of the input: by as large a part of T as the
/// rows before the answers are of the task's longest sequence, and at least by 1. Dropout falls on h_T; a null random
/// turns it off, as in evaluation.
template <SoftMemoryKind kind> struct SoftMemoryModel {
  SoftMemoryRnn rnn;
  Linear out;
  double dropout;
  std::int64_t time, input_rows;  // of the longest sequence

  SoftMemoryModel(const ModelSizes& sizes, Random& random)
      : rnn(sizes.input, sizes.hidden, random, {.kind = kind, .jump = kind == SoftMemoryKind::tape ? 1 : 0}),
        out(sizes.hidden, sizes.output, random),
        dropout(sizes.form.dropout.value_or(0)),
        time(std::max<std::int64_t>(1, sizes.time)),
        input_rows(sizes.input_rows) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    return answer(rnn(x, beginning(x)).state.h, random);
  }
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    return answer(last_steps(rnn(x, beginning(x)).y, count), random);
  }
  /// h and the cells after every row, and every answer.
  StatesOverTime states(const Tensor& x) const {
    StatesOverTime result;
    SoftMemoryState state = beginning(x);
    state.cells = zeros({x.dim(0), 1, x.dim(1), rnn.options.cell_size}, x.dtype());
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
  SoftMemoryState beginning(const Tensor& x) const {
    const std::int64_t rows = x.rank() == 3 ? x.dim(1) : 0;
    return {.jump = std::max<std::int64_t>(1, rows * input_rows / time)};
  }
  Tensor answer(const Tensor& h, Random* random) const {
    return out(dropout > 0 ? retrace::dropout(h, dropout, random) : h);
  }
};

}  // namespace retrace
