// The LSTM over a sequence in one op (lstm_sequence), and its step composed of others (lstm_step).
#include <cmath>

#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/recurrent.h>

namespace retrace {

// i, f, o = sigmoid z, g = tanh z, c = f c_before + i g, h = o tanh c
template <class T> void plain::lstm_forward(const LstmForward<T>& args) {
  using std::tanh;
  T *i = args.z, *f = i + args.size, *g = f + args.size, *o = g + args.size;
  for (std::int64_t k = 0; k < args.size; ++k) {
    i[k] = logistic(i[k]), f[k] = logistic(f[k]), g[k] = tanh(g[k]), o[k] = logistic(o[k]);
    args.c[k] = f[k] * args.c_before[k] + i[k] * g[k];
    args.h[k] = o[k] * tanh(args.c[k]);
  }
}

// dc += dh o (1 - tanh^2 c); dz = (dc g i', dc c_before f', dc i g', dh tanh c o'); dc <- dc f
template <class T> void plain::lstm_backward(const LstmBackward<T>& args) {
  using std::tanh;
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

constexpr OpInfo info{
    "lstm_sequence",
    "z = p + h U^T, i = sigmoid z_i, f = sigmoid z_f, g = tanh z_g, o = sigmoid z_o, c' = f c + i g, h' = o tanh c', "
    "for each step",
    "dc' += dh' o (1 - (tanh c')^2), dz_i = dc' g i (1 - i), dz_f = dc' c f (1 - f), dz_g = dc' i (1 - g^2), "
    "dz_o = dh' tanh c' o (1 - o), dp = dz, dU += dz^T h, dh = dz U, dc = dc' f, for each step backwards",
    "p, h, c, U",
    nullptr,
    recurrent_attributes};
constexpr std::int64_t gates_of_one = 4;

/// gates holds p at first; c has room for the cell state after every step.
template <class T>
void forward(const RecurrentSizes& n, const T* h0, const T* c0, const T* weight, const SampleLengths& lengths, T* gates,
             T* c, T* y) {
  const auto before = [&](const T* sequence, const T* first, std::int64_t t) {
    return t == 0 ? Rows<const T>{first, n.hidden} : step_of(sequence, t - 1, n.time, n.hidden);
  };
  const PackedWeight<T> packed = n.packed(weight, true);
  for (std::int64_t t = 0; t < n.time; ++t) {
    const Rows<const T> h_before = before(y, h0, t), c_before = before(c, c0, t);
    const Rows<T> z = step_of(gates, t, n.time, n.gates);
    const Rows<T> h_now = step_of(y, t, n.time, n.hidden), c_now = step_of(c, t, n.time, n.hidden);
    n.add_recurrent(h_before, packed, z);
    n.for_each_sample([&](std::int64_t b) {
      kernels::run<T>(&kernels::KernelTable::lstm_forward, plain::lstm_forward<T>,
                      {.z = z[b], .c_before = c_before[b], .c = c_now[b], .h = h_now[b], .size = n.hidden});
      if (lengths.reach(b, t)) return;
      std::copy(h_before[b], h_before[b] + n.hidden, h_now[b]);
      std::copy(c_before[b], c_before[b] + n.hidden, c_now[b]);
    });
  }
}

// saved: 0 h0, 1 c0, 2 weight, 3 y, 4 gates, 5 c of every step, 6 lengths
template <class T> void backward_of(Record& r) {
  const RecurrentSizes n(r.in(0).shape, r.in(1).shape[1]);
  const T *h0 = r.saved(0).values<T>(), *c0 = r.saved(1).values<T>(), *weight = r.saved(2).values<T>();
  const T *y = r.saved(3).values<T>(), *gates = r.saved(4).values<T>(), *c = r.saved(5).values<T>();
  const T* dy = r.grad_out<T>(0);
  const SampleLengths lengths = r.saved(6) ? SampleLengths(r.saved(6).values<std::int64_t>()) : SampleLengths();
  const Tensor dh_now = state_gradient<T>(r, 1, n), dc_now = state_gradient<T>(r, 2, n);
  const Tensor dz_of_all = r.tensor_over_saved(4);
  T *dh = OpAccess::values<T>(dh_now), *dc = OpAccess::values<T>(dc_now);
  T* dz = OpAccess::values<T>(dz_of_all);

  const PackedWeight<T> packed = n.packed(weight, false);
  for (std::int64_t t = n.time - 1; t >= 0; --t) {
    const Rows<T> dz_now = step_of(dz, t, n.time, n.gates);
    n.for_each_sample([&](std::int64_t b) {
      T* dh_b = dh + b * n.hidden;
      const std::int64_t now = (b * n.time + t) * n.hidden;
      if (!lengths.reach(b, t)) {  // the state went through
        add_step(dy, n, t, b, dh_b);
        std::fill(dz_now[b], dz_now[b] + n.gates, T(0));
        return;
      }
      kernels::run<T>(&kernels::KernelTable::lstm_backward, plain::lstm_backward<T>,
                      {.gates = gates + (b * n.time + t) * n.gates,
                       .c_before = t == 0 ? c0 + b * n.hidden : c + now - n.hidden,
                       .c = c + now,
                       .dy = dy == nullptr ? nullptr : dy + now,
                       .dh = dh_b,
                       .dc = dc + b * n.hidden,
                       .dz = dz_now[b],
                       .size = n.hidden});
    });
    n.add_to_state_gradient<T>({dz_now.data, dz_now.stride}, packed, dh);
  }
  if (r.wants(0)) r.add(0, dz_of_all);
  if (r.wants(1)) r.add(1, dh_now);
  if (r.wants(2)) r.add(2, dc_now);
  if (r.wants(3)) {
    const Tensor h_before = r.tensor_over_saved(3);
    n.put_weight_gradient<T>(dz, n.put_states_before(h0, y, h_before), r.grad_in<T>(3));
  }
}

void backward(Record& r) {
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) { backward_of<decltype(zero)>(r); });
}

}  // namespace

