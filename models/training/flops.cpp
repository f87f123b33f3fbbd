#include <retrace/models/training/flops.h>

#include <string_view>

namespace retrace {
namespace {

/// Rows of x [..., columns].
std::int64_t rows_of(const Shape& x) { return x[-1] == 0 ? 0 : x.numel() / x[-1]; }

std::int64_t linear_flops(const Record& r) { return 2 * rows_of(r.in(0).shape) * r.in(1).numel(); }

/// y has m n elements per product, each a sum over k; the last two axes of a, transposed or not, have m k elements.
std::int64_t matmul_flops(const Record& r) {
  const Shape &a = r.in(0).shape, &y = r.out(0).shape;
  if (a.rank() < 2 || y.numel() == 0) return 2 * a.numel() * (a.rank() < 2 && r.in(1).shape.rank() > 1 ? y[-1] : 1);
  const bool column = r.in(1).shape.rank() == 1;
  const std::int64_t columns = column ? 1 : y[-1], rows = column ? y[-1] : y[-2];
  return rows == 0 ? 0 : 2 * rows * columns * (a[-1] * a[-2] / rows) * (y.numel() / (rows * columns));
}

/// Scores and weighted sums of all heads, whose features lie side by side in a row of keys and in one of values.
std::int64_t attention_flops(const Record& r, std::int64_t keys, std::int64_t key_columns) {
  return 2 * rows_of(r.out(0).shape) * keys * (key_columns + r.out(0).shape[-1]);
}

/// The recurrent product of every step.
std::int64_t recurrent_flops(const Record& r) {
  const Shape& weight = r.in(r.inputs() - (std::string_view(r.op().name) == "gru_sequence" ? 2 : 1)).shape;
  return 2 * rows_of(r.in(0).shape) * weight.numel();
}

}  // namespace

std::int64_t forward_flops(const Record& r) {
  const std::string_view op = r.op().name;
  if (op == "linear") return linear_flops(r);
  if (op == "matmul") return matmul_flops(r);
  if (op == "lstm_sequence" || op == "gru_sequence" || op == "rnn_sequence") return recurrent_flops(r);
  if (op == "attention") return attention_flops(r, r.in(1).shape[-2], r.in(1).shape[-1]);
  if (op == "packed_attention") {
    const Shape &qkv = r.in(0).shape, &y = r.out(0).shape;
    return attention_flops(r, qkv[-2], (qkv[-1] - y[-1]) / 2);
  }
  return r.out(0).numel();
}

std::int64_t forward_flops(const Tape& tape) {
  std::int64_t sum = 0;
  for (const Record* record : tape.records()) sum += forward_flops(*record);
  return sum;
}

}  // namespace retrace
