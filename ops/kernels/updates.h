// Passes over several arrays at once: a step of Adam, the gates of an LSTM and those of a memory's slot. Float and
// double run the kernels of this machine's instruction set, any other type the plain twins below.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace retrace::kernels {

/// For each of `count` elements, with s = g + added w:
///   m = b1 m + (1 - b1) s, v = b2 v + (1 - b2) s^2, w = kept w - of_m m / (sqrt(of_v v') + eps), v' = v, or with
///   `most` the largest v so far, most = max(most, v).
template <class T> struct AdamStep {
  T *w, *m, *v, *most;
  const T* g;
  std::int64_t count;
  T b1, one_minus_b1, b2, one_minus_b2, of_m, of_v, eps, kept, added;
};

/// z [4 size], the sums of the gates, becomes the gates i, f, g, o; c = f c_before + i g, h = o tanh c.
template <class T> struct LstmForward {
  T* z;
  const T* c_before;
  T *c, *h;
  std::int64_t size;
};

/// From dh + dy (dy may be null) and dc, the gradients of h and c, to that of z and the dc before the step; dh becomes
/// 0.
template <class T> struct LstmBackward {
  const T *gates, *c_before, *c, *dy;
  T *dh, *dc, *dz;
  std::int64_t size;
};

/// A slot m of a memory and its candidate c, with a gate for each of the `size` units: of z = p + q the first `size`
/// elements give the input gate i = sigmoid(z + input_bias), the next ones the forget gate f = sigmoid(z +
/// forget_bias); where `coupled`, there is but the first and f = 1 - i. next = i tanh c + f m. The gates are written,
/// too.
template <class T> struct SlotForward {
  const T *m, *c, *p, *q;
  T *next, *i, *f;
  std::int64_t size;
  T input_bias, forget_bias;
  bool coupled;
};

/// From the gradients of next, i and f (each may be null) to dz and to dm and dc, which are written or, with `add_m` or
/// `add_c`, added to (each may be null). dm may be dnext.
template <class T> struct SlotBackward {
  const T *m, *c, *i, *f, *dnext, *di, *df;
  T *dz, *dm, *dc;
  std::int64_t size;
  bool coupled, add_m, add_c;
};

template <class T> void adam_plain(const AdamStep<T>& at) {
  using std::sqrt;
  for (std::int64_t k = 0; k < at.count; ++k) {
    const T before = at.w[k] * at.kept, slope = at.g[k] + at.added * at.w[k];
    at.m[k] = at.b1 * at.m[k] + at.one_minus_b1 * slope;
    at.v[k] = at.b2 * at.v[k] + at.one_minus_b2 * slope * slope;
    if (at.most != nullptr) at.most[k] = at.v[k] > at.most[k] ? at.v[k] : at.most[k];
    at.w[k] = before - at.of_m * at.m[k] / (sqrt((at.most != nullptr ? at.most[k] : at.v[k]) * at.of_v) + at.eps);
  }
}

template <class T> T sigmoid_plain(T x) {
  using std::exp, std::abs;
  const T e = exp(-abs(x));
  return (x < T(0) ? e : T(1)) / (1 + e);
}

template <class T> void lstm_forward_plain(const LstmForward<T>& at) {
  using std::tanh;
  T *i = at.z, *f = i + at.size, *g = f + at.size, *o = g + at.size;
  for (std::int64_t k = 0; k < at.size; ++k) {
    i[k] = sigmoid_plain(i[k]), f[k] = sigmoid_plain(f[k]), g[k] = tanh(g[k]), o[k] = sigmoid_plain(o[k]);
    at.c[k] = f[k] * at.c_before[k] + i[k] * g[k];
    at.h[k] = o[k] * tanh(at.c[k]);
  }
}

