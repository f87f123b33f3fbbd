#include <retrace/nn/memory/ntm.h>

#include <retrace/nn/memory/external_memory.h>
#include <retrace/ops/loops/padding.h>

namespace retrace {
namespace {

constexpr std::int64_t shifts = 3;  // by -1, 0 and 1

LstmCell controller_of(std::int64_t input, std::int64_t hidden, Random& random, const NtmOptions& options) {
  check_external_memory("Ntm", hidden, options.slots, options.slot_size, options.read_heads);
  const std::int64_t read = checked_product("Ntm", "the numbers read", {options.read_heads, options.slot_size});
  return {checked_sum("Ntm", "input + numbers read", {input, read}), hidden, random};
}

std::int64_t numbers_of_heads(const NtmOptions& options) {
  const std::int64_t of_a_head = checked_sum("Ntm", "the numbers of a head", {options.slot_size, 3 + shifts});
  const std::int64_t of_all = checked_product("Ntm", "the numbers of all heads", {options.read_heads + 1, of_a_head});
  return checked_sum("Ntm", "the numbers of all heads", {of_all, options.slot_size, options.slot_size});
}

/// Where slot i's new share comes from if it moves by -1, 0 and 1: row i is i + 1, i, i - 1, modulo N. [3 N].
Tensor sources_of_moves(std::int64_t slots) {
  Tensor rows = empty({slots * shifts}, i64);
  rows.update<std::int64_t>([=](std::span<std::int64_t> values) {
    auto row = values.begin();
    for (std::int64_t i = 0; i < slots; ++i)
      for (const std::int64_t move : {-1, 0, 1}) *row++ = (i - move + slots) % slots;
  });
  return rows;
}

/// [B, count, N]: all of each head's weight on the first slot.
Tensor at_first_slot(std::int64_t batch, std::int64_t count, std::int64_t slots, Dtype dtype) {
  return concat({ones({batch, count, 1}, dtype), zeros({batch, count, slots - 1}, dtype)}, 2);
}

}  // namespace

Ntm::Ntm(std::int64_t input, std::int64_t hidden, Random& random, const NtmOptions& memory)
    : controller(controller_of(input, hidden, random, memory)),
      heads(hidden, numbers_of_heads(memory), random),
      options(memory) {}

NtmState Ntm::first_state(std::int64_t batch, const NtmState& given, Dtype dtype) const {
  const auto [slots, size, reads] = options;
  const auto part = [](const char* name, const Tensor& tensor, const Tensor& first) {
    return part_of_state("Ntm", name, tensor, first);
  };
  const Tensor zero = zeros({batch, controller.hidden()}, dtype);
  return {.h = part("h", given.h, zero),
          .c = part("c", given.c, zero),
          .memory = part("memory", given.memory, full({batch, slots, size}, 1e-6, dtype)),
          .reads = part("reads", given.reads, zeros({batch, reads, size}, dtype)),
          .read_weights = part("read_weights", given.read_weights, at_first_slot(batch, reads, slots, dtype)),
          .write_weights = part("write_weights", given.write_weights, at_first_slot(batch, 1, slots, dtype))};
}

NtmState Ntm::step(const LstmState& after, const NtmState& before, const Tensor& moves) const {
  const std::int64_t slots = options.slots, size = options.slot_size, reads = options.read_heads;
  const std::int64_t batch = after.h.dim(0), count = reads + 1;
  const Tensors parts = split(heads(after.h), {count * size, count, count, count * shifts, count, size, size}, 1);
  const auto rows = [&](std::size_t k, std::int64_t width) { return reshape(parts[k], {batch, count, width}); };
  const auto row_of_write_head = [&](std::size_t k) { return reshape(parts[k], {batch, 1, size}); };

  const Tensor content = content_weights(before.memory, tanh(rows(0, size)), softplus(rows(1, 1)));
  const Tensor old = concat({before.read_weights, before.write_weights}, 1);
  const Tensor gated = old + sigmoid(rows(2, 1)) * (content - old);
  const Tensor moved = matmul(reshape(take(gated, moves, 2), {batch, count, slots, shifts}),
                              reshape(softmax(rows(3, shifts)), {batch, count, shifts, 1}));
  const Tensor scores = (1 + softplus(rows(4, 1))) * log(reshape(moved, gated.shape()) + 1e-16);
  const Tensors scores_of = split(scores, {reads, 1}, 1);
  const Tensor read_weights = softmax(scores_of[0]), write_weights = softmax(scores_of[1]);
  return {
      .h = after.h,
      .c = after.c,
      .memory = erase_and_add(before.memory, write_weights, sigmoid(row_of_write_head(5)), tanh(row_of_write_head(6))),
      .reads = matmul(read_weights, before.memory),
      .read_weights = read_weights,
      .write_weights = write_weights};
}

NtmResult Ntm::operator()(const Tensor& x, const NtmState& state, const Tensor& lengths) const {
  const Scope scope(this, "ntm");
  check_defined("Ntm", x, "x");
  check_heads("Ntm", x, controller.input() - options.read_heads * options.slot_size, {}, {}, lengths);
  const ControllerSteps control(controller, with_harmless_padding(x, lengths));
  NtmState now = first_state(x.dim(0), state, control.dtype());
  const Tensor moves = sources_of_moves(options.slots);
  Tensors outputs;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const NtmState next = step(control(t, now.reads, {now.h, now.c}), now, moves);
    const auto after = [&](const Tensor NtmState::*part) { return heads_after(t, lengths, next.*part, now.*part); };
    now = {after(&NtmState::h),
           after(&NtmState::c),
           after(&NtmState::memory),
           after(&NtmState::reads),
           after(&NtmState::read_weights),
           after(&NtmState::write_weights)};
    outputs.push_back(with_reads(now.h, now.reads));
  }
  return {stack(outputs, 1), now};
}

}  // namespace retrace
