#include <array>

#include <retrace/ops/kernels/rows.h>
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/masked.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

Formulas formulas(const Record& r) {
  const std::string axis = along_axis(r.attributes<int>());
  return {r.op().forward + axis, r.op().backward + axis};
}
constexpr OpInfo info{"softmax", "y = e^(x - max x) / sum e^(x - max x)", "dx = y (dy - sum dy y)", "x", formulas};

template <class T> void forward(const Lines& lines, const T* x, T* y) {
  if (lines.stride == 1)
    lines.for_each_block([=](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * lines.length;
      kernels::softmax<T>({x + first, y + first, end - begin, lines.length});
    });
  else
    lines.for_each_gathered<T, 1>({x}, [=](const std::array<T*, 1>& line, std::int64_t start) {
      kernels::softmax<T>({line[0], line[0], 1, lines.length});
      for (std::int64_t k = 0; k < lines.length; ++k) y[start + k * lines.stride] = line[0][k];
    });
}

template <class T> void gradient(const Lines& lines, const T* y, const T* dy, const GradientSlot<T>& dx) {
  if (lines.stride == 1)
    lines.for_each_block([=](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * lines.length;
      kernels::softmax_gradient<T>({y + first, dy + first, dx.values + first, end - begin, lines.length, T(1), dx.add});
    });
  else
    lines.for_each_gathered<T, 2>({y, dy}, [=](const std::array<T*, 2>& line, std::int64_t start) {
      kernels::softmax_gradient<T>({line[0], line[1], line[1], 1, lines.length});
      for (std::int64_t k = 0; k < lines.length; ++k) {
        T& to = dx.values[start + k * lines.stride];
        to = dx.add ? to + line[1][k] : line[1][k];
      }
    });
}

void backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* dy = r.grad_out<T>();
    gradient<T>(lines, r.saved(0).values<T>(), dy, r.grad_in_place<T>(0, 0));
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, const Tensor& mask) {
  check_defined(info.name, x, "x");
  const int along = axis_of(info.name, x, axis);
  if (mask.defined()) return softmax(masked(info.name, x, mask), along);
  Tensor y;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty_like(x);
    forward(Lines(x.shape(), along), x.values<T>().data(), y.mutable_values<T>().data());
  });
  record(info, backward, {&x}, {&y}, {&y}, along);
  return y;
}

}  // namespace retrace
