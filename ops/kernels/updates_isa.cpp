// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

#if defined(__AVX512F__)
[[gnu::always_inline]] inline Vector<float> square_root(Vector<float> x) { return _mm512_sqrt_ps(x); }
[[gnu::always_inline]] inline Vector<double> square_root(Vector<double> x) { return _mm512_sqrt_pd(x); }
#elif defined(__AVX2__)
[[gnu::always_inline]] inline Vector<float> square_root(Vector<float> x) { return _mm256_sqrt_ps(x); }
[[gnu::always_inline]] inline Vector<double> square_root(Vector<double> x) { return _mm256_sqrt_pd(x); }
#elif defined(__x86_64__)
[[gnu::always_inline]] inline Vector<float> square_root(Vector<float> x) { return _mm_sqrt_ps(x); }
[[gnu::always_inline]] inline Vector<double> square_root(Vector<double> x) { return _mm_sqrt_pd(x); }
#else
template <class V> [[gnu::always_inline]] inline V square_root(V x) {
  for (std::size_t lane = 0; lane < sizeof(V) / sizeof x[0]; ++lane) x[lane] = __builtin_sqrt(x[lane]);
  return x;
}
#endif

}  // namespace

template <class T> void adam_step(const AdamStep<T>& step) {
  const AdamStep<T> at = step;  // a copy whose fields no store can change
  for_each_vector<T>(at.count, [&](Index k, auto part) {
    const Vector<T> w = part.load_from(at.w + k), slope = part.load_from(at.g + k) + at.added * w;
    const Vector<T> m = at.b1 * part.load_from(at.m + k) + at.one_minus_b1 * slope;
    const Vector<T> v = at.b2 * part.load_from(at.v + k) + at.one_minus_b2 * slope * slope;
    part.store_to(at.m + k, m);
    part.store_to(at.v + k, v);
    Vector<T> under_root = v;
    if (at.most != nullptr) {
      const Vector<T> most = part.load_from(at.most + k);
      under_root = v > most ? v : most;
      part.store_to(at.most + k, under_root);
    }
    part.store_to(at.w + k, w * at.kept - at.of_m * m / (square_root(under_root * at.of_v) + at.eps));
  });
}

// 0 x is 0 if x is finite, otherwise NaN, and a sum keeps a NaN. Four independent sums hide the latency of additions.
template <class T> bool all_are_finite(const T* x, Index count) {
  const Vector<T> zero = {};
  Vector<T> sums[4] = {};
  Index k = 0;
  for (; k + 4 * lanes<T> <= count; k += 4 * lanes<T>)
    for (int v = 0; v < 4; ++v) sums[v] += load(x + k + v * lanes<T>) * zero;
  for_each_vector<T>(count - k, [&](Index rest, auto part) { sums[0] += part.load_from(x + k + rest) * zero; });
  return sum_of_lanes<T>((sums[0] + sums[1]) + (sums[2] + sums[3])) == T(0);
}

template <class T> void lstm_forward_row(const LstmForward<T>& row) {
  const LstmForward<T> at = row;
  const Index size = at.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const Vector<T> i = vector_sigmoid<T>(part.load_from(at.z + k)),
                    f = vector_sigmoid<T>(part.load_from(at.z + size + k));
    const Vector<T> g = vector_tanh<T>(part.load_from(at.z + 2 * size + k));
    const Vector<T> o = vector_sigmoid<T>(part.load_from(at.z + 3 * size + k));
    const Vector<T> c = f * part.load_from(at.c_before + k) + i * g;
    part.store_to(at.z + k, i);
    part.store_to(at.z + size + k, f);
    part.store_to(at.z + 2 * size + k, g);
    part.store_to(at.z + 3 * size + k, o);
    part.store_to(at.c + k, c);
    part.store_to(at.h + k, o * vector_tanh<T>(c));
  });
}

