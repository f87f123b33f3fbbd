// The LSTM over a sequence in one op (lstm_sequence), and its step composed of others (lstm_step).
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/recurrent.h>

namespace retrace {

// i, f, o = sigmoid z, g = tanh z, c = f c_before + i g, h = o tanh c
template <class T> void plain::lstm_forward(const LstmForward<T>& args) {
  T *i = args.z, *f = i + args.size, *g = f + args.size, *o = g + args.size;
  for (std::int64_t k = 0; k < args.size; ++k) {
    i[k] = logistic(i[k]), f[k] = logistic(f[k]), g[k] = tanh(g[k]), o[k] = logistic(o[k]);
    args.c[k] = f[k] * args.c_before[k] + i[k] * g[k];
    args.h[k] = o[k] * tanh(args.c[k]);
  }
}

// dc += dh o (1 - tanh^2 c); dz = (dc g i', dc c_before f', dc i g', dh tanh c o'); dc <- dc f
template <class T> void plain::lstm_backward(const LstmBackward<T>& args) {
  const std::int64_t size = args.size;
  for (std::int64_t k = 0; k < size; ++k) {
    const T i = args.gates[k], f = args.gates[size + k], g = args.gates[2 * size + k], o = args.gates[3 * size + k];
    const T dh = args.dy == nullptr ? args.dh[k] : args.dh[k] + args.dy[k], tanh_c = tanh(args.c[k]);
    const T through_c = args.dc[k] + dh * o * (1 - tanh_c * tanh_c);
    args.dz[k] = through_c * g * i * (1 - i);
    args.dz[size + k] = through_c * args.c_before[k] * f * (1 - f);
    args.dz[2 * size + k] = through_c * i * (1 - g * g);
    args.dz[3 * size + k] = dh * tanh_c * o * (1 - o);
    args.dc[k] = through_c * f;
    args.dh[k] = T(0);
  }
}

RETRACE_INSTANTIATE_PLAIN(lstm_forward, LstmForward);
RETRACE_INSTANTIATE_PLAIN(lstm_backward, LstmBackward);

namespace {

constexpr OpInfo lstm_info{
    "lstm_sequence",
    "z = p + h U^T, i = sigmoid z_i, f = sigmoid z_f, g = tanh z_g, o = sigmoid z_o, c' = f c + i g, h' = o tanh c', "
    "for each step",
    "dc' += dh' o (1 - (tanh c')^2), dz_i = dc' g i (1 - i), dz_f = dc' c f (1 - f), dz_g = dc' i (1 - g^2), "
    "dz_o = dh' tanh c' o (1 - o), dp = dz, dU += dz^T h, dh = dz U, dc = dc' f, for each step backwards",
    "p, h, c, U",
    nullptr,
    recurrent_attributes};

// saved: 0 h, 1 weight, 2 y, 3 c, 4 c of every step, 5 gates, 6 lengths
void lstm_backward(Record& r) {
  dispatch_real(r.in(0).dtype, lstm_info.name, [&]<class T>(T) {
    const RecurrentGradients<T> gradients(r);
    const T *c0 = r.saved(3).values<T>(), *c = r.saved(4).values<T>(), *gates = r.saved(5).values<T>();
    const Tensor dh_now = gradients.of_last_state(1), dc_now = gradients.of_last_state(2);
    const Tensor dz_of_all = r.tensor_over_saved(5);
    T *dh = OpAccess::values<T>(dh_now), *dc = OpAccess::values<T>(dc_now), *dz = OpAccess::values<T>(dz_of_all);
    gradients.steps.backwards(gradients.dy, dh, {dz}, [&](const RecurrentStep& s) {
      kernels::run<T>(&kernels::KernelTable::lstm_backward, plain::lstm_backward<T>,
                      {.gates = s.gates(gates),
                       .c_before = s.before(c0, c),
                       .c = s.after(c),
                       .dy = s.after(gradients.dy),
                       .dh = s.state(dh),
                       .dc = s.state(dc),
                       .dz = s.gates(dz),
                       .size = s.n.hidden});
    });
    gradients.give({&dz_of_all, &dh_now, &dc_now});
    gradients.give_of_weight(3, dz);
  });
}

}  // namespace

LstmStep lstm_step(const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight) {
  check_defined("lstm_step", {{&projected, "projected"}, {&weight, "weight"}, {&h, "h"}, {&c, "c"}});
  const std::int64_t size = weight.dim(1);
  const Tensor z = intermediate("z", projected + linear(h, weight));
  const auto gate = [&](std::int64_t k) { return slice(z, {all, range(k * size, (k + 1) * size)}); };
  const Tensor i = intermediate("i", sigmoid(gate(0))), f = intermediate("f", sigmoid(gate(1)));
  const Tensor g = intermediate("g", tanh(gate(2))), o = intermediate("o", sigmoid(gate(3)));
  const Tensor kept = f * c;
  const Tensor next = intermediate("c", kept + i * g);
  return {intermediate("h", o * tanh(next)), next};
}

LstmSequence lstm_sequence(Tensor projected, const Tensor& h, const Tensor& c, const Tensor& weight,
                           const Tensor& lengths) {
  check_recurrent(lstm_info.name, projected, 4, weight, {{&h, "h"}, {&c, "c"}}, lengths);
  if (Tensor wide_projected = projected, wide_h = h, wide_c = c, wide_weight = weight;
      widen(lstm_info.name, "projected", {&wide_projected, &wide_h, &wide_c, &wide_weight}))
    return lstm_sequence(wide_projected, wide_h, wide_c, wide_weight, lengths);
  if (expand_fused()) {
    const auto [y, states] = steps_of<2>(projected, {h, c}, lengths, [&](const Tensor& p, const auto& state) {
      LstmStep next = lstm_step(p, state[0], state[1], weight);
      return std::array{next.h, next.c};
    });
    return {y, states[0], states[1]};
  }
  const Shape y_shape{projected.dim(0), projected.dim(1), h.dim(1)};
  LstmSequence result;
  dispatch_real(projected.dtype(), lstm_info.name, [&]<class T>(T) {
    const Tensor gates_of_all = to_write_over(projected), c_of_all = empty(y_shape, h.dtype());
    result = {empty(y_shape, h.dtype()), empty_like(h), empty_like(c)};
    const StateOverTime<T> h_over_time(h, result.y, result.h), c_over_time(c, c_of_all, result.c);
    T* gates = OpAccess::values<T>(gates_of_all);  // the sums, at first
    const StepsOverTime<T> steps(projected, weight, lengths);
    steps.forwards(gates, nullptr, {h_over_time, c_over_time}, [&](const RecurrentStep& s) {
      kernels::run<T>(&kernels::KernelTable::lstm_forward, plain::lstm_forward<T>,
                      {.z = s.gates(gates),
                       .c_before = s.before(c_over_time),
                       .c = s.after(c_over_time),
                       .h = s.after(h_over_time),
                       .size = s.n.hidden});
    });
    record(lstm_info, lstm_backward, {&projected, &h, &c, &weight}, {&result.y, &result.h, &result.c},
           {&h, &weight, &result.y, &c, &c_of_all, &gates_of_all, &lengths});
  });
  return result;
}

}  // namespace retrace
