#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

Formulas cumprod_formulas(const Record& r) {
  const int axis = r.attributes<int>(), rank = r.in(0).shape.rank();
  const std::string letter = index_letter(axis);
  const auto at = [&](const std::string& position) { return "[" + index_letters(rank, axis, position) + "]"; };
  const std::string here = at(letter), next = at(letter + " + 1"), there = at("t");
  return {text("y", here, " = prod_(t <= ", letter, ") x", there),
          text("s", here, " = dy", here, " + x", next, " s", next, ", dx", here, " = s", here, " prod_(t < ", letter,
               ") x", there)};
}
constexpr OpInfo cumprod_info{"cumprod",
                              "y[i] = prod_(t <= i) x[t]",
                              "s[i] = dy[i] + x[i + 1] s[i + 1], dx[i] = s[i] prod_(t < i) x[t]",
                              "x",
                              cumprod_formulas,
                              axis_attribute};

// Without a division, so that zeros in x are numbers like any other.
void cumprod_backward(Record& r) {
  const Lines lines(r.in(0).shape, r.attributes<int>());
  dispatch_real(r.in(0).dtype, cumprod_info.name, [&]<class T>(T) {
    const T* x = r.saved(0).values<T>();
    const T* y = r.saved(1).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    lines.for_each([=](std::int64_t start) {
      Wide<T> s(0);  // the sum over t >= k of dy[t] and all x between k and t
      for (std::int64_t k = start + (lines.length - 1) * lines.stride; k >= start; k -= lines.stride) {
        s += static_cast<Wide<T>>(dy[k]);
        dx.put_at(k, static_cast<T>(k == start ? s : s * static_cast<Wide<T>>(y[k - lines.stride])));
        s *= static_cast<Wide<T>>(x[k]);
      }
    });
  });
}

}  // namespace

Tensor cumprod(const Tensor& x, int axis) {
  check_defined(cumprod_info.name, x, "x");
  const int along = axis_of(cumprod_info.name, x, axis);
  const auto fill = []<class T>(const Lines& lines, const T* from, T* to) {
    lines.for_each([=](std::int64_t start) {
      Wide<T> product(1);
      for (std::int64_t k = start; k < start + lines.length * lines.stride; k += lines.stride)
        to[k] = static_cast<T>(product *= static_cast<Wide<T>>(from[k]));
    });
  };
  const Tensor y = filled_by_lines<Elements::any>(cumprod_info, x, along, fill);
  record(cumprod_info, cumprod_backward, {&x}, {&y}, {&x, &y}, along);
  return y;
}

}  // namespace retrace
