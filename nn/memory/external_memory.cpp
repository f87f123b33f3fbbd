#include <retrace/nn/memory/external_memory.h>

#include <cmath>

namespace retrace {
namespace {

/// v / sqrt(sum v^2 + 1e-6) of the rows v [B, n, W].
Tensor unit_rows(const Tensor& rows) {
  const double size = static_cast<double>(rows.dim(2));
  return rms_norm(rows, {}, 1e-6 / size) / std::sqrt(size);
}

Tensor flat(const Tensor& reads) { return reshape(reads, {reads.dim(0), reads.dim(1) * reads.dim(2)}); }

}  // namespace

ControllerSteps::ControllerSteps(const LstmCell& cell, const Tensor& x)
    : cell_(cell),
      of_x_(transpose(linear(x, slice(cell.weight_ih, {all, range(0, x.dim(2))}), cell.bias), {1, 0, 2})),
      reads_to_gates_(slice(cell.weight_ih, {all, range(x.dim(2))})) {}

LstmState ControllerSteps::operator()(std::int64_t t, const Tensor& reads, const LstmState& before) const {
  const Scope scope(&cell_, "lstm_cell");
  return cell_.step(row_at(of_x_, t) + linear(flat(reads), reads_to_gates_), before);
}

Tensor content_weights(const Tensor& memory, const Tensor& keys, const Tensor& strengths) {
  return softmax(matmul(strengths * unit_rows(keys), unit_rows(memory), {.transpose_b = true}));
}

Tensor erase_and_add(const Tensor& memory, const Tensor& weights, const Tensor& erase, const Tensor& add) {
  const Tensor column = reshape(weights, {memory.dim(0), memory.dim(1), 1});
  return memory - matmul(column, erase) * memory + matmul(column, add);
}

Tensor with_reads(const Tensor& h, const Tensor& reads) { return concat({h, flat(reads)}, 1); }

Tensor part_of_state(const char* layer, const char* name, const Tensor& given, const Tensor& first) {
  if (!given.defined()) return first;
  if (given.shape() != first.shape())
    throw ShapeError(text(layer, ": ", name, given.shape(), " of the state must be ", first.shape(),
                          "; pass on the state of an earlier call, or none"));
  return given;
}

void check_external_memory(const char* layer, std::int64_t hidden, std::int64_t slots, std::int64_t slot_size,
                           int read_heads) {
  if (hidden < 1 || slots < 1 || slot_size < 1 || read_heads < 1)
    throw ValueError(text(layer, ": a state of ", hidden, ", ", read_heads, " read heads and ", slots, " slots of ",
                          slot_size, " numbers; each has to be 1 or more"));
  checked_product(layer, "the numbers in all slots", {slots, slot_size});
}

}  // namespace retrace