template <class T> void lstm_backward_row(const LstmBackward<T>& row) {
  const LstmBackward<T> at = row;
  const Index size = at.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const Vector<T> i = part.load_from(at.gates + k), f = part.load_from(at.gates + size + k);
    const Vector<T> g = part.load_from(at.gates + 2 * size + k), o = part.load_from(at.gates + 3 * size + k);
    const Vector<T> tanh_c = vector_tanh<T>(part.load_from(at.c + k));
    Vector<T> dh = part.load_from(at.dh + k);
    if (at.dy != nullptr) dh += part.load_from(at.dy + k);
    const Vector<T> through_c = part.load_from(at.dc + k) + dh * o * (1 - tanh_c * tanh_c);
    part.store_to(at.dz + k, through_c * g * i * (1 - i));
    part.store_to(at.dz + size + k, through_c * part.load_from(at.c_before + k) * f * (1 - f));
    part.store_to(at.dz + 2 * size + k, through_c * i * (1 - g * g));
    part.store_to(at.dz + 3 * size + k, dh * tanh_c * o * (1 - o));
    part.store_to(at.dc + k, through_c * f);
    part.store_to(at.dh + k, Vector<T>{});
  });
}

template <class T> void slot_forward_row(const SlotForward<T>& row) {
  const SlotForward<T> at = row;
  for_each_vector<T>(at.size, [&](Index k, auto part) {
    const Vector<T> i = vector_sigmoid<T>(part.load_from(at.p + k) + part.load_from(at.q + k) + at.input_bias);
    const Vector<T> f = at.coupled ? 1 - i
                                   : vector_sigmoid<T>(part.load_from(at.p + at.size + k) +
                                                       part.load_from(at.q + at.size + k) + at.forget_bias);
    part.store_to(at.next + k, i * vector_tanh<T>(part.load_from(at.c + k)) + f * part.load_from(at.m + k));
    part.store_to(at.i + k, i);
    if (!at.coupled) part.store_to(at.f + k, f);
  });
}

template <class T> void slot_backward_row(const SlotBackward<T>& row) {
  const SlotBackward<T> at = row;
  for_each_vector<T>(at.size, [&](Index k, auto part) {
    const Vector<T> i = part.load_from(at.i + k), f = at.coupled ? 1 - i : part.load_from(at.f + k);
    const Vector<T> tanh_c = vector_tanh<T>(part.load_from(at.c + k));
    const Vector<T> dnext = at.dnext == nullptr ? Vector<T>{} : part.load_from(at.dnext + k);
    Vector<T> di = dnext * tanh_c, df = dnext * part.load_from(at.m + k);
    if (at.di != nullptr) di += part.load_from(at.di + k);
    if (at.df != nullptr) df += part.load_from(at.df + k);
    part.store_to(at.dz + k, (at.coupled ? di - df : di) * i * (1 - i));
    if (!at.coupled) part.store_to(at.dz + at.size + k, df * f * (1 - f));
    const auto put = [&](T* to, bool add, Vector<T> value) {
      if (to != nullptr) part.store_to(to + k, add ? part.load_from(to + k) + value : value);
    };
    put(at.dm, at.add_m, dnext * f);
    put(at.dc, at.add_c, dnext * i * (1 - tanh_c * tanh_c));
  });
}

template void adam_step(const AdamStep<float>&);
template void adam_step(const AdamStep<double>&);
template void lstm_forward_row(const LstmForward<float>&);
template void lstm_forward_row(const LstmForward<double>&);
template void lstm_backward_row(const LstmBackward<float>&);
template void lstm_backward_row(const LstmBackward<double>&);
template void slot_forward_row(const SlotForward<float>&);
template void slot_forward_row(const SlotForward<double>&);
template void slot_backward_row(const SlotBackward<float>&);
template void slot_backward_row(const SlotBackward<double>&);
template bool all_are_finite(const float*, Index);
template bool all_are_finite(const double*, Index);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
