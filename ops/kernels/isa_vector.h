// One vector register of the instruction set being compiled, with loads and stores of its first elements.
#pragma once

#include <cstdint>
#include <utility>
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int vector_registers = 32;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int vector_registers = 16;
#else
constexpr int vector_bytes = 16;
constexpr int vector_registers = 16;
#endif

template <class T> struct VectorOf { typedef T type __attribute__((vector_size(vector_bytes))); };
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T> [[gnu::always_inline]] inline Vector<T> load(const T* from) {
  Vector<T> result;
  __builtin_memcpy(&result, from, sizeof result);
  return result;
}

template <class T> [[gnu::always_inline]] inline void store(T* to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// stream is a store past the cache, to an address that is a multiple of a vector. Other threads see it after
// finish_streams.
#if defined(__x86_64__)
#if defined(__AVX512F__)
[[gnu::always_inline]] inline void stream(float* to, Vector<float> value) { _mm512_stream_ps(to, value); }
[[gnu::always_inline]] inline void stream(double* to, Vector<double> value) { _mm512_stream_pd(to, value); }
#elif defined(__AVX2__)
[[gnu::always_inline]] inline void stream(float* to, Vector<float> value) { _mm256_stream_ps(to, value); }
[[gnu::always_inline]] inline void stream(double* to, Vector<double> value) { _mm256_stream_pd(to, value); }
#else
[[gnu::always_inline]] inline void stream(float* to, Vector<float> value) { _mm_stream_ps(to, value); }
[[gnu::always_inline]] inline void stream(double* to, Vector<double> value) { _mm_stream_pd(to, value); }
#endif
inline void finish_streams() { _mm_sfence(); }
#else
template <class T> [[gnu::always_inline]] inline void stream(T* to, Vector<T> value) { store(to, value); }
inline void finish_streams() {}
#endif

// load_first and store_first touch `count` elements of memory, at most a vector; the rest loads as zero.
#if defined(__AVX512F__)

[[gnu::always_inline]] inline Vector<float> load_first(const float* from, int count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << count) - 1), from);
}
[[gnu::always_inline]] inline Vector<double> load_first(const double* from, int count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << count) - 1), from);
}
[[gnu::always_inline]] inline void store_first(float* to, Vector<float> value, int count) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1 << count) - 1), value);
}
[[gnu::always_inline]] inline void store_first(double* to, Vector<double> value, int count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1 << count) - 1), value);
}

#elif defined(__AVX2__)

[[gnu::always_inline]] inline __m256i first_floats(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
[[gnu::always_inline]] inline __m256i first_doubles(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
[[gnu::always_inline]] inline Vector<float> load_first(const float* from, int count) {
  return _mm256_maskload_ps(from, first_floats(count));
}
[[gnu::always_inline]] inline Vector<double> load_first(const double* from, int count) {
  return _mm256_maskload_pd(from, first_doubles(count));
}
[[gnu::always_inline]] inline void store_first(float* to, Vector<float> value, int count) {
  _mm256_maskstore_ps(to, first_floats(count), value);
}
[[gnu::always_inline]] inline void store_first(double* to, Vector<double> value, int count) {
  _mm256_maskstore_pd(to, first_doubles(count), value);
}

#else

template <class T> [[gnu::always_inline]] inline Vector<T> load_first(const T* from, int count) {
  Vector<T> result = {};
  for (int lane = 0; lane < count; ++lane) result[lane] = from[lane];
  return result;
}
template <class T> [[gnu::always_inline]] inline void store_first(T* to, Vector<T> value, int count) {
  for (int lane = 0; lane < count; ++lane) to[lane] = value[lane];
}

#endif

/// Interleaves the first (Half = 0) or second (Half = 1) halves of two vectors: a0 b0 a1 b1 ...
template <int Half, class V, int... Lane>
[[gnu::always_inline]] inline V interleave(V a, V b, std::integer_sequence<int, Lane...>) {
  constexpr int count = sizeof...(Lane);
  return __builtin_shufflevector(a, b, (Half * count / 2 + Lane / 2 + Lane % 2 * count)...);
}

/// Transposes a square of elements. Interleaving row i with row i + count / 2 moves a bit of the row's number into the
/// lane's number, and the other way round: after log2(count) rounds the two have changed places.
template <class T> [[gnu::always_inline]] inline void transpose(Vector<T> (&rows)[lanes<T>]) {
  constexpr int count = lanes<T>;
  constexpr std::make_integer_sequence<int, count> all_lanes;
#pragma GCC unroll 4
  for (int round = 1; round < count; round *= 2) {
    Vector<T> mixed[count];
#pragma GCC unroll 8
    for (int row = 0; row < count / 2; ++row) {
      mixed[2 * row] = interleave<0>(rows[row], rows[row + count / 2], all_lanes);
      mixed[2 * row + 1] = interleave<1>(rows[row], rows[row + count / 2], all_lanes);
    }
#pragma GCC unroll 16
    for (int row = 0; row < count; ++row) rows[row] = mixed[row];
  }
}

[[gnu::always_inline]] inline int lanes_left(std::int64_t count, int limit) {
  return count < limit ? static_cast<int>(count) : limit;
}

/// Stores the first `count` elements of a vector; the rest, too, where that is room for padding: a whole vector that
/// was stored can be loaded again at once.
template <bool Padded, class T> [[gnu::always_inline]] inline void store_padded(T* to, Vector<T> value, int count) {
  if constexpr (Padded) {
    store(to, value);
  } else {
    store_first(to, value, count);
  }
}

/// to(row, column) = from(row, column). Not inlined, so that its loop does not run out of registers. Padded: rows of
/// `to` have room for whole vectors, which are filled with zeros.
template <class T, bool Padded>
[[gnu::noinline]] void copy_block(const T* from, std::int64_t from_step, std::int64_t rows, std::int64_t columns, T* to,
                                  std::int64_t to_step) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; column += lanes<T>) {
      const int count = lanes_left(columns - column, lanes<T>);
      store_padded<Padded>(to + row * to_step + column, load_first(from + row * from_step + column, count), count);
    }
  }
}

/// to(column, row) = from(row, column), padded as copy_block.
template <class T, bool Padded>
void copy_transposed(const T* from, std::int64_t from_step, std::int64_t rows, std::int64_t columns, T* to,
                     std::int64_t to_step) {
  for (std::int64_t row = 0; row < rows; row += lanes<T>) {
    const int height = lanes_left(rows - row, lanes<T>);
    for (std::int64_t column = 0; column < columns; column += lanes<T>) {
      const int width = lanes_left(columns - column, lanes<T>);
      Vector<T> square[lanes<T>] = {};
#pragma GCC unroll 16
      for (int i = 0; i < lanes<T>; ++i) {
        if (i < height) square[i] = load_first(from + (row + i) * from_step + column, width);
      }
      transpose<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < lanes<T>; ++i) {
        if (i < width) store_padded<Padded>(to + (column + i) * to_step + row, square[i], height);
      }
    }
  }
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
