// The walk over time that the recurrent ops share; each of them is a step. Everything is batch first: step t of
// x [B, T, F] is a matrix [B, F] whose rows are T F apart, and a matrix product needs no more than to know that.
#pragma once

#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/loops/kept_panels.h>
#include <retrace/ops/loops/padding.h>
#include <retrace/ops/op.h>

namespace retrace {

/// The lengths of the samples, which the last saved value holds if they were given.
inline AttributeList recurrent_attributes(const Record& r) {
  const SavedValue& lengths = r.saved(r.saved_values() - 1);
  if (!lengths) return {};
  return {{"lengths", lengths.tensor()}};
}

/// A state [B, H] before the first step and after the last, and [B, T, H] after each.
template <class T> struct StateOverTime {
  const T* first;
  T *steps, *last;

  StateOverTime(const Tensor& before, const Tensor& of_steps, const Tensor& after)
      : first(before.values<T>().data()), steps(OpAccess::values<T>(of_steps)), last(OpAccess::values<T>(after)) {}
};

struct RecurrentSizes {
  std::int64_t batch, time, hidden, gates;  // gates: columns of what is projected, rows of the recurrent weight

  RecurrentSizes(const Shape& projected, std::int64_t hidden_size)
      : batch(projected[0]), time(projected[1]), hidden(hidden_size), gates(projected[2]) {}
};

/// A step of one sample: where its parts of arrays begin. Null stays null.
struct RecurrentStep {
  const RecurrentSizes& n;
  std::int64_t sample, t;

  /// Of sums or gates [B, T, gates].
  template <class T> T* gates(T* x) const { return x == nullptr ? nullptr : x + row() * n.gates; }
  /// Of a state [B, H].
  template <class T> T* state(T* x) const { return x + sample * n.hidden; }
  /// Of a state after each step, [B, T, H].
  template <class T> T* after(T* x) const { return x == nullptr ? nullptr : x + row() * n.hidden; }
  template <class T> T* after(const StateOverTime<T>& x) const { return after(x.steps); }
  /// Of the state before the step: `first` [B, H], or after the step before in `x` [B, T, H].
  template <class T> const T* before(const T* first, const T* x) const {
    return t == 0 ? state(first) : x + (row() - 1) * n.hidden;
  }
  template <class T> const T* before(const StateOverTime<T>& x) const { return before(x.first, x.steps); }

 private:
  std::int64_t row() const { return sample * n.time + t; }
};

/// The steps of a batch of sequences. After its length a sample keeps its state; no lengths: all are as long as the
/// sequence.
template <class T> class StepsOverTime {
 public:
  StepsOverTime(const RecurrentSizes& n, const T* weight, const std::int64_t* lengths)
      : n_(n), weight_(weight), lengths_(lengths) {}
  StepsOverTime(const Tensor& projected, const Tensor& weight, const Tensor& lengths)
      : StepsOverTime({projected.shape(), weight.dim(1)}, weight.values<T>().data(),
                      values_or_null<std::int64_t>(lengths)) {}

  /// Step by step: adds h U^T to `sums` [B, T, gates], or puts h U^T + bias there if there is a bias; then step(s) for
  /// each sample. h is the first of the states.
  template <class Step>
  void forwards(T* sums, const T* bias, std::initializer_list<StateOverTime<T>> states, const Step& step) const {
    const StateOverTime<T>& h = *states.begin();
    const Tensor packed = packed_weight(n_.hidden, n_.gates, true);
    for (std::int64_t t = 0; t < n_.time; ++t) {
      const kernels::GemmOperand<T> h_before =
          t == 0 ? kernels::GemmOperand<T>{h.first, n_.hidden}
                 : kernels::GemmOperand<T>{h.steps + (t - 1) * n_.hidden, n_.time * n_.hidden};
      kernels::gemm<T>({n_.batch, n_.gates, n_.hidden}, h_before, factor(packed),
                       {sums + t * n_.gates, n_.time * n_.gates, 0, bias == nullptr, bias});
      for_each_sample(t, [&](const RecurrentStep& s, bool is_inside) {
        if (is_inside) return step(s);
        for (const auto& state : states) std::copy_n(s.before(state), n_.hidden, s.after(state));
      });
    }
    for (const auto& state : states)
      for (std::int64_t b = 0; b < n_.batch; ++b) {
        const RecurrentStep end{n_, b, n_.time};
        std::copy_n(end.before(state), n_.hidden, end.state(state.last));
      }
  }
  /// Step by step from the last: step(s) for each sample; then dh [B, H] += dz U, for the last of the gradients dz
  /// [B, T, gates] of sums. Beyond a sample's length these are 0, and dy, which may be null, is added to dh.
  template <class Step> void backwards(const T* dy, T* dh, std::initializer_list<T*> dz, const Step& step) const {
    const Tensor packed = packed_weight(n_.gates, n_.hidden, false);
    for (std::int64_t t = n_.time - 1; t >= 0; --t) {
      for_each_sample(t, [&](const RecurrentStep& s, bool is_inside) {
        if (is_inside) return step(s);
        add_gradient_of_step(s, dy, dh);
        for (T* of_all : dz) std::fill_n(s.gates(of_all), n_.gates, T(0));
      });
      kernels::gemm<T>({n_.batch, n_.hidden, n_.gates}, {*(dz.end() - 1) + t * n_.gates, n_.time * n_.gates},
                       factor(packed), {dh, n_.hidden, 0, true});
    }
  }
  /// dh += dy of a step.
  static void add_gradient_of_step(const RecurrentStep& s, const T* dy, T* dh) {
    if (dy == nullptr) return;
    const T* const from = s.after(dy);
    T* const to = s.state(dh);
    for (std::int64_t k = 0, hidden = s.n.hidden; k < hidden; ++k) to[k] += from[k];
  }

 private:
  /// body(step, whether it is within the length of the sample) for all samples, over threads where that pays.
  template <class Body> void for_each_sample(std::int64_t t, const Body& body) const {
    parallel_for(n_.batch, 4096 / (n_.gates + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) body(RecurrentStep{n_, b, t}, lengths_ == nullptr || t < lengths_[b]);
    });
  }
  /// The weight as every step multiplies with it, packed once for all of them.
  Tensor packed_weight(std::int64_t k, std::int64_t n, bool transposed) const {
    Tensor* const kept = KeptPanels::place_for({weight_, k, n, transposed});
    if (kept != nullptr && kept->defined()) return *kept;
    Tensor panels = empty({kernels::packed_size(k, n)}, dtype_of<T>);
    kernels::pack_right_factor<T>(k, n, {weight_, n_.hidden, transposed}, OpAccess::values<T>(panels));
    if (kept != nullptr) *kept = panels;
    return panels;
  }
  static kernels::GemmOperand<T> factor(const Tensor& panels) {
    return {.data = panels.values<T>().data(), .row_stride = 0, .packed = true};
  }

