// The loops of all elementwise ops of one tensor. An op is a struct:
//
//   struct Tanh {
//     static constexpr OpInfo info{"tanh", "y = tanh x", "dx = dy (1 - y^2)", "x"};
//     static constexpr Saves saves = Saves::y;      // what slope reads, or the slope itself
//     template <class T> static T value(T x);       // y
//     template <class T> static T slope(T x, T y);  // dy/dx; what is not saved arrives as 0
//   };
//   Tensor tanh(const Tensor& x) { return unary<Tanh>(x); }
//
// An op with constants has a struct `Attributes`, which is then the last argument of value and slope, and may have a
// `gradient(dy, x, y, attributes)` instead of slope, which gives dx.
// It may say `static constexpr bool integers = true` if it makes sense for i64, whose elements are then unsigned, so
// that they wrap around, unless it also says `sees_signs = true`; and `slope_is_one = true` or `slope_is_zero = true`
// instead of slope. Where value and slope share most of their work, it saves the slope, which is then computed with y,
// and needs no kernel for the gradient. Members of MapKernels work on whole arrays of floats and doubles, and are then
// taken instead of their twins:
//
//     template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::tanh;
//     template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::tanh_gradient;
//
// Functions that an op calls once are static, so that the compiler inlines them: a tiny op gains a twelfth.
#pragma once

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/op.h>

namespace retrace {

enum class Saves { nothing, x, y, slope };

inline constexpr std::int64_t unary_grain = 8192;  // elements that are worth a thread

template <class Op>
concept SeesSigns = requires {
  Op::sees_signs;
};
/// What the value of Op gets as an element of type T.
template <class Op, class T> using ElementFor = std::conditional_t<SeesSigns<Op>, T, Modular<T>>;

/// Whether Op has kernels for elements of type T.
template <class Op, class T>
concept HasKernel = std::is_floating_point_v<T> && requires {
  Op::template kernel<T>;
};
template <class Op, class T>
concept HasGradientKernel = std::is_floating_point_v<T> && requires {
  Op::template gradient_kernel<T>;
};

template <class Op> constexpr auto attributes_type() {
  if constexpr (requires { typename Op::Attributes; })
    return std::type_identity<typename Op::Attributes>();
  else
    return std::type_identity<NoAttributes>();
}
/// The constants of a call of Op.
template <class Op> using AttributesOf = typename decltype(attributes_type<Op>())::type;

template <class Op, class T> static T slope_of(T x, T y, const AttributesOf<Op>& attributes) {
  if constexpr (requires { typename Op::Attributes; })
    return Op::slope(x, y, attributes);
  else
    return Op::slope(x, y);
}
/// dy Op::slope(x, y), or Op::gradient(dy, x, y) of an op that has one.
template <class Op, class T> static T gradient_of_element(T dy, T x, T y, const AttributesOf<Op>& attributes) {
  if constexpr (requires { Op::gradient(dy, x, y, attributes); })
    return Op::gradient(dy, x, y, attributes);
  else
    return dy * slope_of<Op>(x, y, attributes);
}

/// dx[k] = or += gradient_of_element(dy[k], x[k], y[k]), from what Op saved.
template <class Op, class T>
void map_gradients(const T* saved, const T* dy, const GradientSlot<T>& dx, std::int64_t count,
                   const AttributesOf<Op>& attributes) {
  if constexpr (Op::saves == Saves::slope && std::is_floating_point_v<T>) {
    kernels::map_kernels<T>().by_slope(saved, dy, dx.values, count, dx.add);
  } else if constexpr (HasGradientKernel<Op, T>) {
    (kernels::map_kernels<T>().*Op::template gradient_kernel<T>)(saved, dy, dx.values, count, dx.add);
  } else {
    dx.put(count, [=](std::int64_t k) {
      if constexpr (Op::saves == Saves::slope)
        return dy[k] * saved[k];
      else if constexpr (Op::saves == Saves::x)
        return gradient_of_element<Op>(dy[k], saved[k], T{}, attributes);
      else if constexpr (Op::saves == Saves::y)
        return gradient_of_element<Op>(dy[k], T{}, saved[k], attributes);
      else
        return gradient_of_element<Op>(dy[k], T{}, T{}, attributes);
    });
  }
}

/// dx[k] = dy[k] Op::slope(x[k], y[k]).
template <class Op> static void multiply_by_slope(Record& r) {
  dispatch_real(r.in(0).dtype, Op::info.name, [&]<class T>(T) {
    const auto attributes = r.attributes<AttributesOf<Op>>();
    const T* saved = nullptr;
    if constexpr (Op::saves != Saves::nothing) saved = r.saved(0).values<T>();
    const auto [dy, dx] = r.flow<T>(0);
    parallel_for(r.in(0).numel(), unary_grain, [=, dy = dy, dx = dx](std::int64_t begin, std::int64_t end) {
      const T* from = saved == nullptr ? nullptr : saved + begin;
      map_gradients<Op, T>(from, dy + begin, dx.from(begin), end - begin, attributes);
    });
  });
}

template <class Op> static void unary_backward(Record& r) {
  if constexpr (requires { Op::slope_is_one; })
    r.pass(0, 0);
  else if constexpr (requires { Op::slope_is_zero; })
    dispatch_real(r.in(0).dtype, Op::info.name, [&]<class T>(T) { r.grad_in<T>(0, Begin::zeroed); });
  else
    multiply_by_slope<Op>(r);
}

/// Op::value(x). At an infinity, where the arithmetic of dual numbers multiplies it by 0, the slope gives the tangent.
template <class Op, class T> static T value_of_element(T x, const AttributesOf<Op>& attributes) {
  T y;
  if constexpr (requires { typename Op::Attributes; })
    y = Op::value(x, attributes);
  else
    y = static_cast<T>(Op::value(static_cast<ElementFor<Op, T>>(x)));
  if constexpr (std::is_same_v<T, Dual> &&
                (
                    requires { Op::slope(x, y); } || requires { Op::slope(x, y, attributes); }))
    if (isinf(x.value) && isnan(y.tangent)) y.tangent = (x.tangent * slope_of<Op>(Dual(x.value), y, attributes)).value;
  return y;
}

/// y[k] = Op::value(x[k]) for k in [0, count). y may be x.
template <class Op, class T> void map_values(const T* x, T* y, std::int64_t count, const AttributesOf<Op>& attributes) {
  if constexpr (HasKernel<Op, T>) {
    const auto map = kernels::map_kernels<T>().*Op::template kernel<T>;
    if constexpr (Op::saves == Saves::slope)
      map(x, y, nullptr, count);
    else
      map(x, y, count);
  } else {
    for (std::int64_t k = 0; k < count; ++k) y[k] = value_of_element<Op>(x[k], attributes);
  }
}

/// y, which may be x, and slope[k] = Op::slope(x[k]).
template <class Op, class T>
void map_values_and_slopes(const T* x, T* y, T* slope, std::int64_t count, const AttributesOf<Op>& attributes) {
  if constexpr (HasKernel<Op, T>) {
    (kernels::map_kernels<T>().*Op::template kernel<T>)(x, y, slope, count);
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      const T x_k = x[k];
      y[k] = value_of_element<Op>(x_k, attributes);
      slope[k] = slope_of<Op>(x_k, T{}, attributes);
    }
  }
}

