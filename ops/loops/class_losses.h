// The losses of classes by logits, as cross_entropy computes and reduces them.
#pragma once

#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/loss.h>

namespace retrace {

inline constexpr std::int64_t class_losses_grain = 4096;  // logits that are worth a thread

/// body(row) for every row, over threads.
template <class Body> void for_each_row(std::int64_t rows, std::int64_t classes, Body&& body) {
  parallel_for(rows, class_losses_grain / (classes + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

/// -log_softmax of rows of logits. The maximum is kept beside ln sum e^(x - max x): their sum would round away what the
/// second adds to a large maximum.
template <class T> class ClassLosses {
 public:
  /// `sums` [3, rows]: the results of LogSumExpRows, one after the other.
  ClassLosses(const T* x, const T* sums, std::int64_t rows, std::int64_t classes)
      : x_(x), max_x_(sums), log_sums_(sums + rows), inverse_sums_(sums + 2 * rows), classes_(classes) {}
  T operator()(std::int64_t row, std::int64_t c) const {
    return log_sums_[row] - (x_[row * classes_ + c] - max_x_[row]);
  }

  /// The gradient of the loss of a row, dl (softmax(x) - [c = label]).
  void put_gradient(std::int64_t row, std::int64_t label, T dl, const GradientSlot<T>& dx) const {
    const T before = dx.add ? dx.values[label] : T(0);
    kernels::run<T>(&kernels::KernelTable::scaled_exp, plain::scaled_exp<T>,
                    {.x = x_ + row * classes_,
                     .shift = max_x_[row],
                     .factor = dl * inverse_sums_[row],
                     .y = dx.values,
                     .count = classes_,
                     .add = dx.add});
    const T loss = (*this)(row, label);  // softmax - 1, which cancels where the softmax is nearly 1
    dx.values[label] = before + dl * (loss > T(0.5) ? exp(-loss) - T(1) : expm1(-loss));
  }

 private:
  const T *x_, *max_x_, *log_sums_, *inverse_sums_;
  std::int64_t classes_;
};

/// The sums of ClassLosses.
template <class T> Tensor sums_of_rows(const Tensor& logits, std::int64_t rows) {
  const std::int64_t classes = logits.dim(-1);
  Tensor sums = empty({3, rows}, logits.dtype(), "cross_entropy");
  const T* x = logits.values<T>().data();
  T* to = OpAccess::values<T>(sums);
  parallel_for(rows, class_losses_grain / (classes + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    kernels::run<T>(&kernels::KernelTable::log_sum_exp, plain::log_sum_exp<T>,
                    {.x = x + begin * classes,
                     .max_x = to + begin,
                     .log_sums = to + rows + begin,
                     .inverse_sums = to + 2 * rows + begin,
                     .rows = end - begin,
                     .length = classes});
  });
  return sums;
}

/// The losses of rows of logits, reduced, and what ClassLosses needs again.
struct RowLosses {
  Tensor y, sums;
};
/// of_row(ClassLosses, row) is the loss of a row.
template <class LossOfRow>
RowLosses losses_of_rows(const Tensor& logits, Reduction reduction, double counted, const LossOfRow& of_row) {
  const Shape shape = logits.shape().first(logits.rank() - 1);
  const std::int64_t rows = shape.numel();
  RowLosses result;
  dispatch_real(logits.dtype(), "cross_entropy", [&]<class T>(T) {
    result = {empty(reduction == Reduction::none ? shape : Shape{}, logits.dtype()), sums_of_rows<T>(logits, rows)};
    const ClassLosses<T> loss(logits.values<T>().data(), result.sums.template values<T>().data(), rows, logits.dim(-1));
    reduce_losses(reduction, rows, counted, OpAccess::values<T>(result.y),
                  [&](std::int64_t row) { return of_row(loss, row); });
  });
  return result;
}

}  // namespace retrace