LstmStep lstm_step(const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight) {
  check_step("lstm_step", projected, weight, {{&h, "h"}, {&c, "c"}});
  const std::int64_t size = weight.dim(1);
  const Tensor z = projected + linear(h, weight);
  const auto gate = [&](std::int64_t k) { return slice(z, {all, range(k * size, (k + 1) * size)}); };
  const Tensor i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = tanh(gate(2)), o = sigmoid(gate(3));
  const Tensor kept = f * c;
  const Tensor next = kept + i * g;
  return {o * tanh(next), next};
}

LstmSequence lstm_sequence(Tensor projected, const Tensor& h, const Tensor& c, const Tensor& weight,
                           const Tensor& lengths) {
  check_recurrent(info.name, projected, gates_of_one, weight, {{&h, "h"}, {&c, "c"}}, lengths);
  if (Tensor wide_projected = projected, wide_h = h, wide_c = c, wide_weight = weight;
      widen(info.name, "projected", {&wide_projected, &wide_h, &wide_c, &wide_weight}))
    return lstm_sequence(wide_projected, wide_h, wide_c, wide_weight, lengths);
  const RecurrentSizes n(projected.shape(), weight.dim(1));
  if (expand_fused()) {
    const auto [y, states] = steps_of<2>(projected, {h, c}, lengths, [&](const Tensor& p, const auto& state) {
      LstmStep next = lstm_step(p, state[0], state[1], weight);
      return std::array{next.h, next.c};
    });
    return {y, states[0], states[1]};
  }
  LstmSequence result;
  dispatch_real(projected.dtype(), info.name, [&](auto zero) {
    using T = decltype(zero);
    const Shape states{n.batch, n.time, n.hidden};
    const Tensor gates = to_write_over(projected), c_of_all = empty(states, projected.dtype());
    result = {empty(states, projected.dtype()), empty_like(h), empty_like(c)};
    T *y = OpAccess::values<T>(result.y), *c_of_steps = OpAccess::values<T>(c_of_all);
    forward<T>(n, h.values<T>().data(), c.values<T>().data(), weight.values<T>().data(), lengths_of_samples(lengths),
               OpAccess::values<T>(gates), c_of_steps, y);
    copy_last_step<T>(y, h.values<T>().data(), n, OpAccess::values<T>(result.h));
    copy_last_step<T>(c_of_steps, c.values<T>().data(), n, OpAccess::values<T>(result.c));
    record(info, backward, {&projected, &h, &c, &weight}, {&result.y, &result.h, &result.c},
           {&h, &c, &weight, &result.y, &gates, &c_of_all, &lengths});
  });
  return result;
}

}  // namespace retrace
