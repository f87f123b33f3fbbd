// Layer norm and its gradient over threads: the rows that the kernels cannot do, and sums over blocks of rows.
#pragma once

#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/hidden_row.h>
#include <retrace/ops/loops/rescaled.h>
#include <retrace/ops/op.h>

namespace retrace {

inline constexpr std::int64_t layer_norm_grain = 4096;  // elements that are worth a thread

/// Normalises a row again whose squares overflow or underflow.
template <class T> void rescale_layer_norm_row(const LayerNormRows<T>& args, std::int64_t row) {
  const T* x = args.x + row * args.length;
  T* y = args.y + row * args.length;
  if (args.residual != nullptr) {
    T* sum = args.sum + row * args.length;  // which may have been y
    for (std::int64_t k = 0; k < args.length; ++k) sum[k] = x[k] + args.residual[row * args.length + k];
    x = sum;
  }
  const RescaledRow<T> rescaled(x, args.length, static_cast<double>(args.eps), true);
  for (std::int64_t k = 0; k < args.length; ++k) {
    const T normal = rescaled.normal(x[k]), scaled = args.gamma == nullptr ? normal : normal * args.gamma[k];
    y[k] = args.beta == nullptr ? scaled : scaled + args.beta[k];
  }
  args.mean[row] = rescaled.mean();
  args.inverse[row] = rescaled.inverse();
}

template <class T> void layer_norm_of_rows(const LayerNormRows<T>& args) {
  parallel_for(args.rows, layer_norm_grain / (args.length + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    const LayerNormRows<T> part = args.rows_from(begin, end);
    kernels::run<T>(&kernels::KernelTable::layer_norm, plain::layer_norm<T>, part);
    for (std::int64_t row = 0; row < part.rows; ++row)
      if (!comes_from_digits(part.inverse[row])) rescale_layer_norm_row(part, row);
  });
}

/// The rows are cut into blocks, of a size that depends on nothing but their length: the sums over rows are those of
/// the blocks, added up in order, on any number of threads.
inline std::int64_t rows_of_a_block(std::int64_t width) {
  return std::clamp<std::int64_t>(262144 / (width + 1), 1, 1024);
}

/// The gradients of rows, but for the hidden ones among them.
template <class T> void layer_norm_gradient_of_rows(const LayerNormGradientRows<T>& args) {
  const auto is_hidden = [&](std::int64_t row) {
    return is_hidden_row(args.dy + row * args.length, args.inverse[row], args.length);
  };
  for (std::int64_t first = 0, last = 0; first < args.rows; first = last) {
    while (last < args.rows && !is_hidden(last)) ++last;
    if (last > first)
      kernels::run<T>(&kernels::KernelTable::layer_norm_gradient, plain::layer_norm_gradient<T>,
                      args.rows_from(first, last));
    for (; last < args.rows && is_hidden(last); ++last)
      if (args.dx != nullptr && !args.add) std::fill_n(args.dx + last * args.length, args.length, T(0));
  }
}

/// The gradients of `all` block by block; every block but the first sums into scratch space, which is then added in
/// order.
template <class T> void layer_norm_gradient_by_blocks(const LayerNormGradientRows<T>& args, Dtype dtype) {
  const std::int64_t size = rows_of_a_block(args.length), blocks = (args.rows + size - 1) / size;
  const Tensor room = zeros({std::max<std::int64_t>(blocks - 1, 0), 2, args.length}, dtype);
  T* sums = OpAccess::values<T>(room);
  const auto of_block = [=](std::int64_t block, int which) { return sums + (2 * (block - 1) + which) * args.length; };
  parallel_for(blocks, layer_norm_grain / (size * args.length + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      LayerNormGradientRows<T> part = args.rows_from(block * size, std::min((block + 1) * size, args.rows));
      if (block > 0 && part.dgamma != nullptr) part.dgamma = of_block(block, 0);
      if (block > 0 && part.dbeta != nullptr) part.dbeta = of_block(block, 1);
      layer_norm_gradient_of_rows(part);
    }
  });
  for (std::int64_t block = 1; block < blocks; ++block) {
    for (std::int64_t k = 0; args.dgamma != nullptr && k < args.length; ++k) args.dgamma[k] += of_block(block, 0)[k];
    for (std::int64_t k = 0; args.dbeta != nullptr && k < args.length; ++k) args.dbeta[k] += of_block(block, 1)[k];
  }
}

}  // namespace retrace
