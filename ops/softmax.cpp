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

Formulas formulas(const Record& r) {
  const std::string axis = along_axis(r.attributes<int>());
  return {r.op().forward + axis, r.op().backward + axis};
}
AttributeList attribute_list(const Record& r) { return {{"axis", r.attributes<int>()}}; }
constexpr OpInfo info{"softmax",     "y = e^(x - max x) / sum e^(x - max x)", "dx = y (dy - sum dy y)", "x", formulas,
                      attribute_list};

template <class T> void softmax_rows(const SoftmaxRows<T>& args) {
  kernels::run<T>(&kernels::KernelTable::softmax, plain::softmax<T>, args);
}
template <class T> void softmax_gradient_rows(const SoftmaxGradientRows<T>& args) {
  kernels::run<T>(&kernels::KernelTable::softmax_gradient, plain::softmax_gradient<T>, args);
}

// Lines along an axis other than the last are gathered into rows first.
template <class T> void forward(const Lines& lines, const T* x, T* y) {
  if (lines.stride == 1)
    lines.for_each_block([=](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * lines.length;
      softmax_rows<T>({.x = x + first, .y = y + first, .rows = end - begin, .length = lines.length});
    });
  else
    lines.for_each_gathered<T, 1>({x}, [=](const std::array<T*, 1>& line, std::int64_t start) {
      softmax_rows<T>({.x = line[0], .y = line[0], .rows = 1, .length = lines.length});
      for (std::int64_t k = 0; k < lines.length; ++k) y[start + k * lines.stride] = line[0][k];
    });
}

template <class T> void gradient(const Lines& lines, const T* y, const T* dy, const GradientSlot<T>& dx) {
  if (lines.stride == 1)
    lines.for_each_block([=](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * lines.length;
      softmax_gradient_rows<T>({.y = y + first,
                                .dy = dy + first,
                                .dx = dx.values + first,
                                .rows = end - begin,
                                .length = lines.length,
                                .add = dx.add});
    });
  else
    lines.for_each_gathered<T, 2>({y, dy}, [=](const std::array<T*, 2>& line, std::int64_t start) {
      softmax_gradient_rows<T>({.y = line[0], .dy = line[1], .dx = line[1], .rows = 1, .length = lines.length});
      for (std::int64_t k = 0; k < lines.length; ++k) {
        dx.put_at(start + k * lines.stride, line[1][k]);
      }
    });
}

void backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, info.name, [&]<class T>(T) {
    const auto [dy, dx] = r.flow<T>(0);
    gradient<T>(lines, r.saved(0).values<T>(), dy, dx);
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, const Tensor& mask) {
  check_defined(info.name, x, "x");
  const int along = axis_of(info.name, x, axis);
  if (mask.defined()) return softmax(masked(info.name, x, mask), along);
  Tensor y;
  dispatch_real(x, "x", info.name, [&]<class T>(T) {
    y = empty_like(x);
    forward(Lines(x.shape(), along), x.values<T>().data(), OpAccess::values<T>(y));
  });
  record(info, backward, {&x}, {&y}, {&y}, along);
  return y;
}

}  // namespace retrace
