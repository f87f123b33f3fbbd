#include <retrace/ops/lines.h>
#include <retrace/ops/masked.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/softmax_line.h>

namespace retrace {
namespace {

constexpr OpInfo info{"softmax", "y = e^(x - max x) / sum e^(x - max x)", "dx = y (dy - sum dy y)", "x"};

void backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* y = r.saved(0).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    lines.for_each([=](std::int64_t start) {
      const std::int64_t stride = lines.stride;
      const T dot =
          ordered_sum<T>(lines.length, [=](std::int64_t k) { return dy[start + k * stride] * y[start + k * stride]; });
      for (std::int64_t k = start; k < start + lines.length * stride; k += stride) {
        const T contribution = y[k] * (dy[k] - dot);
        dx.values[k] = dx.add ? dx.values[k] + contribution : contribution;
      }
    });
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, const Tensor& mask) {
  const int along = axis_of(info.name, x, axis);
  if (mask.defined()) return softmax(masked(info.name, x, mask), along);
  Tensor y;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty_like(x);
    const T* from = x.values<T>().data();
    T* to = y.mutable_values<T>().data();
    const Lines lines(x.shape(), along);
    lines.for_each([=](std::int64_t start) { softmax_line(from + start, to + start, lines.length, lines.stride); });
  });
  record(info, backward, {&x}, {&y}, {&y}, along);
  return y;
}

}  // namespace retrace
