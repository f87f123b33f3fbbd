// Shared by the recurrent ops over a sequence. Everything is batch first: step t of x [B, T, F] is a matrix [B, F]
// whose rows are T F apart, and a matrix product needs no more than to know that.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/loops/padding.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// The lengths of the samples, which the last saved value holds if they were given.
inline AttributeList recurrent_attributes(const Record& r) {
  const SavedValue& lengths = r.saved(r.saved_values() - 1);
  if (!lengths) return {};
  return {{"lengths", lengths.tensor()}};
}

/// A matrix whose rows are further apart than they are long.
template <class T> struct Rows {
  T* data;
  std::int64_t stride;
  T* operator[](std::int64_t row) const { return data + row * stride; }
};
/// Step t of a sequence [B, T, columns].
template <class T> Rows<T> step_of(T* sequence, std::int64_t t, std::int64_t time, std::int64_t columns) {
  return {sequence + t * columns, time * columns};
}

/// The recurrent weight as every step multiplies with it, packed once for all of them.
template <class T> class PackedWeight {
 public:
  PackedWeight(std::int64_t k, std::int64_t n, kernels::GemmOperand<T> weight)
      : panels_(empty({kernels::packed_size(k, n)}, dtype_of<T>)) {
    kernels::pack_right_factor<T>(k, n, weight, OpAccess::values<T>(panels_));
  }
  kernels::GemmOperand<T> factor() const {
    return {.data = panels_.values<T>().data(), .row_stride = 0, .packed = true};
  }

 private:
  Tensor panels_;
};

struct RecurrentSizes {
  std::int64_t batch, time, hidden, gates;  // gates: columns of what is projected, rows of the recurrent weight

  RecurrentSizes(const Shape& projected, std::int64_t hidden_size)
      : batch(projected[0]), time(projected[1]), hidden(hidden_size), gates(projected[2]) {}

  /// body(sample) for every sample, over threads where the work is worth it.
  template <class Body> void for_each_sample(Body&& body) const {
    parallel_for(batch, 4096 / (gates + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) body(b);
    });
  }
  /// to [B, gates] += h [B, H] W^T, for W^T packed.
  template <class T>
  void add_recurrent(Rows<const T> h, const PackedWeight<T>& transposed_weight, Rows<T> to, const T* bias = nullptr,
                     bool accumulate = true) const {
    kernels::gemm<T>({batch, gates, hidden}, {h.data, h.stride}, transposed_weight.factor(),
                     {to.data, to.stride, 0, accumulate, bias});
  }
  /// dh [B, H] += dz [B, gates] W, for W packed.
  template <class T> void add_to_state_gradient(Rows<const T> dz, const PackedWeight<T>& weight, T* dh) const {
    kernels::gemm<T>({batch, hidden, gates}, {dz.data, dz.stride}, weight.factor(), {dh, hidden, 0, true});
  }
  template <class T> PackedWeight<T> packed(const T* weight, bool transposed) const {
    return transposed ? PackedWeight<T>(hidden, gates, {weight, hidden, true})
                      : PackedWeight<T>(gates, hidden, {weight, hidden});
  }
  /// dW += sum over samples and steps of dz^T h_before: one product for the whole sequence.
  template <class T> void put_weight_gradient(const T* dz, const T* h_before, const GradientSlot<T>& dw) const {
    kernels::gemm<T>({gates, hidden, batch * time}, {dz, gates, true}, {h_before, hidden},
                     {dw.values, hidden, 0, dw.add});
  }
  /// The state before each step, [B, T, H]: h0, then y without its last step. Written to `result`, which may be y.
  template <class T> const T* put_states_before(const T* h0, const T* y, const Tensor& result) const {
    T* const first = OpAccess::values<T>(result);
    if (time > 0)
      for (std::int64_t b = 0; b < batch; ++b, y += time * hidden, h0 += hidden) {
        T* const to = first + b * time * hidden;
        std::copy_backward(y, y + (time - 1) * hidden, to + time * hidden);
        std::copy(h0, h0 + hidden, to);
      }
    return first;
  }
};

/// After its length a sample keeps its state. Undefined: all samples are as long as the sequence.
class SampleLengths {
 public:
  SampleLengths() = default;
  explicit SampleLengths(const std::int64_t* lengths) : lengths_(lengths) {}
  bool reach(std::int64_t sample, std::int64_t t) const { return lengths_ == nullptr || t < lengths_[sample]; }

 private:
  const std::int64_t* lengths_ = nullptr;
};

inline SampleLengths lengths_of_samples(const Tensor& lengths) {
  return lengths.defined() ? SampleLengths(lengths.values<std::int64_t>().data()) : SampleLengths();
}

/// A state and its name in errors.
struct RecurrentState {
  const Tensor* tensor;
  const char* name;
};
/// Throws unless projected is [B, T, gates_of_one H], each state [B, H], the weight [gates_of_one H, H], and the
/// lengths (if defined) are B integers from 0 to T.
void check_recurrent(const char* function, const Tensor& projected, std::int64_t gates_of_one, const Tensor& weight,
                     std::initializer_list<RecurrentState> states, const Tensor& lengths);
/// Throws ValueError, naming the operand, if an operand of a step is undefined.
void check_step(const char* function, const Tensor& projected, const Tensor& weight,
                std::initializer_list<RecurrentState> states);

/// The last step of y [B, T, H]; the first state where there is none.
template <class T> void copy_last_step(const T* y, const T* h0, const RecurrentSizes& n, T* to) {
  for (std::int64_t b = 0; b < n.batch; ++b) {
    const T* from = n.time == 0 ? h0 + b * n.hidden : y + (b * n.time + n.time - 1) * n.hidden;
    std::copy(from, from + n.hidden, to + b * n.hidden);
  }
}

/// dh += what flows to step t of y, if anything does.
template <class T> void add_step(const T* dy, const RecurrentSizes& n, std::int64_t t, std::int64_t sample, T* dh) {
  if (dy == nullptr) return;
  const T* row = dy + (sample * n.time + t) * n.hidden;
  for (std::int64_t k = 0; k < n.hidden; ++k) dh[k] += row[k];
}

/// A new tensor [B, H] with the gradient of output j, or zeros.
template <class T> Tensor state_gradient(const Record& r, int j, const RecurrentSizes& n) {
  Tensor result = zeros({n.batch, n.hidden}, r.out(j).dtype);
  if (const T* gradient = r.grad_out<T>(j))
    std::copy(gradient, gradient + n.batch * n.hidden, OpAccess::values<T>(result));
  return result;
}

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
}  // namespace retrace
