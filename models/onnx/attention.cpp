// Attention, rotary positions and the gates of a memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include <retrace/models/onnx/operators.h>
#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

/// An operand of attention and its shape, [..., rows, columns], at first with all heads side by side in the columns.
struct Operand {
  std::string name;
  std::vector<Lengths> shape;

  const Lengths& rows() const { return shape[shape.size() - 2]; }
  std::int64_t columns() const { return shape.back().front(); }
};

Lengths fixed(const Call& call, std::int64_t length) { return Lengths(call.runs(), length); }

/// [..., heads, rows, columns] for [..., rows, heads, columns], and the other way round.
std::string exchange_heads(Builder& build, const std::string& x, std::size_t rank) {
  std::vector<std::int64_t> permutation(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) permutation[axis] = static_cast<std::int64_t>(axis);
  std::swap(permutation[rank - 2], permutation[rank - 3]);
  return build.node("Transpose", {x}, {{"perm", permutation}});
}

Operand split_heads(const Call& call, Operand x, std::int64_t heads) {
  if (heads == 1) return x;
  const std::int64_t columns = x.columns() / heads;
  x.shape.back() = fixed(call, heads);
  x.shape.push_back(fixed(call, columns));
  x.name = exchange_heads(call.build, call.build.node("Reshape", {x.name, call.build.shape(x.shape)}), x.shape.size());
  std::swap(x.shape[x.shape.size() - 2], x.shape[x.shape.size() - 3]);
  return x;
}

/// The heads of k or v, each as often as heads of q share it. (Of one head all shapes broadcast.)
Operand split_shared_heads(const Call& call, const Operand& x, std::int64_t heads, std::int64_t of_keys) {
  Operand result = split_heads(call, x, of_keys);
  if (of_keys == heads) return result;
  if (of_keys == 1) {
    result.name = unsqueeze(call.build, result.name, static_cast<int>(result.shape.size()) - 2);
    result.shape.insert(result.shape.end() - 2, fixed(call, 1));
    return result;
  }
  std::vector<std::int64_t> shared;
  for (std::int64_t head = 0; head < heads; ++head) shared.push_back(head / (heads / of_keys));
  const auto axis = static_cast<std::int64_t>(result.shape.size()) - 3;
  result.name = call.build.node("Gather", {result.name, call.build.integers(shared)}, {{"axis", axis}});
  return result;
}

std::string combine_heads(const Call& call, const std::string& y, std::size_t rank, std::int64_t heads) {
  if (heads == 1) return y;
  return call.build.node("Reshape", {exchange_heads(call.build, y, rank), call.build.shape(call.out_lengths())});
}

/// -inf where query i is not to see key j, that is j > i + keys - queries.
std::string hide_future(const Call& call, const std::string& scores, const Lengths& queries, const Lengths& keys) {
  Builder& b = call.build;
  Lengths before = keys;
  for (std::size_t run = 0; run < before.size(); ++run) {
    before[run] -= queries[run];
    if (before[run] < 0) call.fail("it is causal with more queries than keys");
  }
  const auto scalar = [&](const Lengths& length) { return b.node("Reshape", {b.length(length), b.integers({})}); };
  const std::string one = b.constant(full({}, 1, i64)), zero = b.constant(full({}, 0, i64));
  const std::string row = unsqueeze(b, b.node("Range", {scalar(before), scalar(keys), one}), 1);
  const std::string column = unsqueeze(b, b.node("Range", {zero, scalar(keys), one}), 0);
  const std::string is_hidden = b.node("Less", {row, column});
  return b.node("Where", {is_hidden, number(call, -std::numeric_limits<double>::infinity()), scores});
}

/// The mask, where it is the input after `operands` others.
std::string wanted_mask(const Call& call, int operands) { return call.inputs() > operands ? call.in(operands) : ""; }

/// w = softmax(q k^T / sqrt(d) + mask), y = w v, in each head. The exporter runs a model with a mask so that the tape
/// has it.
void build_heads(const Call& call, const Operand& q, const Operand& k, const Operand& v, const std::string& mask) {
  if (call.has("mask") || call.has("zeros")) call.fail("its mask is not on the tape");
  Builder& b = call.build;
  const std::int64_t heads = call.integer("heads"), of_keys = call.has("key_heads") ? call.integer("key_heads") : heads;
  const Operand of_q = split_heads(call, q, heads), of_k = split_shared_heads(call, k, heads, of_keys),
                of_v = split_shared_heads(call, v, heads, of_keys);
  const int rank = static_cast<int>(of_q.shape.size());
  const double scale = call.has("scale")
                           ? call.number("scale")
                           : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(of_q.columns(), 1)));
  const std::string products = b.node("MatMul", {of_q.name, exchange_last_axes(b, of_k.name, rank)});
  std::string scores = b.node("Mul", {products, number(call, scale)});
  if (!mask.empty()) scores = b.node("Add", {scores, mask});
  if (call.flag("causal")) scores = hide_future(call, scores, q.rows(), k.rows());
  const std::string weights = b.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  call.result(combine_heads(call, b.node("MatMul", {weights, of_v.name}), of_q.shape.size(), heads));
  if (call.outputs() > 1) call.result(weights, 1);
}

void build_attention(const Call& call) {
  const auto operand = [&](int i) { return Operand{call.in(i), call.lengths(i)}; };
  build_heads(call, operand(0), operand(1), operand(2), wanted_mask(call, 3));
}

