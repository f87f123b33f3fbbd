// The GRU over a sequence in one op (gru_sequence), and its step composed of others (gru_step).
#include <cmath>

#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/recurrent.h>
#include <retrace/ops/loops/sum_of_rows.h>

namespace retrace {

// r = sigmoid(p_r + q_r), z = sigmoid(p_z + q_z), n = tanh(p_n + r q_n), h = n + z (h_before - n)
template <class T> void plain::gru_forward(const GruForward<T>& args) {
  using std::tanh;
  T *r = args.p, *z = r + args.size, *n = z + args.size;
  const T *q_r = args.q, *q_z = q_r + args.size, *q_n = q_z + args.size;
  for (std::int64_t k = 0; k < args.size; ++k) {
    r[k] = logistic(r[k] + q_r[k]), z[k] = logistic(z[k] + q_z[k]);
    n[k] = tanh(n[k] + r[k] * q_n[k]);
    args.h[k] = n[k] + z[k] * (args.h_before[k] - n[k]);
  }
}

// dp_n = dh (1 - z) (1 - n^2), dp_r = dp_n q_n r (1 - r), dp_z = dh (h_before - n) z (1 - z);
// dq_r = dp_r, dq_z = dp_z, dq_n = dp_n r; dh <- dh z
template <class T> void plain::gru_backward(const GruBackward<T>& args) {
  const std::int64_t size = args.size;
  for (std::int64_t k = 0; k < size; ++k) {
    const T r = args.gates[k], z = args.gates[size + k], n = args.gates[2 * size + k];
    const T dh = args.dy == nullptr ? args.dh[k] : args.dh[k] + args.dy[k];
    const T dn = dh * (1 - z) * (1 - n * n);
    args.dq[k] = args.dp[k] = dn * args.q[2 * size + k] * r * (1 - r);
    args.dq[size + k] = args.dp[size + k] = dh * (args.h_before[k] - n) * z * (1 - z);
    args.dp[2 * size + k] = dn;
    args.dq[2 * size + k] = dn * r;
    args.dh[k] = dh * z;
  }
}

RETRACE_INSTANTIATE_PLAIN(gru_forward, GruForward);
RETRACE_INSTANTIATE_PLAIN(gru_backward, GruBackward);

namespace {

constexpr OpInfo info{
    "gru_sequence",
    "q = h U^T + b, r = sigmoid(p_r + q_r), z = sigmoid(p_z + q_z), n = tanh(p_n + r q_n), h' = n + z (h - n), "
    "for each step",
    "dp_n = dh' (1 - z) (1 - n^2), dq_n = dp_n r, dp_r = dp_n q_n r (1 - r), dq_r = dp_r, "
    "dp_z = dh' (h - n) z (1 - z), dq_z = dp_z, dU += dq^T h, db += sum dq along axis 0, dh = dq U + z dh', "
    "for each step backwards",
    "p, h, U, b",
    nullptr,
    recurrent_attributes};
constexpr std::int64_t gates_of_one = 3;

// saved: 0 h0, 1 weight, 2 y, 3 gates, 4 q of every step, 5 lengths
template <class T> void backward_of(Record& record) {
  const RecurrentSizes n(record.in(0).shape, record.in(1).shape[1]);
  const T *h0 = record.saved(0).values<T>(), *weight = record.saved(1).values<T>(), *y = record.saved(2).values<T>();
  const T *gates = record.saved(3).values<T>(), *q = record.saved(4).values<T>(), *dy = record.grad_out<T>(0);
  const SampleLengths lengths =
      record.saved(5) ? SampleLengths(record.saved(5).values<std::int64_t>()) : SampleLengths();
  const Tensor dh_now = state_gradient<T>(record, 1, n), h_before = record.tensor_over_saved(2);
  const Tensor dp_of_all = record.tensor_over_saved(3), dq_of_all = record.tensor_over_saved(4);
  const T* before = n.put_states_before(h0, y, h_before);
  T* dh = OpAccess::values<T>(dh_now);
  T *dp = OpAccess::values<T>(dp_of_all), *dq = OpAccess::values<T>(dq_of_all);

  const PackedWeight<T> packed = n.packed(weight, false);
  for (std::int64_t t = n.time - 1; t >= 0; --t) {
    n.for_each_sample([&](std::int64_t b) {
      T* dh_b = dh + b * n.hidden;
      const std::int64_t step = b * n.time + t, now = step * n.gates;
      if (!lengths.reach(b, t)) {  // the state went through
        add_step(dy, n, t, b, dh_b);
        std::fill(dp + now, dp + now + n.gates, T(0));
        std::fill(dq + now, dq + now + n.gates, T(0));
        return;
      }
      kernels::run<T>(&kernels::KernelTable::gru_backward, plain::gru_backward<T>,
                      {.gates = gates + now,
                       .q = q + now,
                       .h_before = before + step * n.hidden,
                       .dy = dy == nullptr ? nullptr : dy + step * n.hidden,
                       .dh = dh_b,
                       .dp = dp + now,
                       .dq = dq + now,
                       .size = n.hidden});
    });
    const Rows<T> dq_now = step_of(dq, t, n.time, n.gates);
    n.add_to_state_gradient<T>({dq_now.data, dq_now.stride}, packed, dh);
  }
  if (record.wants(0)) record.add(0, dp_of_all);
  if (record.wants(1)) record.add(1, dh_now);
  if (record.wants(2)) n.put_weight_gradient<T>(dq, before, record.grad_in<T>(2));
  if (record.wants(3)) put_sum_of_rows<T>(dq, n.batch * n.time, n.gates, record.grad_in<T>(3));
}

void backward(Record& record) {
  dispatch_real(record.in(0).dtype, info.name, [&](auto zero) { backward_of<decltype(zero)>(record); });
}

/// gates holds p at first; q has room for all steps.
template <class T>
void forward(const RecurrentSizes& n, const T* h0, const T* weight, const T* bias, const SampleLengths& lengths,
             T* gates, T* q, T* y) {
  const PackedWeight<T> packed = n.packed(weight, true);
  for (std::int64_t t = 0; t < n.time; ++t) {
    const Rows<T> p_now = step_of(gates, t, n.time, n.gates), q_now = step_of(q, t, n.time, n.gates);
    const Rows<T> h_now = step_of(y, t, n.time, n.hidden);
    const Rows<const T> h_before = t == 0 ? Rows<const T>{h0, n.hidden} : step_of<const T>(y, t - 1, n.time, n.hidden);
    n.add_recurrent(h_before, packed, q_now, bias, false);
    n.for_each_sample([&](std::int64_t b) {
      kernels::run<T>(&kernels::KernelTable::gru_forward, plain::gru_forward<T>,
                      {.p = p_now[b], .q = q_now[b], .h_before = h_before[b], .h = h_now[b], .size = n.hidden});
      if (!lengths.reach(b, t)) std::copy(h_before[b], h_before[b] + n.hidden, h_now[b]);
    });
  }
}

}  // namespace

Tensor gru_step(const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias) {
  check_step("gru_step", projected, weight, {{&h, "h"}});
  check_defined("gru_step", bias, "bias");
  const std::int64_t size = weight.dim(1);
  const Tensor recurrent = linear(h, weight, bias);
  const auto gate = [&](const Tensor& of, std::int64_t k) { return slice(of, {all, range(k * size, (k + 1) * size)}); };
  const Tensor p_r = gate(projected, 0), p_z = gate(projected, 1), p_n = gate(projected, 2);
  const Tensor q_r = gate(recurrent, 0), q_z = gate(recurrent, 1), q_n = gate(recurrent, 2);
  const Tensor r = sigmoid(p_r + q_r), z = sigmoid(p_z + q_z), n = tanh(p_n + r * q_n);
  return n + z * (h - n);
}

RnnSequence gru_sequence(Tensor projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                         const Tensor& lengths) {
  check_defined(info.name, bias, "bias");
  check_recurrent(info.name, projected, gates_of_one, weight, {{&h, "h"}}, lengths);
  if (bias.shape() != Shape{weight.dim(0)})
    throw ShapeError(
        text("gru_sequence: the bias ", bias.shape(), " must be [", weight.dim(0), "], one number per gate"));
  if (Tensor wide_projected = projected, wide_h = h, wide_weight = weight, wide_bias = bias;
      widen(info.name, "projected", {&wide_projected, &wide_h, &wide_weight, &wide_bias}))
    return gru_sequence(wide_projected, wide_h, wide_weight, wide_bias, lengths);
  if (expand_fused()) {
    const auto [y, states] = steps_of<1>(projected, {h}, lengths, [&](const Tensor& p, const auto& state) {
      return std::array{gru_step(p, state[0], weight, bias)};
    });
    return {y, states[0]};
  }
  const RecurrentSizes n(projected.shape(), weight.dim(1));
  RnnSequence result;
  dispatch_real(projected.dtype(), info.name, [&](auto zero) {
    using T = decltype(zero);
    const Tensor gates = to_write_over(projected), q = empty_like(projected);
    result = {empty({n.batch, n.time, n.hidden}, projected.dtype()), empty_like(h)};
    T* y = OpAccess::values<T>(result.y);
    forward<T>(n, h.values<T>().data(), weight.values<T>().data(), bias.values<T>().data(), lengths_of_samples(lengths),
               OpAccess::values<T>(gates), OpAccess::values<T>(q), y);
    copy_last_step<T>(y, h.values<T>().data(), n, OpAccess::values<T>(result.h));
    record(info, backward, {&projected, &h, &weight, &bias}, {&result.y, &result.h},
           {&h, &weight, &result.y, &gates, &q, &lengths});
  });
  return result;
}

}  // namespace retrace
