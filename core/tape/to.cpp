#include <type_traits>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>

namespace retrace {
namespace {

Formulas conversion_formulas(const Record& r) {
  return {text("y = ", r.out(0).dtype, "(x)"), text("dx = ", r.in(0).dtype, "(dy)")};
}
AttributeList conversion_attributes(const Record& r) { return {{"dtype", text(r.out(0).dtype)}}; }
constexpr OpInfo conversion_info{"to", "y = dtype(x)",      "dx = dtype(dy)",
                                 "x",  conversion_formulas, conversion_attributes};
constexpr std::int64_t grain = 16384;

template <class To, class From> To converted(From x) {
  if constexpr (std::is_same_v<From, Dual> && !std::is_same_v<To, Dual>)
    return static_cast<To>(x.value);  // the tangent is dropped
  else if constexpr (std::is_same_v<To, Dual> && !std::is_same_v<From, Dual>)
    return Dual(static_cast<double>(x));
  else
    return static_cast<To>(x);
}

/// Calls body(From{}, To{}).
template <class Body> void dispatch_conversion(Dtype from, Dtype to, Body&& body) {
  dispatch_any(from, [&](auto from_zero) { dispatch_any(to, [&](auto to_zero) { body(from_zero, to_zero); }); });
}

void to_backward(Record& r) {
  dispatch_conversion(r.out(0).dtype, r.in(0).dtype, [&](auto from_zero, auto to_zero) {
    using From = decltype(from_zero);
    using To = decltype(to_zero);
    const From* dy = r.grad_out<From>();
    r.grad_in<To>(0).put(r.in(0).numel(), [dy](std::int64_t k) { return converted<To>(dy[k]); });
  });
}

/// Throws ValueError where x holds what no integer can stand for.
template <class T> void check_integers(const Tensor& x) {
  constexpr double limit = 0x1p63;
  for (const T element : x.values<T>()) {
    const double number = static_cast<double>(element);
    if (!(number >= -limit && number < limit))
      throw ValueError(text("to: ", x.name().empty() ? text("x", x.shape()) : to_text(x), " holds ", number,
                            ", which is no i64; clip it or fill it first"));
  }
}

}  // namespace

Tensor Tensor::to(Dtype dtype) const {
  const Tensor& x = *this;
  check_defined(conversion_info.name, x, "x");
  if (x.dtype() == dtype) return x;
  Tensor y;
  dispatch_conversion(x.dtype(), dtype, [&](auto from_zero, auto to_zero) {
    using From = decltype(from_zero);
    using To = decltype(to_zero);
    if constexpr (std::is_same_v<To, std::int64_t> && !std::is_same_v<From, std::int64_t>) check_integers<From>(x);
    y = empty(x.shape(), dtype);
    const From* from = x.values<From>().data();
    To* result = y.mutable_values<To>().data();
    parallel_for(x.numel(), grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) result[k] = converted<To>(from[k]);
    });
  });
  if (dtype != i64) record(conversion_info, to_backward, {&x}, {&y});
  return y;
}

}  // namespace retrace