/// q, k and v side by side in the columns, of all heads after each other or of each head together.
void build_packed_attention(const Call& call) {
  Builder& b = call.build;
  const std::int64_t heads = call.integer("heads"), size = call.integer("key_size");
  const std::vector<Lengths> shape = call.lengths(0);
  const std::int64_t columns = shape.back().front(), values = columns / heads - 2 * size;
  const bool by_head = call.word("layout") == "by_head";
  const std::vector<std::int64_t> parts =
      by_head ? std::vector{size, size, values} : std::vector{heads * size, heads * size, heads * values};
  std::string packed = call.in(0);
  if (by_head) {
    std::vector<Lengths> of_heads = shape;
    of_heads.back() = fixed(call, heads);
    of_heads.push_back(fixed(call, columns / heads));
    packed = b.node("Reshape", {packed, b.shape(of_heads)});
  }
  const auto names = b.nodes("Split", {packed, b.integers(parts)}, 3, {{"axis", std::int64_t{-1}}});
  const auto operand = [&](std::size_t k) {
    Operand part{names[k], shape};
    part.shape.back() = fixed(call, by_head ? heads * parts[k] : parts[k]);
    if (by_head) part.name = b.node("Reshape", {part.name, b.shape(part.shape)});
    return part;
  };
  Operand q = operand(0);
  if (const Lengths queries = call.each_integer("queries"); queries != q.rows()) {
    q.name = slice_axis(b, q.name, call.rank(0) - 2, fixed(call, 0), queries);
    q.shape[q.shape.size() - 2] = queries;
  }
  build_heads(call, q, operand(1), operand(2), wanted_mask(call, 1));
}

/// x cos m + partner(x) sin m, with the angles m of the rows in a table.
void build_rotary(const Call& call) {
  constexpr std::int64_t rows_of_table = 2048;
  if (call.has("c")) call.fail("its positions or its tables are given");
  Builder& b = call.build;
  const std::int64_t heads = call.integer("heads"), size = call.length(0, -1).front() / heads;
  const std::int64_t first = call.integer("first");
  const Lengths rows = call.length(0, -2);
  const std::int64_t table = std::max(rows_of_table, *std::ranges::max_element(rows));
  const bool halves = call.word("pairs") == "halves";
  Tensor cosine = empty({table, 1, size}, f64), sine = empty({table, 1, size}, f64), partner = empty({size}, i64);
  const auto cosines = cosine.mutable_values<double>(), sines = sine.mutable_values<double>();
  const auto partners = partner.mutable_values<std::int64_t>();
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t pair = halves ? k % (size / 2) : k / 2;
    const bool is_second = halves ? k >= size / 2 : k % 2 == 1;
    const double turn = std::pow(call.number("base"), -2.0 * static_cast<double>(pair) / static_cast<double>(size));
    partners[static_cast<std::size_t>(k)] = halves ? (k + size / 2) % size : k ^ 1;
    for (std::int64_t t = 0; t < table; ++t) {
      const double angle = static_cast<double>(first + t) * turn;
      cosines[static_cast<std::size_t>(t * size + k)] = std::cos(angle);
      sines[static_cast<std::size_t>(t * size + k)] = is_second ? std::sin(angle) : -std::sin(angle);
    }
  }
  const auto of_rows = [&](const Tensor& numbers) {
    return slice_axis(b, b.constant(numbers.to(call.dtype()), "rotary"), 0, fixed(call, 0), rows);
  };
  std::vector<Lengths> of_heads = call.lengths(0);
  of_heads.back() = fixed(call, heads);
  of_heads.push_back(fixed(call, size));
  const std::string x = b.node("Reshape", {call.in(0), b.shape(of_heads)});
  const std::string others = b.node("Gather", {x, b.constant(partner)}, {{"axis", std::int64_t{-1}}});
  const std::string turned =
      b.node("Add", {b.node("Mul", {x, of_rows(cosine)}), b.node("Mul", {others, of_rows(sine)})});
  call.result(b.node("Reshape", {turned, b.shape(call.out_lengths())}));
}

/// i = sigmoid(p + q + b_i), f = sigmoid(p + q + b_f) or 1 - i, m' = i tanh c + f m; inputs m, c, p, q, b_i, b_f
void build_gated_memory(const Call& call) {
  Builder& b = call.build;
  const bool coupled = call.flag("coupled");
  const std::string z = b.node("Add", {call.in(2), unsqueeze(b, call.in(3), -2)});
  const std::vector<std::string> gates = coupled ? std::vector{z} : split(b, z, -1, 2);
  const auto gate = [&](const std::string& sums, const std::string& bias) {
    return b.node("Sigmoid", {bias.empty() ? sums : b.node("Add", {sums, bias})});
  };
  const std::string i = gate(gates[0], call.in("b_i"));
  const std::string f = coupled ? b.node("Sub", {number(call, 1), i}) : gate(gates[1], call.in("b_f"));
  std::string candidate = call.in(1);
  if (call.length(0, -2) != call.length(1, -2))
    candidate = slice_axis(b, candidate, -2, fixed(call, 0), call.length(0, -2));
  const std::string written = b.node("Mul", {i, b.node("Tanh", {candidate})});
  call.result(b.node("Add", {written, b.node("Mul", {f, call.in(0)})}));
  call.result(i, 1);
  if (!coupled) call.result(f, 2);
}

}  // namespace

std::vector<Operator> attention_operators() {
  return {{"attention", build_attention, "MatMul, Mul, Softmax; causal: Range, Less, Where"},
          {"packed_attention", build_packed_attention, "Split, then as attention"},
          {"rotary", build_rotary, "a table of 2048 rows, Gather, Mul, Add"},
          {"gated_memory", build_gated_memory, "Add, Sigmoid, Tanh, Mul"}};
}

}  // namespace retrace::onnx
