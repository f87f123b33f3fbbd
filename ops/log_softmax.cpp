#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/masked.h>
#include <retrace/ops/loops/softmax_line.h>

namespace retrace {
namespace {

constexpr OpInfo log_softmax_info{"log_softmax",          "y = x - max x - ln sum e^(x - max x)",
                                  "dx = dy - e^y sum dy", "x",
                                  formulas_along_axis,    axis_attribute};

// -inf is a constant: what is masked has no slope, and its gradient, whatever it is, no effect.

template <class T> void log_softmax_forward(const T* x, T* y, std::int64_t length, std::int64_t stride) {
  const T max_x = largest(x, length, stride);
  if (is_hidden(max_x)) {  // nothing is left of this line; NaN stays
    for (std::int64_t k = 0; k < length * stride; k += stride) y[k] = masked_sum(T(0), x[k]);
    return;
  }
  const T log_sum = log(ordered_sum<T>(length, [=](std::int64_t k) { return exp(x[k * stride] - max_x); }));
  // x - max first: where both are large their difference is exact, and adding ln sum to the maximum would round it
  // away.
  for (std::int64_t k = 0; k < length * stride; k += stride)
    y[k] = is_hidden(x[k]) ? static_cast<T>(minus_infinity) : (x[k] - max_x) - log_sum;
}

void log_softmax_backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, log_softmax_info.name, [&]<class T>(T) {
    const T* y = r.saved(0).values<T>();
    const auto [dy, dx] = r.flow<T>(0);
    lines.for_each([=, dy = dy, dx = dx](std::int64_t start) {
      const std::int64_t stride = lines.stride;
      const T sum = ordered_sum<T>(lines.length, [=](std::int64_t k) {
        return is_hidden(y[start + k * stride]) ? T(0) : dy[start + k * stride];
      });
      for (std::int64_t k = start; k < start + lines.length * stride; k += stride) {
        const T contribution = is_hidden(y[k]) ? T(0) : dy[k] - exp(y[k]) * sum;
        dx.put_at(k, contribution);
      }
    });
  });
}

}  // namespace

Tensor log_softmax(const Tensor& x, int axis, const Tensor& mask) {
  check_defined(log_softmax_info.name, x, "x");
  const int along = axis_of(log_softmax_info.name, x, axis);
  if (mask.defined()) return log_softmax(masked(log_softmax_info.name, x, mask), along);
  const Tensor y = filled_by_lines(log_softmax_info, x, along, [](const Lines& lines, const auto* from, auto* to) {
    lines.for_each(
        [=](std::int64_t start) { log_softmax_forward(from + start, to + start, lines.length, lines.stride); });
  });
  record(log_softmax_info, log_softmax_backward, {&x}, {&y}, {&y}, along);
  return y;
}

}  // namespace retrace