  const RecurrentSizes n_;
  const T* weight_;
  const std::int64_t* lengths_;
};

/// The tensors that the backward of a recurrent op reads. Its inputs begin with p and h; it saved h, the weight and y
/// first, and the lengths last.
template <class T> struct RecurrentGradients {
  Record& record;
  const RecurrentSizes n;
  const T *h, *weight, *y, *dy;
  const StepsOverTime<T> steps;

  explicit RecurrentGradients(Record& r)
      : record(r),
        n(r.in(0).shape, r.in(1).shape[1]),
        h(r.saved(0).values<T>()),
        weight(r.saved(1).values<T>()),
        y(r.saved(2).values<T>()),
        dy(r.grad_out<T>(0)),
        steps(n, weight, r.saved(r.saved_values() - 1).values<std::int64_t>()) {}

  /// A new tensor [B, H] with the gradient of output j, or zeros.
  Tensor of_last_state(int j) const {
    Tensor result = zeros({n.batch, n.hidden}, record.out(j).dtype);
    if (const T* gradient = record.grad_out<T>(j))
      std::copy_n(gradient, n.batch * n.hidden, OpAccess::values<T>(result));
    return result;
  }
  /// Gives the gradients of the inputs from the first on, but for those that are not wanted.
  void give(std::initializer_list<const Tensor*> gradients) const {
    for (int i = 0; const Tensor* gradient : gradients) {
      if (record.wants(i)) record.add(i, *gradient);
      ++i;
    }
  }
  /// The gradient of the weight, input i: the sum over samples and steps of dz^T h, one product for the whole sequence.
  /// The states before each step take the place of y, so this comes after the last use of y.
  void give_of_weight(int i, const T* dz) const {
    if (!record.wants(i)) return;
    const Tensor h_before = record.tensor_over_saved(2);
    T* const first = OpAccess::values<T>(h_before);
    for (std::int64_t b = 0; b < n.batch && n.time > 0; ++b) {
      const T* from = y + b * n.time * n.hidden;
      T* const to = first + b * n.time * n.hidden;
      std::copy_backward(from, from + (n.time - 1) * n.hidden, to + n.time * n.hidden);
      std::copy_n(h + b * n.hidden, n.hidden, to);
    }
    const GradientSlot<T> dw = record.grad_in<T>(i);
    kernels::gemm<T>({n.gates, n.hidden, n.batch * n.time}, {dz, n.gates, true}, {first, n.hidden},
                     {dw.values, n.hidden, 0, dw.add});
  }
};

/// Throws unless projected is [B, T, gates_of_one H], each state [B, H], the weight [gates_of_one H, H], and the
/// lengths (if defined) are B integers from 0 to T.
void check_recurrent(const char* function, const Tensor& projected, std::int64_t gates_of_one, const Tensor& weight,
                     std::initializer_list<NamedOperand> states, const Tensor& lengths);

/// [B, 1], 1 where t < length.
Tensor reaches(const Tensor& lengths, std::int64_t t);
/// The composed twin of a recurrent op: step(projected at t, states) for every step; y is the first of the states.
template <std::size_t count, class Step>
std::pair<Tensor, std::array<Tensor, count>> steps_of(const Tensor& projected, std::array<Tensor, count> states,
                                                      const Tensor& lengths, Step&& step) {
  const std::int64_t batch = projected.dim(0), time = projected.dim(1);
  if (time == 0) return {zeros({batch, 0, states[0].dim(1)}, projected.dtype()), states};
  const Tensor inside = with_harmless_padding(projected, lengths);
  Tensors y;
  for (std::int64_t t = 0; t < time; ++t) {
    std::array<Tensor, count> next = step(slice(inside, {all, t}), states);
    if (lengths.defined()) {
      const Tensor goes_on = reaches(lengths, t);
      for (std::size_t k = 0; k < count; ++k) next[k] = where(goes_on, next[k], states[k]);
    }
    states = std::move(next);
    y.push_back(states[0]);
  }
  return {stack(y, 1), states};
}
/// That of one with a single state: step(projected at t, state).
template <class Step>
RnnSequence steps_of_one_state(const Tensor& projected, const Tensor& h, const Tensor& lengths, const Step& step) {
  const auto [y, states] = steps_of<1>(
      projected, {h}, lengths, [&](const Tensor& p, const auto& state) { return std::array{step(p, state[0])}; });
  return {y, states[0]};
}

}  // namespace retrace
