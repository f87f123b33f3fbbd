// Ops of programs with several operands of fixed roles: products, attention, recurrent layers.
#include <retrace/tests/trust/program_ops.h>

namespace retrace {
namespace {

using naive::Array;
using naive::Arrays;
using naive::Extents;
using naive::Number;

using Fitting = std::optional<std::vector<Extents>>;

Array swapped(const Array& x) {
  const auto exchange = [](Extents i) { return std::swap(i.back(), i[i.size() - 2]), i; };
  return naive::fill(exchange(x.shape), [&](const Extents& index) { return x[exchange(index)]; });
}

/// a b of matrices, with broadcast leading axes.
Array product(const Array& a, const Array& b) {
  Extents lead_a(a.shape.begin(), a.shape.end() - 2), lead_b(b.shape.begin(), b.shape.end() - 2);
  Extents shape = naive::broadcast(lead_a, lead_b);
  shape.push_back(a.shape[a.shape.size() - 2]);
  shape.push_back(b.shape.back());
  return naive::fill(shape, [&](const Extents& index) {
    Number sum;
    for (std::int64_t k = 0; k < a.shape.back(); ++k)
      sum = sum + a[naive::with(index, index.size() - 1, k)] * b[naive::with(index, index.size() - 2, k)];
    return sum;
  });
}

Fitting factors(const Extents& x, Choices& choices, Numbers& n) {
  if (x.size() < 2) return std::nullopt;
  n = {choices.below(2), choices.below(2)};
  const std::int64_t inner = n[0] == 1 ? x[x.size() - 2] : x.back(), columns = 1 + choices.below(4);
  Extents other(x.begin(), x.end() - 2);
  if (choices.below(2) == 0) other.clear();
  for (std::int64_t& extent : other)
    if (choices.below(3) == 0) extent = 1;
  other.push_back(n[1] == 1 ? columns : inner);
  other.push_back(n[1] == 1 ? inner : columns);
  return std::vector<Extents>{other};
}

Fitting weights_of_rows(const Extents& x, Choices& choices, Numbers& n) {
  if (x.empty()) return std::nullopt;
  n = {choices.below(5)};
  const std::int64_t out = 1 + choices.below(4);
  return std::vector{Extents{out, x.back()}, Extents{out}};
}
Number activated(Number x, Activation f) {
  if (f == Activation::relu) return naive::above(x, 0) ? x : Number(0);
  if (f == Activation::tanh) return naive::tanh(x);
  if (f == Activation::sigmoid) return naive::sigmoid(x);
  return f == Activation::gelu ? x / 2 * (Number(1) + naive::erf(x / std::sqrt(2.0))) : x;
}

/// q [B, L, D]: k and v of another length.
Fitting keys_and_values(const Extents& q, Choices& choices, Numbers& n) {
  if (q.size() != 3) return std::nullopt;
  const std::int64_t heads = q[2] % 2 == 0 ? 1 + choices.below(2) : 1;
  n = {heads, choices.below(2)};
  const std::int64_t keys = n[1] == 1 ? q[1] : 1 + choices.below(4), width = heads * (1 + choices.below(3));
  return std::vector{Extents{q[0], keys, q[2]}, Extents{q[0], keys, width}};
}
/// The weights of a head, [B, L, Lk].
Array weights_of_head(const Arrays& in, std::int64_t head, std::int64_t heads, bool causal) {
  const Array &q = in[0], &k = in[1];
  const std::int64_t d = q.shape[2] / heads;
  const Array scores = naive::fill({q.shape[0], q.shape[1], k.shape[1]}, [&](const Extents& i) {
    if (causal && i[2] > i[1]) return Number(-1e300);
    Number sum;
    for (std::int64_t c = head * d; c < (head + 1) * d; ++c) sum = sum + q[{i[0], i[1], c}] * k[{i[0], i[2], c}];
    return sum / std::sqrt(static_cast<double>(d));
  });
  return naive::along(scores, 2, [](const naive::Line& x) {
    const Number all = naive::log_sum_exp(x);
    naive::Line result;
    for (const Number& each : x) result.push_back(each.value < -1e200 ? Number(0) : naive::exp(each - all));
    return result;
  });
}
Array attended(const Arrays& in, const Numbers& n) {
  const Array& v = in[2];
  const std::int64_t heads = n[0], width = v.shape[2] / heads;
  Arrays weights;
  for (std::int64_t head = 0; head < heads; ++head) weights.push_back(weights_of_head(in, head, heads, n[1] == 1));
  return naive::fill({v.shape[0], in[0].shape[1], v.shape[2]}, [&](const Extents& i) {
    Number sum;
    for (std::int64_t k = 0; k < v.shape[1]; ++k)
      sum = sum + weights[static_cast<std::size_t>(i[2] / width)][{i[0], i[1], k}] * v[{i[0], k, i[2]}];
    return sum;
  });
}

/// x [B, T, gates H] is projected: the states and weights of a recurrent layer of H features.
std::function<Fitting(const Extents&, Choices&, Numbers&)> recurrent(std::int64_t gates, std::size_t states,
                                                                     bool has_bias) {
  return [=](const Extents& x, Choices&, Numbers&) -> Fitting {
    if (x.size() != 3 || x[2] % gates != 0) return std::nullopt;
    const std::int64_t h = x[2] / gates;
    std::vector<Extents> result(states, Extents{x[0], h});
    result.push_back({x[2], h});
    if (has_bias) result.push_back({x[2]});
    return result;
  };
}
/// Runs a layer: step(p, u, h, c) of a feature changes h and c, where p(g) is the projection of gate g and u(g) is U h.
Arrays run_layer(
    const Array& x, std::int64_t gates, Array h, Array c, const Array& weight, bool has_cell,
    const std::function<void(const std::function<Number(std::int64_t)>& p, const std::function<Number(std::int64_t)>& u,
                             std::int64_t feature, Number& h, Number& c)>& step) {
  const std::int64_t batch = x.shape[0], steps = x.shape[1], features = x.shape[2] / gates;
  Array y{{batch, steps, features}, std::vector<Number>(static_cast<std::size_t>(batch * steps * features))};
  for (std::int64_t t = 0; t < steps; ++t) {
    const Array before = h;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < features; ++k) {
        const auto p = [&](std::int64_t gate) { return x[{b, t, gate * features + k}]; };
        const auto u = [&](std::int64_t gate) {
          Number sum;
          for (std::int64_t j = 0; j < features; ++j) sum = sum + weight[{gate * features + k, j}] * before[{b, j}];
          return sum;
        };
        const auto at = static_cast<std::size_t>(b * features + k);
        step(p, u, k, h.at[at], c.at[at]);
        y.at[static_cast<std::size_t>((b * steps + t) * features + k)] = h.at[at];
      }
  }
  return has_cell ? Arrays{y, h, c} : Arrays{y, h};
}

}  // namespace

