// The GRU over a sequence in one op (gru_sequence), and its step composed of others (gru_step).
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/recurrent.h>
#include <retrace/ops/loops/sum_of_rows.h>

namespace retrace {

// r = sigmoid(p_r + q_r), z = sigmoid(p_z + q_z), n = tanh(p_n + r q_n), h = n + z (h_before - n)
template <class T> void plain::gru_forward(const GruForward<T>& args) {
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

constexpr OpInfo gru_info{
    "gru_sequence",
    "q = h U^T + b, r = sigmoid(p_r + q_r), z = sigmoid(p_z + q_z), n = tanh(p_n + r q_n), h' = n + z (h - n), "
    "for each step",
    "dp_n = dh' (1 - z) (1 - n^2), dq_n = dp_n r, dp_r = dp_n q_n r (1 - r), dq_r = dp_r, "
    "dp_z = dh' (h - n) z (1 - z), dq_z = dp_z, dU += dq^T h, db += sum dq along axis 0, dh = dq U + z dh', "
    "for each step backwards",
    "p, h, U, b",
    nullptr,
    recurrent_attributes};

// saved: 0 h, 1 weight, 2 y, 3 gates, 4 q of every step, 5 lengths
void gru_backward(Record& r) {
  dispatch_real(r.in(0).dtype, gru_info.name, [&]<class T>(T) {
    const RecurrentGradients<T> gradients(r);
    const T *gates = r.saved(3).values<T>(), *q = r.saved(4).values<T>();
    const Tensor dh_now = gradients.of_last_state(1);
    const Tensor dp_of_all = r.tensor_over_saved(3), dq_of_all = r.tensor_over_saved(4);
    T *dh = OpAccess::values<T>(dh_now), *dp = OpAccess::values<T>(dp_of_all), *dq = OpAccess::values<T>(dq_of_all);
    gradients.steps.backwards(gradients.dy, dh, {dp, dq}, [&](const RecurrentStep& s) {
      kernels::run<T>(&kernels::KernelTable::gru_backward, plain::gru_backward<T>,
                      {.gates = s.gates(gates),
                       .q = s.gates(q),
                       .h_before = s.before(gradients.h, gradients.y),
                       .dy = s.after(gradients.dy),
                       .dh = s.state(dh),
                       .dp = s.gates(dp),
                       .dq = s.gates(dq),
                       .size = s.n.hidden});
    });
    gradients.give({&dp_of_all, &dh_now});
    gradients.give_of_weight(2, dq);
    if (r.wants(3)) put_sum_of_rows<T>(dq, gradients.n.batch * gradients.n.time, gradients.n.gates, r.grad_in<T>(3));
  });
}

}  // namespace

Tensor gru_step(const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias, GruReset reset) {
  check_defined("gru_step", {{&projected, "projected"}, {&weight, "weight"}, {&h, "h"}});
  const std::int64_t size = weight.dim(1);
  const bool resets_first = reset == GruReset::before_product;
  const auto rows = [&](const Tensor& of, std::int64_t first, std::int64_t end) {
    return of.defined() ? slice(of, {range(first * size, end * size)}) : Tensor();
  };
  const auto gate = [&](const Tensor& of, std::int64_t k) { return slice(of, {all, range(k * size, (k + 1) * size)}); };
  const Tensor recurrent = resets_first ? linear(h, rows(weight, 0, 2), rows(bias, 0, 2)) : linear(h, weight, bias);
  const Tensor p_r = gate(projected, 0), p_z = gate(projected, 1), p_n = gate(projected, 2);
  const Tensor q_r = gate(recurrent, 0), q_z = gate(recurrent, 1), q_n = resets_first ? Tensor() : gate(recurrent, 2);
  const Tensor r = intermediate("r", sigmoid(p_r + q_r)), z = intermediate("z", sigmoid(p_z + q_z));
  const Tensor of_h = resets_first ? linear(r * h, rows(weight, 2, 3), rows(bias, 2, 3)) : r * q_n;
  const Tensor n = intermediate("n", tanh(p_n + of_h));
  return intermediate("h", n + z * (h - n));
}

RnnSequence gru_sequence(Tensor projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                         const Tensor& lengths, GruReset reset) {
  check_recurrent(gru_info.name, projected, 3, weight, {{&h, "h"}}, lengths);
  if (!bias.defined())
    return gru_sequence(std::move(projected), h, weight, zeros({weight.dim(0)}, weight.dtype()), lengths, reset);
  if (bias.shape() != Shape{weight.dim(0)})
    throw ShapeError(
        text("gru_sequence: the bias ", bias.shape(), " must be [", weight.dim(0), "], one number per gate"));
  if (Tensor wide_projected = projected, wide_h = h, wide_weight = weight, wide_bias = bias;
      widen(gru_info.name, "projected", {&wide_projected, &wide_h, &wide_weight, &wide_bias}))
    return gru_sequence(wide_projected, wide_h, wide_weight, wide_bias, lengths, reset);
  if (expand_fused() || reset == GruReset::before_product)
    return steps_of_one_state(projected, h, lengths, [&](const Tensor& p, const Tensor& state) {
      return gru_step(p, state, weight, bias, reset);
    });
  RnnSequence result;
  dispatch_real(projected.dtype(), gru_info.name, [&]<class T>(T) {
    const Tensor gates_of_all = to_write_over(projected), q_of_all = empty_like(projected);
    result = {empty({projected.dim(0), projected.dim(1), h.dim(1)}, h.dtype()), empty_like(h)};
    const StateOverTime<T> h_over_time(h, result.y, result.h);
    T *gates = OpAccess::values<T>(gates_of_all), *q = OpAccess::values<T>(q_of_all);  // gates: p, at first
    const StepsOverTime<T> steps(projected, weight, lengths);
    steps.forwards(q, bias.values<T>().data(), {h_over_time}, [&](const RecurrentStep& s) {
      kernels::run<T>(&kernels::KernelTable::gru_forward, plain::gru_forward<T>,
                      {.p = s.gates(gates),
                       .q = s.gates(q),
                       .h_before = s.before(h_over_time),
                       .h = s.after(h_over_time),
                       .size = s.n.hidden});
    });
    record(gru_info, gru_backward, {&projected, &h, &weight, &bias}, {&result.y, &result.h},
           {&h, &weight, &result.y, &gates_of_all, &q_of_all, &lengths});
  });
  return result;
}

}  // namespace retrace
