// Matrix products on raw pointers. Every element of C is one multiply-add chain over ascending k, so neither blocking,
// tile edges, the number of rows, batching nor threads can change a bit: a row of C equals that row computed alone.
#pragma once

#include <cstdint>

namespace retrace::kernels {

/// `batch` products of an m x k by a k x n matrix.
struct GemmShape {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
};

/// A factor. Transposed means that the memory holds op(X)^T, row by row; a batch stride of 0 broadcasts one matrix.
template <class T> struct GemmOperand {
  const T* data;
  std::int64_t row_stride;
  bool transposed = false;
  std::int64_t batch_stride = 0;
  bool packed = false;  ///< panels made by pack_right_factor; a right factor only, and none of the rest counts
};

/// An activation in place: values[k] becomes f(values[k]), and slopes[k] its derivative there, unless slopes is null.
/// The bits of an element must not depend on its neighbours.
template <class T> using ActivationFunction = void (*)(T* values, T* slopes, std::int64_t count);

/// The product. Its chains start from C if `accumulate`, else from `bias` (n elements, the same for every row) if there
/// is one, else from zero. It must not overlap a factor.
template <class T> struct GemmResult {
  T* data;
  std::int64_t row_stride;
  std::int64_t batch_stride = 0;
  bool accumulate = false;
  const T* bias = nullptr;
  ActivationFunction<T> activation = nullptr;  ///< of what the chains give; null: none
  T* slopes = nullptr;                         ///< of the activation, laid out as `data`; null: not wanted
};

/// How many elements the panels of a k x n right factor take.
constexpr std::int64_t packed_size(std::int64_t k, std::int64_t n) {
  constexpr std::int64_t widest_vector = 16;
  return k * ((n + widest_vector - 1) / widest_vector * widest_vector);
}

/// a * b + c, rounded once for the built-in types.
inline float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class T> T multiply_add(T a, T b, T c) { return a * b + c; }

/// The plain twin of gemm: the same chains, and with fused multiply-add hardware the same bits.
template <class T> void gemm_plain(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  const auto element = [n = shape.n](const GemmOperand<T>& x, std::int64_t item, std::int64_t row,
                                     std::int64_t column) {
    if (x.packed) return x.data[row * n + column];
    const std::int64_t offset = x.transposed ? column * x.row_stride + row : row * x.row_stride + column;
    return x.data[item * x.batch_stride + offset];
  };
  for (std::int64_t item = 0; item < shape.batch; ++item) {
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < shape.n; ++j) {
        T& result = c.data[item * c.batch_stride + i * c.row_stride + j];
        T sum = c.accumulate ? result : c.bias != nullptr ? c.bias[j] : T(0);
        for (std::int64_t p = 0; p < shape.k; ++p) {
          sum = multiply_add(element(a, item, i, p), element(b, item, p, j), sum);
        }
        result = sum;
        if (c.activation != nullptr)
          c.activation(&result, c.slopes == nullptr ? nullptr : c.slopes + (&result - c.data), 1);
      }
    }
  }
}

/// C = op(A) op(B), and so for each of the batch; see GemmResult for what the sums start from. Float and double run the
/// kernels of this machine's instruction set, any other type the plain twin. Without fused multiply-add hardware
/// (x86-64-v2) products are rounded before they are added: bits are the same within one instruction set.
template <class T> void gemm(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  gemm_plain(shape, a, b, c);
}
template <> void gemm(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c);
template <> void gemm(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c);

/// Panels of b (k x n) for products with many left factors: {panels, .packed = true} then stands for b. Panels depend
/// on the instruction set; they are packed_size(k, n) elements. The plain ones are rows.
template <class T> void pack_right_factor(std::int64_t k, std::int64_t n, GemmOperand<T> b, T* panels) {
  for (std::int64_t row = 0; row < k; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      panels[row * n + column] = b.data[b.transposed ? column * b.row_stride + row : row * b.row_stride + column];
}
template <> void pack_right_factor(std::int64_t k, std::int64_t n, GemmOperand<float> b, float* panels);
template <> void pack_right_factor(std::int64_t k, std::int64_t n, GemmOperand<double> b, double* panels);

}  // namespace retrace::kernels
