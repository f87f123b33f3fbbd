// The recurrent layer of Elman over a sequence in one op (rnn_sequence), and its step composed of others (rnn_step).
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/recurrent.h>

namespace retrace {
namespace {

AttributeList attribute_list(const Record& r) {
  AttributeList list = recurrent_attributes(r);
  list.push_back({"activation", name_of(r.attributes<Activation>())});
  return list;
}

constexpr OpInfo tanh_info{"rnn_sequence",
                           "h' = tanh(p + h U^T), for each step",
                           "dz = dh' (1 - h'^2), dp = dz, dU += dz^T h, dh = dz U, for each step backwards",
                           "p, h, U",
                           nullptr,
                           attribute_list};
constexpr OpInfo relu_info{"rnn_sequence",
                           "h' = max(p + h U^T, 0), for each step",
                           "dz = dh' [h' > 0], dp = dz, dU += dz^T h, dh = dz U, for each step backwards",
                           "p, h, U",
                           nullptr,
                           attribute_list};
constexpr const char* name = tanh_info.name;

// saved: 0 h0, 1 weight, 2 y, 3 lengths. The slopes of tanh and relu follow from y.
template <class T> void backward_of(Record& r) {
  const ActivationLoops<T>& f = parts_of(r.attributes<Activation>())->of<T>();
  const RecurrentSizes n(r.in(0).shape, r.in(1).shape[1]);
  const T *h0 = r.saved(0).values<T>(), *weight = r.saved(1).values<T>(), *y = r.saved(2).values<T>();
  const T* dy = r.grad_out<T>(0);
  const SampleLengths lengths = r.saved(3) ? SampleLengths(r.saved(3).values<std::int64_t>()) : SampleLengths();
  const Tensor dh_now = state_gradient<T>(r, 1, n), dz_of_all = empty(r.in(0).shape, r.in(0).dtype);
  T *dh = OpAccess::values<T>(dh_now), *dz = OpAccess::values<T>(dz_of_all);

  const PackedWeight<T> packed = n.packed(weight, false);
  for (std::int64_t t = n.time - 1; t >= 0; --t) {
    const Rows<T> dz_now = step_of(dz, t, n.time, n.gates);
    n.for_each_sample([&](std::int64_t b) {
      T* dh_b = dh + b * n.hidden;
      add_step(dy, n, t, b, dh_b);
      if (!lengths.reach(b, t)) {  // the state went through
        std::fill(dz_now[b], dz_now[b] + n.gates, T(0));
        return;
      }
      const T* h = y + (b * n.time + t) * n.hidden;
      f.gradient(h, dh_b, dz_now[b], n.hidden);
      std::fill(dh_b, dh_b + n.hidden, T(0));
    });
    n.add_to_state_gradient<T>({dz_now.data, dz_now.stride}, packed, dh);
  }
  if (r.wants(0)) r.add(0, dz_of_all);
  if (r.wants(1)) r.add(1, dh_now);
  if (r.wants(2)) {
    const Tensor h_before = r.tensor_over_saved(2);
    n.put_weight_gradient<T>(dz, n.put_states_before(h0, y, h_before), r.grad_in<T>(2));
  }
}

void backward(Record& r) {
  dispatch_real(r.in(0).dtype, name, [&](auto zero) { backward_of<decltype(zero)>(r); });
}

/// z holds p at first, and in the end h' where a step is within the sample's length.
template <class T>
void forward(const RecurrentSizes& n, const ActivationLoops<T>& f, const T* h0, const T* weight,
             const SampleLengths& lengths, T* z, T* y) {
  const PackedWeight<T> packed = n.packed(weight, true);
  for (std::int64_t t = 0; t < n.time; ++t) {
    const Rows<T> z_now = step_of(z, t, n.time, n.gates), h_now = step_of(y, t, n.time, n.hidden);
    const Rows<const T> h_before = t == 0 ? Rows<const T>{h0, n.hidden} : step_of<const T>(y, t - 1, n.time, n.hidden);
    n.add_recurrent(h_before, packed, z_now);
    n.for_each_sample([&](std::int64_t b) {
      const bool reached = lengths.reach(b, t);
      if (reached) f.apply(z_now[b], nullptr, n.hidden);
      const T* h = reached ? z_now[b] : h_before[b];
      std::copy(h, h + n.hidden, h_now[b]);
    });
  }
}

RnnSequence fused(const Tensor& projected, const Tensor& h, const Tensor& weight, Activation activation,
                  const Tensor& lengths) {
  const RecurrentSizes n(projected.shape(), weight.dim(1));
  RnnSequence result;
  dispatch_real(projected.dtype(), name, [&](auto zero) {
    using T = decltype(zero);
    const Tensor z = to_write_over(projected);
    result = {empty({n.batch, n.time, n.hidden}, projected.dtype()), empty_like(h)};
    T* y = OpAccess::values<T>(result.y);
    forward<T>(n, parts_of(activation)->of<T>(), h.values<T>().data(), weight.values<T>().data(),
               lengths_of_samples(lengths), OpAccess::values<T>(z), y);
    copy_last_step<T>(y, h.values<T>().data(), n, OpAccess::values<T>(result.h));
    record(activation == Activation::tanh ? tanh_info : relu_info, backward, {&projected, &h, &weight},
           {&result.y, &result.h}, {&h, &weight, &result.y, &lengths}, activation);
  });
  return result;
}

}  // namespace

Tensor rnn_step(const Tensor& projected, const Tensor& h, const Tensor& weight, Activation activation) {
  check_step("rnn_step", projected, weight, {{&h, "h"}});
  return activate(projected + linear(h, weight), activation);
}

RnnSequence rnn_sequence(Tensor projected, const Tensor& h, const Tensor& weight, Activation activation,
                         const Tensor& lengths) {
  if (activation != Activation::tanh && activation != Activation::relu)
    throw ValueError("rnn_sequence: the activation must be tanh or relu; take rnn_step for another");
  check_recurrent(name, projected, 1, weight, {{&h, "h"}}, lengths);
  if (Tensor wide_projected = projected, wide_h = h, wide_weight = weight;
      widen(name, "projected", {&wide_projected, &wide_h, &wide_weight}))
    return rnn_sequence(wide_projected, wide_h, wide_weight, activation, lengths);
  if (expand_fused()) {
    const auto [y, states] = steps_of<1>(projected, {h}, lengths, [&](const Tensor& p, const auto& state) {
      return std::array{rnn_step(p, state[0], weight, activation)};
    });
    return {y, states[0]};
  }
  return fused(projected, h, weight, activation, lengths);
}

}  // namespace retrace