/// unary for an op that saves its slope.
template <class Op> static Tensor unary_with_slope(const Tensor& x, const AttributesOf<Op>& attributes) {
  Tensor y, slope;
  dispatch_real(x, "x", Op::info.name, [&]<class T>(T) {
    y = empty_like(x);
    slope = empty_like(x);
    const T* from = OpAccess::values<T>(x);
    T *to = OpAccess::values<T>(y), *to_slope = OpAccess::values<T>(slope);
    parallel_for(x.numel(), unary_grain, [=](std::int64_t begin, std::int64_t end) {
      map_values_and_slopes<Op, T>(from + begin, to + begin, to_slope + begin, end - begin, attributes);
    });
  });
  record(Op::info, unary_backward<Op>, {&x}, {&y}, {&slope}, attributes);
  return y;
}

/// y[k] = Op::value(x[k]), recorded.
template <class Op> static Tensor unary(const Tensor& x, const AttributesOf<Op>& attributes = {}) {
  check_defined(Op::info.name, x, "x");
  if constexpr (Op::saves == Saves::slope) {
    if (Tape::current() != nullptr && x.wants_gradient()) return unary_with_slope<Op>(x, attributes);
  }
  Tensor y = dispatch_for<Op>(x, "x", [&]<class T>(T) {
    Tensor result = empty_like(x);
    const T* from = OpAccess::values<T>(x);
    T* to = OpAccess::values<T>(result);
    parallel_for(x.numel(), unary_grain, [=](std::int64_t begin, std::int64_t end) {
      map_values<Op, T>(from + begin, to + begin, end - begin, attributes);
    });
    return result;
  });
  if constexpr (Op::saves == Saves::nothing || Op::saves == Saves::slope)
    record(Op::info, unary_backward<Op>, {&x}, {&y}, {}, attributes);
  else
    record(Op::info, unary_backward<Op>, {&x}, {&y}, {Op::saves == Saves::x ? &x : &y}, attributes);
  return y;
}

}  // namespace retrace
