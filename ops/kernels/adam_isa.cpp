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

/// Takes the step of elements whose corrected v' overflowed: dividing by infinity left it 0.
template <class T> [[gnu::noinline]] void step_where_overflowed(const AdamStep<T>& args) {
  const T root_of_correction = static_cast<T>(__builtin_sqrt(static_cast<double>(args.v_correction)));
  for (Index k = 0; k < args.count; ++k) {
    const T under_root = args.max_v != nullptr ? args.max_v[k] : args.v[k];
    if (!__builtin_isinf(under_root * args.v_correction)) continue;
    const T root = static_cast<T>(__builtin_sqrt(static_cast<double>(under_root))) * root_of_correction;
    args.w[k] -= args.step_size * args.m[k] / (root + args.eps);
  }
}

}  // namespace

template <class T> void run(const AdamStep<T>& shared) {
  const AdamStep<T> args = shared;  // a copy whose fields no store can change
  Vector<T> largest = {};
  for_each_vector<T>(args.count, [&](Index k, auto part) {
    const Vector<T> w = part.load_from(args.w + k), slope = part.load_from(args.g + k) + args.weight_decay * w;
    const Vector<T> m = args.b1 * part.load_from(args.m + k) + args.one_minus_b1 * slope;
    const Vector<T> v = args.b2 * part.load_from(args.v + k) + args.one_minus_b2 * slope * slope;
    part.store_to(args.m + k, m);
    part.store_to(args.v + k, v);
    Vector<T> under_root = v;
    if (args.max_v != nullptr) {
      const Vector<T> before = part.load_from(args.max_v + k);
      under_root = v > before ? v : before;
      part.store_to(args.max_v + k, under_root);
    }
    largest = larger<T>(under_root, largest);
    part.store_to(args.w + k,
                  w * args.keep - args.step_size * m / (square_root(under_root * args.v_correction) + args.eps));
  });
  if (__builtin_isinf(largest_lane<T>(largest) * args.v_correction)) step_where_overflowed(args);
}

// 0 x is 0 if x is finite, otherwise NaN, and a sum keeps a NaN. Four independent sums hide the latency of additions.
template <class T> void run(const FiniteCheck<T>& args) {
  const T* x = args.x;
  const Index count = args.count;
  const Vector<T> zero = {};
  Vector<T> sums[4] = {};
  Index k = 0;
  for (; k + 4 * lanes<T> <= count; k += 4 * lanes<T>)
    for (int v = 0; v < 4; ++v) sums[v] += load(x + k + v * lanes<T>) * zero;
  for_each_vector<T>(count - k, [&](Index rest, auto part) { sums[0] += part.load_from(x + k + rest) * zero; });
  *args.are_finite = sum_of_lanes<T>((sums[0] + sums[1]) + (sums[2] + sums[3])) == T(0);
}

RETRACE_INSTANTIATE_KERNEL(AdamStep);
RETRACE_INSTANTIATE_KERNEL(FiniteCheck);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
