#include <retrace/ops/kernels/strong_zeros.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/run.h>

namespace retrace::kernels {
namespace {

template <class T> bool all_finite(const T* x, std::int64_t count) {
  constexpr std::int64_t grain = 1 << 16;
  std::atomic<bool> result = true;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    bool part = true;
    run<T>(&KernelTable::check_finite, plain::check_finite<T>,
           {.x = x + begin, .count = end - begin, .are_finite = &part});
    if (!part) result = false;
  });
  return result;
}

/// `batch` matrices of rows that are row_stride apart.
template <class T> struct StoredRows {
  const T* data;
  std::int64_t rows, columns, row_stride, batch, batch_stride;

  bool are_finite() const {
    const bool in_one_piece = row_stride == columns;
    for (std::int64_t item = 0; item < batch; ++item)
      for (std::int64_t row = 0; row < (in_one_piece ? 1 : rows); ++row)
        if (!all_finite(data + item * batch_stride + row * row_stride, in_one_piece ? rows * columns : columns))
          return false;
    return true;
  }
};

/// An element of op(X) that is not finite.
template <class T> struct Entry {
  std::int64_t row, column;
  T value;
};

/// op(X), rows x columns, one item of a batch; split into what is finite, with 0 elsewhere, and the other elements.
template <class T> class SplitFactor {
 public:
  SplitFactor(const GemmOperand<T>& x, std::int64_t item, std::int64_t rows, std::int64_t columns)
      : x_(x.data + item * x.batch_stride),
        row_step_(x.transposed ? 1 : x.row_stride),
        column_step_(x.transposed ? x.row_stride : 1),
        columns_(columns),
        finite_(zeros({rows, columns}, dtype_of<T>)) {
    T* finite = OpAccess::values<T>(finite_);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column, ++finite) {
        const T value = (*this)(row, column);
        if (std::isfinite(value))
          *finite = value;
        else
          others_.push_back({row, column, value});
      }
  }
  T operator()(std::int64_t row, std::int64_t column) const { return x_[row * row_step_ + column * column_step_]; }
  GemmOperand<T> finite() const { return {finite_.template values<T>().data(), columns_}; }
  const std::vector<Entry<T>>& others() const { return others_; }

 private:
  const T* x_;
  std::int64_t row_step_, column_step_, columns_;
  Tensor finite_;
  std::vector<Entry<T>> others_;
};

// Rarely needed, and then slow anyway: compiled for size.
template <class T>
[[gnu::noinline, gnu::cold]] void multiply_split(GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  for (std::int64_t item = 0; item < shape.batch; ++item, c.data += c.batch_stride) {
    const SplitFactor<T> left(a, item, shape.m, shape.k), right(b, item, shape.k, shape.n);
    gemm<T>({shape.m, shape.n, shape.k}, left.finite(), right.finite(), c);
    const auto add = [&](std::int64_t row, std::int64_t column, T product) {
      c.data[row * c.row_stride + column] += product;
    };
    for (const auto& [row, k, value] : left.others())
      for (std::int64_t column = 0; column < shape.n; ++column)
        add(row, column, strong_product(value, right(k, column)));
    for (const auto& [k, column, value] : right.others())
      for (std::int64_t row = 0; row < shape.m; ++row) add(row, column, strong_product(left(row, k), value));
  }
}

template <class T>
StoredRows<T> stored(const GemmOperand<T>& x, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  return {x.data,       x.transposed ? columns : rows,   x.transposed ? rows : columns,
          x.row_stride, x.batch_stride == 0 ? 1 : batch, x.batch_stride};
}

template <class T>
void multiply(const GemmShape& shape, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c) {
  if (c.accumulate) {  // what C holds is lost by a product that adds NaN to it
    if (!stored(a, shape.m, shape.k, shape.batch).are_finite() ||
        !stored(b, shape.k, shape.n, shape.batch).are_finite())
      return multiply_split(shape, a, b, c);
    return gemm<T>(shape, a, b, c);
  }
  gemm<T>(shape, a, b, c);
  const StoredRows<T> result{c.data, shape.m, shape.n, c.row_stride, shape.batch, c.batch_stride};
  if (!result.are_finite()) multiply_split(shape, a, b, c);
}

}  // namespace

bool are_finite(const float* x, std::int64_t count) { return all_finite(x, count); }
bool are_finite(const double* x, std::int64_t count) { return all_finite(x, count); }

void gemm_with_strong_zeros(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c) {
  multiply(shape, a, b, c);
}
void gemm_with_strong_zeros(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c) {
  multiply(shape, a, b, c);
}

}  // namespace retrace::kernels
