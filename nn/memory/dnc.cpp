#include <retrace/nn/memory/dnc.h>

#include <retrace/nn/memory/external_memory.h>
#include <retrace/ops/loops/padding.h>

namespace retrace {
namespace {

constexpr std::int64_t modes = 3;  // backwards, by content, forwards

LstmCell controller_of(std::int64_t input, std::int64_t hidden, Random& random, const DncOptions& options) {
  check_external_memory("Dnc", hidden, options.slots, options.slot_size, options.read_heads);
  const std::int64_t read = checked_product("Dnc", "the numbers read", {options.read_heads, options.slot_size});
  return {checked_sum("Dnc", "input + numbers read", {input, read}), hidden, random};
}

std::int64_t numbers_of_heads(const DncOptions& options) {
  const std::int64_t of_a_head = checked_sum("Dnc", "the numbers of a read head", {options.slot_size, 2 + modes});
  const std::int64_t of_all = checked_product("Dnc", "the numbers of all read heads", {options.read_heads, of_a_head});
  return checked_sum("Dnc", "the numbers of all heads",
                     {of_all, options.slot_size, options.slot_size, options.slot_size, 3});
}

/// The inverse of each row, which is a permutation.
Tensor inverse_of(const Tensor& order) {
  Tensor result = empty(order.shape(), i64);
  const std::int64_t count = order.dim(-1);
  result.update<std::int64_t>([&](std::span<std::int64_t> values) {
    std::int64_t* row = values.data();
    std::int64_t place = 0;
    for (const std::int64_t index : order.values<std::int64_t>()) {
      row[index] = place++;
      if (place == count) place = 0, row += count;
    }
  });
  return result;
}

/// a for u [B, 1, N].
Tensor allocation(const Tensor& usage) {
  constexpr double eps = 1e-6;
  const auto [sorted, order] = sort(eps + (1 - eps) * usage);
  const std::int64_t last = usage.dim(2) - 1;
  const Tensor one = ones({usage.dim(0), 1, 1}, usage.dtype());
  const Tensor of_those_before = cumprod(concat({one, slice(sorted, {all, all, range(0, last)})}, 2));
  return gather((1 - sorted) * of_those_before, inverse_of(order));
}

/// L' for w' and p [B, 1, N].
Tensor linked(const Tensor& links, const Tensor& weights, const Tensor& precedence) {
  const std::int64_t slots = links.dim(1);
  const Tensor column = reshape(weights, {links.dim(0), slots, 1});
  const Tensor off_diagonal = 1 - eye(slots, slots, links.dtype());
  return off_diagonal * ((1 - column - weights) * links + column * precedence);
}

}  // namespace

Dnc::Dnc(std::int64_t input, std::int64_t hidden, Random& random, const DncOptions& memory)
    : controller(controller_of(input, hidden, random, memory)),
      heads(hidden, numbers_of_heads(memory), random),
      options(memory) {}

DncState Dnc::first_state(std::int64_t batch, const DncState& given, Dtype dtype) const {
  const auto [slots, size, reads] = options;
  const auto part = [dtype](const char* name, const Tensor& tensor, const Shape& shape) {
    return part_of_state("Dnc", name, tensor, zeros(shape, dtype));
  };
  const Shape of_controller{batch, controller.hidden()}, of_slots{batch, 1, slots};
  return {.h = part("h", given.h, of_controller),
          .c = part("c", given.c, of_controller),
          .memory = part("memory", given.memory, {batch, slots, size}),
          .reads = part("reads", given.reads, {batch, reads, size}),
          .read_weights = part("read_weights", given.read_weights, {batch, reads, slots}),
          .write_weights = part("write_weights", given.write_weights, of_slots),
          .usage = part("usage", given.usage, of_slots),
          .links = part("links", given.links, {batch, slots, slots}),
          .precedence = part("precedence", given.precedence, of_slots)};
}

DncState Dnc::step(const LstmState& after, const DncState& before) const {
  const std::int64_t slots = options.slots, size = options.slot_size, reads = options.read_heads;
  const std::int64_t batch = after.h.dim(0);
  const Tensors parts =
      split(heads(after.h), {reads * size, reads, reads, reads * modes, size, 1, size, size, 1, 1}, 1);
  const auto of_read_heads = [&](std::size_t k, std::int64_t width) {
    return reshape(parts[k], {batch, reads, width});
  };
  const auto of_write_head = [&](std::size_t k, std::int64_t width) { return reshape(parts[k], {batch, 1, width}); };
  const auto strength = [](const Tensor& z) { return 1 + softplus(z); };

  const Tensor kept = prod(1 - sigmoid(of_read_heads(2, 1)) * before.read_weights, 1, {.keepdims = true});
  const Tensor usage = (before.usage + (1 - before.usage) * before.write_weights) * kept;
  const Tensor by_content = content_weights(before.memory, of_write_head(4, size), strength(of_write_head(5, 1)));
  const Tensor to_free = sigmoid(of_write_head(8, 1)) * (allocation(usage) - by_content);
  const Tensor write_weights = sigmoid(of_write_head(9, 1)) * (by_content + to_free);
  const Tensor memory =
      erase_and_add(before.memory, write_weights, sigmoid(of_write_head(6, size)), of_write_head(7, size));

  const Tensor links = linked(before.links, write_weights, before.precedence);
  const Tensor backwards = matmul(before.read_weights, links);
  const Tensor forwards = matmul(before.read_weights, links, {.transpose_b = true});
  const Tensor content = content_weights(memory, of_read_heads(0, size), strength(of_read_heads(1, 1)));
  const Tensor mode = reshape(softmax(of_read_heads(3, modes)), {batch, reads, modes, 1});
  const Tensor read_weights = reshape(matmul(stack({backwards, content, forwards}, 3), mode), {batch, reads, slots});
  return {.h = after.h,
          .c = after.c,
          .memory = memory,
          .reads = matmul(read_weights, memory),
          .read_weights = read_weights,
          .write_weights = write_weights,
          .usage = usage,
          .links = links,
          .precedence = (1 - sum(write_weights, 2, {.keepdims = true})) * before.precedence + write_weights};
}

DncResult Dnc::operator()(const Tensor& x, const DncState& state, const Tensor& lengths) const {
  const Scope scope(this, "dnc");
  check_defined("Dnc", x, "x");
  check_heads("Dnc", x, controller.input() - options.read_heads * options.slot_size, {}, {}, lengths);
  const ControllerSteps control(controller, with_harmless_padding(x, lengths));
  DncState now = first_state(x.dim(0), state, control.dtype());
  Tensors outputs;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const DncState next = step(control(t, now.reads, {now.h, now.c}), now);
    const auto after = [&](const Tensor DncState::*part) { return heads_after(t, lengths, next.*part, now.*part); };
    now = {after(&DncState::h),
           after(&DncState::c),
           after(&DncState::memory),
           after(&DncState::reads),
           after(&DncState::read_weights),
           after(&DncState::write_weights),
           after(&DncState::usage),
           after(&DncState::links),
           after(&DncState::precedence)};
    outputs.push_back(with_reads(now.h, now.reads));
  }
  return {stack(outputs, 1), now};
}

}  // namespace retrace
