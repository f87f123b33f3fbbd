// The recurrent layer of Elman over a sequence in one op (rnn_sequence), and its step composed of others (rnn_step).
#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/recurrent.h>

namespace retrace {
namespace {

AttributeList rnn_attributes(const Record& r) {
  AttributeList list = recurrent_attributes(r);
  list.push_back({"activation", name_of(r.attributes<Activation>())});
  return list;
}

constexpr OpInfo tanh_info{"rnn_sequence",
                           "h' = tanh(p + h U^T), for each step",
                           "dz = dh' (1 - h'^2), dp = dz, dU += dz^T h, dh = dz U, for each step backwards",
                           "p, h, U",
                           nullptr,
                           rnn_attributes};
constexpr OpInfo relu_info{"rnn_sequence",
                           "h' = max(p + h U^T, 0), for each step",
                           "dz = dh' [h' > 0], dp = dz, dU += dz^T h, dh = dz U, for each step backwards",
                           "p, h, U",
                           nullptr,
                           rnn_attributes};
constexpr const char* rnn_name = tanh_info.name;

// saved: 0 h, 1 weight, 2 y, 3 lengths. The slopes of tanh and relu follow from y.
void rnn_backward(Record& r) {
  dispatch_real(r.in(0).dtype, rnn_name, [&]<class T>(T) {
    const ActivationLoops<T>& f = parts_of(r.attributes<Activation>())->of<T>();
    const RecurrentGradients<T> gradients(r);
    const Tensor dh_now = gradients.of_last_state(1), dz_of_all = empty(r.in(0).shape, r.in(0).dtype);
    T *dh = OpAccess::values<T>(dh_now), *dz = OpAccess::values<T>(dz_of_all);
    gradients.steps.backwards(gradients.dy, dh, {dz}, [&](const RecurrentStep& s) {
      gradients.steps.add_gradient_of_step(s, gradients.dy, dh);
      f.gradient(s.after(gradients.y), s.state(dh), s.gates(dz), s.n.hidden);
      std::fill_n(s.state(dh), s.n.hidden, T(0));
    });
    gradients.give({&dz_of_all, &dh_now});
    gradients.give_of_weight(2, dz);
  });
}

}  // namespace

Tensor rnn_step(const Tensor& projected, const Tensor& h, const Tensor& weight, Activation activation) {
  check_defined("rnn_step", {{&projected, "projected"}, {&weight, "weight"}, {&h, "h"}});
  return intermediate("h", activate(projected + linear(h, weight), activation));
}

RnnSequence rnn_sequence(Tensor projected, const Tensor& h, const Tensor& weight, Activation activation,
                         const Tensor& lengths) {
  if (activation != Activation::tanh && activation != Activation::relu)
    throw ValueError("rnn_sequence: the activation must be tanh or relu; take rnn_step for another");
  check_recurrent(rnn_name, projected, 1, weight, {{&h, "h"}}, lengths);
  if (Tensor wide_projected = projected, wide_h = h, wide_weight = weight;
      widen(rnn_name, "projected", {&wide_projected, &wide_h, &wide_weight}))
    return rnn_sequence(wide_projected, wide_h, wide_weight, activation, lengths);
  if (expand_fused())
    return steps_of_one_state(projected, h, lengths, [&](const Tensor& p, const Tensor& state) {
      return rnn_step(p, state, weight, activation);
    });
  RnnSequence result;
  dispatch_real(projected.dtype(), rnn_name, [&]<class T>(T) {
    const ActivationLoops<T>& f = parts_of(activation)->of<T>();
    const Tensor sums = to_write_over(projected);
    result = {empty({projected.dim(0), projected.dim(1), h.dim(1)}, h.dtype()), empty_like(h)};
    const StateOverTime<T> h_over_time(h, result.y, result.h);
    T* z = OpAccess::values<T>(sums);
    const StepsOverTime<T> steps(projected, weight, lengths);
    steps.forwards(z, nullptr, {h_over_time}, [&](const RecurrentStep& s) {
      f.apply(s.gates(z), nullptr, s.n.hidden);
      std::copy_n(s.gates(z), s.n.hidden, s.after(h_over_time));
    });
    record(activation == Activation::tanh ? tanh_info : relu_info, rnn_backward, {&projected, &h, &weight},
           {&result.y, &result.h}, {&h, &weight, &result.y, &lengths}, activation);
  });
  return result;
}

}  // namespace retrace
