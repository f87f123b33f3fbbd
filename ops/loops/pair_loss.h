// The loops of losses of two equal shapes. A loss is a struct:
//
//   struct SquaredError {
//     static constexpr OpInfo info{"mse", "l = (x - t)^2", "dx = 2 dl (x - t), dt = -dx", "x, t",
//                                  pair_loss_formulas<SquaredError>, pair_loss_attributes<SquaredError>};
//     template <class T> static T value(T x, T t);
//     template <class T> static T dx(T x, T t);
//     template <class T> static T dt(T x, T t);
//   };
//
// One with constants has them as members, gives its formulas by `Formulas formulas() const`, and lists the constants by
// `AttributeList constants() const`. One whose mean is not that of all elements says of how many by
// `double counted(const Shape& x) const`.
#pragma once

#include <retrace/ops/loops/loss.h>

namespace retrace {

template <class Loss> struct PairLossAttributes {
  Reduction reduction;
  Loss loss;
};

template <class Loss> double counted_losses(const Loss& loss, const Shape& x) {
  if constexpr (requires { loss.counted(x); })
    return loss.counted(x);
  else
    return static_cast<double>(x.numel());
}

template <class Loss> Formulas pair_loss_formulas(const Record& r) {
  const PairLossAttributes<Loss>& attributes = r.attributes<PairLossAttributes<Loss>>();
  const Reduction reduction = attributes.reduction;
  const Loss& loss = attributes.loss;
  const double counted = counted_losses(loss, r.in(0).shape);
  Formulas of_losses{r.op().forward, r.op().backward};
  if constexpr (requires { loss.formulas(); }) of_losses = loss.formulas();
  return {of_losses.forward + reduced_formula(reduction, counted),
          text(gradient_of_loss_formula(reduction, counted), ", ", of_losses.backward)};
}

template <class Loss> AttributeList pair_loss_attributes(const Record& r) {
  const PairLossAttributes<Loss>& attributes = r.attributes<PairLossAttributes<Loss>>();
  const Loss& loss = attributes.loss;
  AttributeList list = loss_attributes(attributes.reduction);
  if constexpr (requires { loss.constants(); })
    for (const Attribute& constant : loss.constants()) list.push_back(constant);
  return list;
}

template <class Loss> void pair_loss_backward(Record& r) {
  const auto [reduction, loss] = r.attributes<PairLossAttributes<Loss>>();
  const std::int64_t count = r.in(0).numel();
  const double counted = counted_losses(loss, r.in(0).shape);
  dispatch_real(r.in(0).dtype, Loss::info.name, [&, reduction = reduction, loss = loss]<class T>(T) {
    const T *x = r.saved(0).values<T>(), *t = r.saved(1).values<T>(), *dy = r.grad_out<T>();
    const GradientOfLosses<T> dl(reduction, counted, dy);
    if (r.wants(0)) r.grad_in<T>(0).put(count, [=](std::int64_t k) { return dl(k) * loss.dx(x[k], t[k]); });
    if (r.wants(1)) r.grad_in<T>(1).put(count, [=](std::int64_t k) { return dl(k) * loss.dt(x[k], t[k]); });
  });
}

/// loss.value(x, t). At an infinity, where the arithmetic of dual numbers multiplies it by 0, the slopes give the
/// tangent.
template <class Loss, class T> T loss_of_pair(const Loss& loss, T x, T t) {
  T l = loss.value(x, t);
  if constexpr (std::is_same_v<T, Dual>)
    if (std::isinf(x.value) && std::isnan(l.tangent)) {
      const Dual at(x.value), target(t.value);
      l.tangent = chain(0, loss.dx(at, target).value, x.tangent).tangent +
                  chain(0, loss.dt(at, target).value, t.tangent).tangent;
    }
  return l;
}

/// The mean of losses that are computed in f64.
template <class Loss>
float mean_of_wide_losses(const Loss& loss, const float* x, const float* t, std::int64_t count, double counted) {
  double mean = 0;
  const auto wide_loss = [=](std::int64_t k) { return loss.value(double{x[k]}, double{t[k]}); };
  reduce_losses(Reduction::mean, count, counted, &mean, wide_loss);
  return static_cast<float>(mean);
}

template <class Loss>
Tensor pair_loss(const Tensor& x, const Tensor& target, Reduction reduction, const Loss& loss = {}) {
  check_defined(Loss::info.name, x, "x");
  check_defined(Loss::info.name, target, "target");
  if (x.shape() != target.shape())
    throw ShapeError(text(Loss::info.name, ": ", describe_operand("x", x), " and ", describe_operand("target", target),
                          ": shapes must be equal; reshape one of them"));
  if (x.dtype() != target.dtype()) {
    const auto [like_target, like_x] = with_tangents(Loss::info.name, x, target, "x", "target");
    return pair_loss<Loss>(like_target, like_x, reduction, loss);
  }
  Tensor y;
  dispatch_real(x, "x", Loss::info.name, [&]<class T>(T) {
    y = empty(reduction == Reduction::none ? x.shape() : Shape{}, x.dtype());
    const T *of_x = x.values<T>().data(), *of_t = target.values<T>().data();
    T* to = OpAccess::values<T>(y);
    const double counted = counted_losses(loss, x.shape());
    reduce_losses(reduction, x.numel(), counted, to,
                  [=](std::int64_t k) { return loss_of_pair(loss, of_x[k], of_t[k]); });
    if constexpr (std::is_same_v<T, float>)
      if (reduction == Reduction::mean && !std::isfinite(*to))  // a square that overflows may have a finite mean
        *to = mean_of_wide_losses(loss, of_x, of_t, x.numel(), counted);
  });
  record(Loss::info, pair_loss_backward<Loss>, {&x, &target}, {&y}, {&x, &target},
         PairLossAttributes<Loss>{reduction, loss});
  return y;
}

}  // namespace retrace
