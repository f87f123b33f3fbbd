#include <retrace/nn/memory/soft_memory_rnn.h>

#include <algorithm>

#include <retrace/nn/memory/head_rows.h>
#include <retrace/ops/loops/padding.h>

namespace retrace {
namespace {

const SoftMemoryRnnOptions& checked(const SoftMemoryRnnOptions& options, std::int64_t hidden) {
  if (options.memories < 1 || options.cells < 0 || options.cell_size < 1 || options.jump < 0 || hidden < 1)
    throw ValueError(text("SoftMemoryRnn: ", options.memories, " memories of ", options.cells, " cells of ",
                          options.cell_size, " numbers, a jump of ", options.jump, " and a state of ", hidden,
                          "; cells and jump have to be 0 or more, the others 1 or more"));
  const std::int64_t cells = std::max<std::int64_t>(1, options.cells);
  checked_product("SoftMemoryRnn", "the numbers in all cells", {options.memories, cells, options.cell_size});
  return options;
}

std::int64_t actions_of(const SoftMemoryRnnOptions& options) {
  return options.kind == SoftMemoryKind::tape && options.jump > 0 ? 5 : 3;
}

Linear recurrent_layer(std::int64_t hidden, const SoftMemoryRnnOptions& options, Random& random) {
  const std::int64_t read = options.memories * options.cell_size;
  Linear result(checked_sum("SoftMemoryRnn", "hidden + cells read", {hidden, read}), hidden, random, {.bias = false});
  copy_values(concat({orthogonal(hidden, hidden, random), glorot_uniform({hidden, read}, random)}, 1), result.weight);
  return result;
}

/// Where each of D = `count` cells comes from after each action: row 0 is v, row k is s_k, row D + 1 is 0. [actions D].
Tensor sources(const SoftMemoryRnnOptions& options, std::int64_t count, std::int64_t jump) {
  const std::int64_t actions = actions_of(options);
  Tensor rows = empty({actions * count}, i64);
  const std::int64_t moves[]{0, 1, -1, jump % count, -(jump % count)};
  rows.update<std::int64_t>([&](std::span<std::int64_t> values) {
    auto row = values.begin();
    if (options.kind == SoftMemoryKind::stack) {
      for (const std::int64_t first : {0, 2, 1})  // push, pop, nothing
        for (std::int64_t k = 0; k < count; ++k) *row++ = first + k;
      return;
    }
    for (std::int64_t action = 0; action < actions; ++action)
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t cell = ((k + moves[action]) % count + count) % count;
        *row++ = cell == 0 ? 0 : cell + 1;  // v was written into the first cell
      }
  });
  return rows;
}

std::int64_t cells_of(const SoftMemoryRnnOptions& options, const Tensor& x, const SoftMemoryState& state) {
  if (options.cells > 0) return options.cells;
  const bool given = state.cells.defined() && state.cells.rank() == 4 && state.cells.dim(2) > 0;
  return given ? state.cells.dim(2) : std::max<std::int64_t>(1, x.rank() == 3 ? x.dim(1) : 1);
}

}  // namespace

SoftMemoryRnn::SoftMemoryRnn(std::int64_t input_size, std::int64_t hidden, Random& random,
                             const SoftMemoryRnnOptions& memory)
    : input(input_size, (checked(memory, hidden), hidden), random),
      recurrent(recurrent_layer(hidden, memory, random)),
      act(hidden, memory.memories * (memory.cell_size + actions_of(memory)), random),
      options(memory) {}

std::int64_t SoftMemoryRnn::actions() const { return actions_of(options); }

SoftMemoryResult SoftMemoryRnn::operator()(const Tensor& x, const SoftMemoryState& state, const Tensor& lengths) const {
  const Scope scope(this, "soft_memory_rnn");
  check_defined("SoftMemoryRnn", x, "x");
  if (state.jump < 0) throw ValueError(text("SoftMemoryRnn: the state's jump is ", state.jump, "; give 0 or more"));
  const std::int64_t memories = options.memories, size = options.cell_size, count = cells_of(options, x, state);
  const std::int64_t jump = state.jump > 0 ? state.jump : options.jump;
  const std::int64_t batch = x.rank() == 3 ? x.dim(0) : 0, hidden = recurrent.weight.dim(0);
  const std::int64_t all_memories = batch * memories, value_numbers = memories * size;
  const Shape shape_of_h{batch, hidden}, shape_of_cells{batch, memories, count, size};
  check_heads("SoftMemoryRnn", x, input.weight.dim(1), state.h, shape_of_h, lengths);
  check_heads("SoftMemoryRnn", x, input.weight.dim(1), state.cells, shape_of_cells, lengths);
  const Tensor projected = transpose(input(with_harmless_padding(x, lengths)), {1, 0, 2}),
               from = sources(options, count, jump);
  const auto of_state = [&](const Tensor& part, const Shape& shape) {
    return part.defined() ? part : zeros(shape, projected.dtype());
  };
  const Tensor empty_row = zeros({all_memories, 1, size}, projected.dtype());
  Tensor h = of_state(state.h, shape_of_h);
  Tensor cells = reshape(of_state(state.cells, shape_of_cells), {all_memories, count, size});
  Tensors outputs;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const Tensor read = reshape(slice(cells, {all, 0}), {batch, value_numbers});
    const Tensor next_h = tanh(row_at(projected, t) + recurrent(concat({h, read}, 1)));
    const Tensors acts = split(act(next_h), {value_numbers, memories * actions()}, 1);
    const Tensor value = reshape(acts[0], {all_memories, 1, size});
    const Tensor action = softmax(reshape(acts[1], {all_memories, 1, actions()}));
    const Tensor results = take(concat({value, cells, empty_row}, 1), from, 1);
    const Tensor mixed = matmul(action, reshape(results, {all_memories, actions(), count * size}));
    h = heads_after(t, lengths, next_h, h);
    cells = heads_after(t, lengths, reshape(mixed, cells.shape()), cells);
    outputs.push_back(h);
  }
  return {stack(outputs, 1), {h, reshape(cells, shape_of_cells), state.jump}};
}

}  // namespace retrace
