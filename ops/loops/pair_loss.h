// The loops of losses of two equal shapes. A loss is a struct:
//
//   struct SquaredError {
//     static constexpr OpInfo info{"mse", "l = (x - t)^2", "dx = 2 dl (x - t), dt = -dx", "x, t", pair_loss_formulas,
//                                  pair_loss_attributes};
//     template <class T> static T value(T x, T t);
//     template <class T> static T dx(T x, T t);
//     template <class T> static T dt(T x, T t);
//   };
#pragma once

#include <retrace/ops/loops/loss.h>

namespace retrace {

inline Formulas pair_loss_formulas(const Record& r) {
  const Reduction reduction = r.attributes<Reduction>();
  const double counted = static_cast<double>(r.in(0).numel());
  return {r.op().forward + reduced_formula(reduction, counted),
          text(gradient_of_loss_formula(reduction, counted), ", ", r.op().backward)};
}

inline AttributeList pair_loss_attributes(const Record& r) { return loss_attributes(r.attributes<Reduction>()); }

template <class Loss> void pair_loss_backward(Record& r) {
  const Reduction reduction = r.attributes<Reduction>();
  const std::int64_t count = r.in(0).numel();
  const double counted = static_cast<double>(count);
  dispatch_real(r.in(0).dtype, Loss::info.name, [&](auto zero) {
    using T = decltype(zero);
    const T *x = r.saved(0).values<T>(), *t = r.saved(1).values<T>(), *dy = r.grad_out<T>();
    const GradientOfLosses<T> dl(reduction, counted, dy);
    if (r.wants(0)) r.grad_in<T>(0).put(count, [=](std::int64_t k) { return dl(k) * Loss::dx(x[k], t[k]); });
    if (r.wants(1)) r.grad_in<T>(1).put(count, [=](std::int64_t k) { return dl(k) * Loss::dt(x[k], t[k]); });
  });
}

template <class Loss> Tensor pair_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  check_defined(Loss::info.name, x, "x");
  check_defined(Loss::info.name, target, "target");
  if (x.shape() != target.shape())
    throw ShapeError(text(Loss::info.name, ": ", describe_operand("x", x), " and ", describe_operand("target", target),
                          ": shapes must be equal; reshape one of them"));
  if (x.dtype() != target.dtype()) {
    const auto [like_target, like_x] = with_tangents(Loss::info.name, x, target, "x", "target");
    return pair_loss<Loss>(like_target, like_x, reduction);
  }
  Tensor y;
  dispatch_real(x, "x", Loss::info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(reduction == Reduction::none ? x.shape() : Shape{}, x.dtype());
    const T *of_x = x.values<T>().data(), *of_t = target.values<T>().data();
    reduce_losses(reduction, x.numel(), static_cast<double>(x.numel()), y.mutable_values<T>().data(),
                  [=](std::int64_t k) { return Loss::value(of_x[k], of_t[k]); });
  });
  record(Loss::info, pair_loss_backward<Loss>, {&x, &target}, {&y}, {&x, &target}, reduction);
  return y;
}

}  // namespace retrace