std::vector<ProgramOp> layer_program_ops() {
  return {
      {"matmul", factors,
       [](const Tensors& in, const Numbers& n) {
         return Tensors{matmul(in[0], in[1], {.transpose_a = n[0] == 1, .transpose_b = n[1] == 1})};
       },
       [](const Arrays& in, const Numbers& n) {
         return Arrays{product(n[0] == 1 ? swapped(in[0]) : in[0], n[1] == 1 ? swapped(in[1]) : in[1])};
       }},
      {"linear", weights_of_rows,
       [](const Tensors& in, const Numbers& n) { return Tensors{linear(in[0], in[1], in[2], Activation(n[0]))}; },
       [](const Arrays& in, const Numbers& n) {
         return Arrays{
             naive::fill(naive::with(in[0].shape, in[0].shape.size() - 1, in[1].shape[0]), [&](const Extents& index) {
               const std::size_t last = index.size() - 1;
               Number sum = in[2][{index[last]}];
               for (std::int64_t k = 0; k < in[1].shape[1]; ++k)
                 sum = sum + in[0][naive::with(index, last, k)] * in[1][{index[last], k}];
               return activated(sum, Activation(n[0]));
             })};
       }},
      {"outer",
       [](const Extents& x, Choices& choices, Numbers&) -> Fitting {
         if (x.size() != 1) return std::nullopt;
         return std::vector<Extents>{Extents{1 + choices.below(4)}};
       },
       [](const Tensors& in, const Numbers&) { return Tensors{outer(in[0], in[1])}; },
       [](const Arrays& in, const Numbers&) {
         return Arrays{naive::fill({in[0].shape[0], in[1].shape[0]},
                                   [&](const Extents& i) { return in[0][{i[0]}] * in[1][{i[1]}]; })};
       }},
      {"einsum",
       [](const Extents& x, Choices&, Numbers&) -> Fitting {
         if (x.size() != 3) return std::nullopt;
         return std::vector<Extents>{Extents{x[2], x[0]}};
       },
       [](const Tensors& in, const Numbers&) { return Tensors{einsum("bij,jb->ib", in)}; },
       [](const Arrays& in, const Numbers&) {
         return Arrays{naive::fill({in[0].shape[1], in[0].shape[0]}, [&](const Extents& i) {
           Number sum;
           for (std::int64_t j = 0; j < in[0].shape[2]; ++j) sum = sum + in[0][{i[1], i[0], j}] * in[1][{j, i[1]}];
           return sum;
         })};
       }},
      {"attention", keys_and_values,
       [](const Tensors& in, const Numbers& n) {
         return Tensors{attention(in[0], in[1], in[2], {.heads = static_cast<int>(n[0]), .causal = n[1] == 1})};
       },
       [](const Arrays& in, const Numbers& n) { return Arrays{attended(in, n)}; }},
      {"lstm_sequence", recurrent(4, 2, false),
       [](const Tensors& in, const Numbers&) {
         const auto [y, h, c] = lstm_sequence(in[0], in[1], in[2], in[3]);
         return Tensors{y, h, c};
       },
       [](const Arrays& in, const Numbers&) {
         return run_layer(in[0], 4, in[1], in[2], in[3], true,
                          [](const auto& p, const auto& u, std::int64_t, Number& h, Number& c) {
                            const auto gate = [&](std::int64_t k) { return p(k) + u(k); };
                            c = naive::sigmoid(gate(1)) * c + naive::sigmoid(gate(0)) * naive::tanh(gate(2));
                            h = naive::sigmoid(gate(3)) * naive::tanh(c);
                          });
       }},
      {"gru_sequence", recurrent(3, 1, true),
       [](const Tensors& in, const Numbers&) {
         const auto [y, h] = gru_sequence(in[0], in[1], in[2], in[3]);
         return Tensors{y, h};
       },
       [](const Arrays& in, const Numbers&) {
         const std::int64_t features = in[1].shape[1];
         return run_layer(in[0], 3, in[1], in[1], in[2], false,
                          [&](const auto& p, const auto& u, std::int64_t k, Number& h, Number&) {
                            const auto q = [&](std::int64_t gate) { return u(gate) + in[3][{gate * features + k}]; };
                            const Number r = naive::sigmoid(p(0) + q(0)), z = naive::sigmoid(p(1) + q(1));
                            h = (Number(1) - z) * naive::tanh(p(2) + r * q(2)) + z * h;
                          });
       }},
      {"rnn_sequence", recurrent(1, 1, false),
       [](const Tensors& in, const Numbers&) {
         const auto [y, h] = rnn_sequence(in[0], in[1], in[2]);
         return Tensors{y, h};
       },
       [](const Arrays& in, const Numbers&) {
         return run_layer(
             in[0], 1, in[1], in[1], in[2], false,
             [](const auto& p, const auto& u, std::int64_t, Number& h, Number&) { h = naive::tanh(p(0) + u(0)); });
       }},
  };
}

const std::vector<ProgramOp>& program_ops() {
  static const std::vector<ProgramOp> ops = [] {
    std::vector<ProgramOp> list;
    for (const auto& part : {elementwise_program_ops(), row_program_ops(), shape_program_ops(), layer_program_ops()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return ops;
}

}  // namespace retrace
