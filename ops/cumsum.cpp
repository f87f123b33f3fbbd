#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

Formulas cumsum_formulas(const Record& r) {
  const int axis = r.attributes<int>(), rank = r.in(0).shape.rank();
  const std::string here = index_letters(rank), there = index_letters(rank, axis, "t"), letter = index_letter(axis);
  return {text("y[", here, "] = sum_(t <= ", letter, ") x[", there, "]"),
          text("dx[", here, "] = sum_(t >= ", letter, ") dy[", there, "]")};
}
constexpr OpInfo cumsum_info{
    "cumsum", "y[i] = sum_(t <= i) x[t]", "dx[i] = sum_(t >= i) dy[t]", "x", cumsum_formulas, axis_attribute};

void cumsum_backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, cumsum_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    lines.for_each([=](std::int64_t start) {
      Wide<T> sum(0);
      for (std::int64_t k = start + (lines.length - 1) * lines.stride; k >= start; k -= lines.stride) {
        sum += static_cast<Wide<T>>(dy[k]);
        dx.put_at(k, static_cast<T>(sum));
      }
    });
  });
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  check_defined(cumsum_info.name, x, "x");
  const int along = axis_of(cumsum_info.name, x, axis);
  const auto fill = []<class T>(const Lines& lines, const T* from, T* to) {
    lines.for_each([=](std::int64_t start) {
      Wide<T> sum(0);
      for (std::int64_t k = start; k < start + lines.length * lines.stride; k += lines.stride)
        to[k] = static_cast<T>(sum += static_cast<Wide<T>>(from[k]));
    });
  };
  const Tensor y = filled_by_lines<Elements::any>(cumsum_info, x, along, fill);
  record(cumsum_info, cumsum_backward, {&x}, {&y}, {}, along);
  return y;
}

}  // namespace retrace
