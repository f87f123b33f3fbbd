// Loops over a row, a vector at a time, and its sums and maxima, in the instruction set being compiled.
#pragma once

#include <retrace/ops/kernels/isa_math.h>

#include <limits>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All lanes of a vector of a row.
template <class T> struct WholeVector {
  [[gnu::always_inline]] Vector<T> load_from(const T* from) const { return load(from); }
  [[gnu::always_inline]] void store_to(T* to, Vector<T> value) const { store(to, value); }
  /// `other` in the lanes that are not of the row.
  [[gnu::always_inline]] Vector<T> keep(Vector<T> value, T) const { return value; }
};

template <class T, int... Lane>
[[gnu::always_inline]] inline IntegerVector<T> lane_numbers(std::integer_sequence<int, Lane...>) {
  return IntegerVector<T>{Lane...};
}

/// The last vector of a row, which has fewer elements.
template <class T> struct LastVector {
  int count;
  [[gnu::always_inline]] Vector<T> load_from(const T* from) const { return load_first(from, count); }
  [[gnu::always_inline]] void store_to(T* to, Vector<T> value) const { store_first(to, value, count); }
  [[gnu::always_inline]] Vector<T> keep(Vector<T> value, T other) const {
    const IntegerVector<T> lane = lane_numbers<T>(std::make_integer_sequence<int, lanes<T>>());
    return lane < static_cast<typename FloatFormat<T>::Integer>(count) ? value : every_lane(other);
  }
};

/// All lanes of a vector of a row that is stored past the cache.
template <class T> struct StreamedVector : WholeVector<T> {
  [[gnu::always_inline]] void store_to(T* to, Vector<T> value) const { stream(to, value); }
};

/// body(k, part) for every vector of a row of `count` elements, which begins at k.
template <class T, class Body> [[gnu::always_inline]] inline void for_each_vector(std::int64_t count, Body&& body) {
  std::int64_t k = 0;
  for (; k + lanes<T> <= count; k += lanes<T>) body(k, WholeVector<T>{});
  if (k < count) body(k, LastVector<T>{static_cast<int>(count - k)});
}

/// Whether rows of this length at `to` are whole vectors in the places that `stream` asks for.
template <class T> inline bool can_be_streamed(const T* to, std::int64_t length) {
  return length % lanes<T> == 0 && reinterpret_cast<std::uintptr_t>(to) % vector_bytes == 0;
}

/// for_each_vector of a row that is stored past the cache if `streamed`, which can_be_streamed allowed.
template <class T, class Body>
[[gnu::always_inline]] inline void for_each_vector_to(bool streamed, std::int64_t count, Body&& body) {
  if (streamed) {
    for (std::int64_t k = 0; k < count; k += lanes<T>) body(k, StreamedVector<T>{});
  } else {
    for_each_vector<T>(count, body);
  }
}

template <int Step, class V, int... Lane>
[[gnu::always_inline]] inline V rotated(V v, std::integer_sequence<int, Lane...>) {
  constexpr int count = sizeof...(Lane);
  return __builtin_shufflevector(v, v, ((Lane + Step) % count)...);
}

/// f of all lanes, half by half.
template <class T, int Step = lanes<T> / 2, class F> [[gnu::always_inline]] inline T fold(Vector<T> v, F f) {
  if constexpr (Step == 0) {
    return v[0];
  } else {
    return fold<T, Step / 2>(f(v, rotated<Step>(v, std::make_integer_sequence<int, lanes<T>>())), f);
  }
}

template <class T> [[gnu::always_inline]] inline T sum_of_lanes(Vector<T> v) {
  return fold<T>(v, [](Vector<T> a, Vector<T> b) { return a + b; });
}
template <class T> [[gnu::always_inline]] inline Vector<T> larger(Vector<T> v, Vector<T> limit) {
  return v > limit ? v : limit;  // NaN never wins
}
template <class T> [[gnu::always_inline]] inline T largest_lane(Vector<T> v) {
  return fold<T>(v, [](Vector<T> a, Vector<T> b) { return larger<T>(a, b); });
}

