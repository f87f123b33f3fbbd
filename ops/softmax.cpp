#include <retrace/ops/kernels/run.h>
#include <retrace/ops/kernels/strong_zeros.h>
#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {

// y = e^(s x - max s x) / sum e^(s x - max s x) of each row; zeros if every element is -inf.
template <class T> void plain::softmax(const SoftmaxRows<T>& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    T* y = args.y + row * args.length;
    const std::int64_t seen = args.seen(row);
    T max_x = static_cast<T>(minus_infinity);
    for (std::int64_t k = 0; k < seen; ++k) {
      y[k] = args.scale == T(1) ? x[k] : x[k] * args.scale;  // the tangent of -inf times 1 would be NaN
      max_x = y[k] > max_x ? y[k] : max_x;
    }
    const bool all_masked = is_hidden(max_x);
    for (std::int64_t k = 0; k < seen; ++k) y[k] = all_masked ? (y[k] == max_x ? T(0) : y[k]) : exp(y[k] - max_x);
    std::fill(y + seen, y + args.length, T(0));
    if (all_masked) continue;
    const T one_over_sum = T(1) / ordered_sum<T>(seen, [=](std::int64_t k) { return y[k]; });
    for (std::int64_t k = 0; k < seen; ++k) y[k] *= one_over_sum;
  }
}

// dx = s y (dy - sum dy y) of each row.
template <class T> void plain::softmax_gradient(const SoftmaxGradientRows<T>& args) {
  for (std::int64_t first = 0; first < args.rows * args.length; first += args.length) {
    const T *y = args.y + first, *dy = args.dy + first;
    const T dot = ordered_sum<T>(args.length, [=](std::int64_t k) { return strong_product(dy[k], y[k]); });
    GradientSlot<T>{args.dx + first, args.add}.put(
        args.length, [=, scale = args.scale](std::int64_t k) { return strong_product(y[k], dy[k] - dot) * scale; });
  }
}

RETRACE_INSTANTIATE_PLAIN(softmax, SoftmaxRows);
RETRACE_INSTANTIATE_PLAIN(softmax_gradient, SoftmaxGradientRows);

namespace {

constexpr OpInfo softmax_info{
    "softmax",     "y = e^(x - max x) / sum e^(x - max x)", "dx = y (dy - sum dy y)", "x", formulas_along_axis,
    axis_attribute};

void softmax_backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, softmax_info.name, [&]<class T>(T) {
    const T* values = r.saved(0).values<T>();
    const auto [from, to] = r.flow<T>(0);
    lines.for_each_as_rows<T, 2>({values, from}, to, [&](const auto& y_and_dy, const auto& dx, std::int64_t rows) {
      kernels::run<T>(
          &kernels::KernelTable::softmax_gradient, plain::softmax_gradient<T>,
          {.y = y_and_dy[0], .dy = y_and_dy[1], .dx = dx.values, .rows = rows, .length = lines.length, .add = dx.add});
    });
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, const Tensor& mask) {
  check_defined(softmax_info.name, x, "x");
  const int along = axis_of(softmax_info.name, x, axis);
  if (mask.defined()) return softmax(masked(softmax_info.name, x, mask), along);
  const Tensor y = filled_by_lines(softmax_info, x, along, []<class T>(const Lines& lines, const T* from, T* to) {
    lines.for_each_as_rows<T, 1>({from}, {to, false}, [&](const auto& in, const auto& out, std::int64_t rows) {
      kernels::run<T>(&kernels::KernelTable::softmax, plain::softmax<T>,
                      {.x = in[0], .y = out.values, .rows = rows, .length = lines.length});
    });
  });
  record(softmax_info, softmax_backward, {&x}, {&y}, {&y}, along);
  return y;
}

}  // namespace retrace