template <class T> void lstm_backward_plain(const LstmBackward<T>& at) {
  using std::tanh;
  const T *i = at.gates, *f = i + at.size, *g = f + at.size, *o = g + at.size;
  for (std::int64_t k = 0; k < at.size; ++k) {
    const T dh = at.dy == nullptr ? at.dh[k] : at.dh[k] + at.dy[k], tanh_c = tanh(at.c[k]);
    const T through_c = at.dc[k] + dh * o[k] * (1 - tanh_c * tanh_c);
    at.dz[k] = through_c * g[k] * i[k] * (1 - i[k]);
    at.dz[at.size + k] = through_c * at.c_before[k] * f[k] * (1 - f[k]);
    at.dz[2 * at.size + k] = through_c * i[k] * (1 - g[k] * g[k]);
    at.dz[3 * at.size + k] = dh * tanh_c * o[k] * (1 - o[k]);
    at.dc[k] = through_c * f[k];
    at.dh[k] = T(0);
  }
}

template <class T> void slot_forward_plain(const SlotForward<T>& at) {
  using std::tanh;
  for (std::int64_t k = 0; k < at.size; ++k) {
    const T i = sigmoid_plain(at.p[k] + at.q[k] + at.input_bias);
    const T f = at.coupled ? 1 - i : sigmoid_plain(at.p[at.size + k] + at.q[at.size + k] + at.forget_bias);
    at.next[k] = i * tanh(at.c[k]) + f * at.m[k];
    at.i[k] = i;
    if (!at.coupled) at.f[k] = f;
  }
}

template <class T> void slot_backward_plain(const SlotBackward<T>& at) {
  using std::tanh;
  const auto put = [](T* to, std::int64_t k, bool add, T value) {
    if (to != nullptr) to[k] = add ? to[k] + value : value;
  };
  for (std::int64_t k = 0; k < at.size; ++k) {
    const T i = at.i[k], f = at.coupled ? 1 - i : at.f[k], tanh_c = tanh(at.c[k]);
    const T dnext = at.dnext == nullptr ? T(0) : at.dnext[k];
    T di = dnext * tanh_c, df = dnext * at.m[k];
    if (at.di != nullptr) di += at.di[k];
    if (at.df != nullptr) df += at.df[k];
    at.dz[k] = (at.coupled ? di - df : di) * i * (1 - i);
    if (!at.coupled) at.dz[at.size + k] = df * f * (1 - f);
    put(at.dm, k, at.add_m, dnext * f);
    put(at.dc, k, at.add_c, dnext * i * (1 - tanh_c * tanh_c));
  }
}

template <class T> bool are_finite_plain(const T* x, std::int64_t count) {
  using std::isfinite;
  for (std::int64_t k = 0; k < count; ++k)
    if (!isfinite(x[k])) return false;
  return true;
}

/// The kernels for one type, of one instruction set.
template <class T> struct UpdateKernels {
  void (*adam)(const AdamStep<T>&);
  void (*lstm_forward)(const LstmForward<T>&);
  void (*lstm_backward)(const LstmBackward<T>&);
  void (*slot_forward)(const SlotForward<T>&);
  void (*slot_backward)(const SlotBackward<T>&);
  bool (*are_finite)(const T* x, std::int64_t count);
};
/// Those of this machine.
template <class T>
requires std::is_floating_point_v<T>
const UpdateKernels<T>& update_kernels();

template <class T> void adam(const AdamStep<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    update_kernels<T>().adam(at);
  else
    adam_plain(at);
}
/// Whether all `count` numbers are finite: none is a NaN or an infinity.
template <class T> bool are_finite(const T* x, std::int64_t count) {
  if constexpr (std::is_floating_point_v<T>)
    return update_kernels<T>().are_finite(x, count);
  else
    return are_finite_plain(x, count);
}
template <class T> void lstm_forward(const LstmForward<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    update_kernels<T>().lstm_forward(at);
  else
    lstm_forward_plain(at);
}
template <class T> void lstm_backward(const LstmBackward<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    update_kernels<T>().lstm_backward(at);
  else
    lstm_backward_plain(at);
}
template <class T> void slot_forward(const SlotForward<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    update_kernels<T>().slot_forward(at);
  else
    slot_forward_plain(at);
}
template <class T> void slot_backward(const SlotBackward<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    update_kernels<T>().slot_backward(at);
  else
    slot_backward_plain(at);
}

}  // namespace retrace::kernels
