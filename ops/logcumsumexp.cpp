#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {
namespace {

Formulas logcumsumexp_formulas(const Record& r) {
  const int axis = r.attributes<int>(), rank = r.in(0).shape.rank();
  const std::string here = index_letters(rank), there = index_letters(rank, axis, "t"), letter = index_letter(axis);
  return {text("y[", here, "] = ln sum_(t <= ", letter, ") e^x[", there, "]"),
          text("dx[", here, "] = sum_(t >= ", letter, ") dy[", there, "] e^(x[", here, "] - y[", there, "])")};
}
constexpr OpInfo logcumsumexp_info{"logcumsumexp",
                                   "y[i] = ln sum_(t <= i) e^x[t]",
                                   "dx[i] = sum_(t >= i) dy[t] e^(x[i] - y[t])",
                                   "x",
                                   logcumsumexp_formulas,
                                   axis_attribute};

/// ln sum e^x of the elements so far, as the largest of them and the sum of e^(x - largest).
template <class T> class LogSum {
 public:
  T add(T x) {
    if (x > largest_) {
      sum_ = sum_ * exp(largest_ - x) + T(1);
      largest_ = x;
    } else {
      sum_ += x == largest_ && isinf(x) ? T(1) : exp(x - largest_);
    }
    return largest_ + log(sum_);
  }

 private:
  T largest_ = static_cast<T>(minus_infinity), sum_ = T(0);
};

/// e^(a - b) for a <= b; 0 of a = -inf, also where b is.
template <class T> T share_of(T a, T b) { return is_hidden(a) ? T(0) : exp(a - b); }

// s_k is the sum over t >= k of dy_t e^(y_k - y_t), whose exponents are never positive, and dx_k = s_k e^(x_k - y_k).
void logcumsumexp_backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, logcumsumexp_info.name, [&]<class T>(T) {
    const T* x = r.saved(0).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    lines.for_each_block([=, &lines](std::int64_t begin, std::int64_t end) {
      std::vector<Wide<T>, PoolAllocator<Wide<T>>> y(static_cast<std::size_t>(lines.length));
      for (std::int64_t line = begin; line < end; ++line) {
        std::int64_t place = lines.start(line);
        LogSum<Wide<T>> so_far;
        for (Wide<T>& here : y) here = so_far.add(static_cast<Wide<T>>(x[std::exchange(place, place + lines.stride)]));
        Wide<T> s(0);
        for (std::size_t k = y.size(); k-- > 0;) {
          place -= lines.stride;
          s = static_cast<Wide<T>>(dy[place]) + (k + 1 == y.size() ? s : s * share_of(y[k], y[k + 1]));
          dx.put_at(place, static_cast<T>(s * share_of(static_cast<Wide<T>>(x[place]), y[k])));
        }
      }
    });
  });
}

}  // namespace

Tensor logcumsumexp(const Tensor& x, int axis) {
  check_defined(logcumsumexp_info.name, x, "x");
  const int along = axis_of(logcumsumexp_info.name, x, axis);
  const Tensor y = filled_by_lines(logcumsumexp_info, x, along, []<class T>(const Lines& lines, const T* from, T* to) {
    lines.for_each([=](std::int64_t start) {
      LogSum<Wide<T>> so_far;
      for (std::int64_t k = start; k < start + lines.length * lines.stride; k += lines.stride)
        to[k] = static_cast<T>(so_far.add(static_cast<Wide<T>>(from[k])));
    });
  });
  record(logcumsumexp_info, logcumsumexp_backward, {&x}, {&y}, {&x}, along);
  return y;
}

}  // namespace retrace