/// x, but 0 where the other factor of a product is: 0 times NaN or an infinity is then 0.
template <class T> [[gnu::always_inline]] inline Vector<T> unless_zero(Vector<T> other, Vector<T> x) {
  return other == 0 ? Vector<T>{} : x;
}

/// A sum of vectors, in doubles.
template <class T> struct VectorSum;

template <> struct VectorSum<double> {
  Vector<double> sum{};
  [[gnu::always_inline]] void add(Vector<double> v) { sum += v; }
  [[gnu::always_inline]] double total() const { return sum_of_lanes<double>(sum); }
};

#if defined(__AVX512F__)

[[gnu::always_inline]] inline Vector<double> low_as_doubles(Vector<float> v) {
  return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}
[[gnu::always_inline]] inline Vector<double> high_as_doubles(Vector<float> v) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}

#elif defined(__AVX2__)

[[gnu::always_inline]] inline Vector<double> low_as_doubles(Vector<float> v) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}
[[gnu::always_inline]] inline Vector<double> high_as_doubles(Vector<float> v) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}

#else

[[gnu::always_inline]] inline Vector<double> low_as_doubles(Vector<float> v) {
  return Vector<double>{static_cast<double>(v[0]), static_cast<double>(v[1])};
}
[[gnu::always_inline]] inline Vector<double> high_as_doubles(Vector<float> v) {
  return Vector<double>{static_cast<double>(v[2]), static_cast<double>(v[3])};
}

#endif

template <> struct VectorSum<float> {
  Vector<double> low{}, high{};
  [[gnu::always_inline]] void add(Vector<float> v) {
    low += low_as_doubles(v);
    high += high_as_doubles(v);
  }
  [[gnu::always_inline]] double total() const { return sum_of_lanes<double>(low + high); }
};

/// Values that belong together; a type of this instruction set alone, unlike std::array.
template <class V, int Count> struct Several { V values[Count]; };

/// The sums of the Count vectors that term(k, part) gives for each vector of a row. Where there are four whole ones,
/// these are added first: turning floats into doubles costs more than adding them.
template <class T, int Count, class Term>
[[gnu::always_inline]] inline Several<double, Count> sums_of_row(std::int64_t count, Term&& term) {
  constexpr WholeVector<T> whole;
  VectorSum<T> sums[Count];
  std::int64_t k = 0;
  for (; k + 4 * lanes<T> <= count; k += 4 * lanes<T>) {
    const auto a = term(k, whole), b = term(k + lanes<T>, whole);
    const auto c = term(k + 2 * lanes<T>, whole), d = term(k + 3 * lanes<T>, whole);
    for (int i = 0; i < Count; ++i) sums[i].add((a.values[i] + b.values[i]) + (c.values[i] + d.values[i]));
  }
  for_each_vector<T>(count - k, [&](std::int64_t rest, auto part) {
    const auto last = term(k + rest, part);
    for (int i = 0; i < Count; ++i) sums[i].add(part.keep(last.values[i], T(0)));
  });
  Several<double, Count> totals;
  for (int i = 0; i < Count; ++i) totals.values[i] = sums[i].total();
  return totals;
}
template <class T, class Term> [[gnu::always_inline]] inline double sum_of_row(std::int64_t count, Term&& term) {
  return sums_of_row<T, 1>(count, [&](std::int64_t k, auto part) { return Several<Vector<T>, 1>{term(k, part)}; })
      .values[0];
}

/// Calls body(first, count) for groups of rows. Grouping overlaps the latencies of the rows' sums, and a group is small
/// enough to stay in the first-level cache until the next pass. A body copies its pointers: its stores cannot change
/// the copies, so they stay in registers.
constexpr std::int64_t max_rows_at_once = 16;
template <class T, class Body>
[[gnu::always_inline]] inline void for_each_group(std::int64_t rows, std::int64_t length, Body&& body) {
  constexpr std::int64_t cached = 8192 / sizeof(T);  // elements of a group, about
  const std::int64_t at_once = length * max_rows_at_once <= cached ? max_rows_at_once : cached / (length + 1) + 1;
  for (std::int64_t first = 0; first < rows; first += at_once)
    body(first, rows - first < at_once ? rows - first : at_once);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
