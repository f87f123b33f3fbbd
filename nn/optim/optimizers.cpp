#include <retrace/nn/optim/adam.h>
#include <retrace/nn/optim/optimizer_options.h>
#include <retrace/nn/optim/optimizers.h>

#include <cmath>

#include <retrace/ops/kernels/run.h>

namespace retrace {
namespace {

// Calls body(w, g, count) with the values to update and their gradient, of one C++ type.
template <class Body> void with_values(const OptimizerSlot& slot, Body&& body) {
  const Tensor& parameter = slot.parameter.tensor;
  dispatch_real(parameter.dtype(), "step", [&](auto zero) {
    using T = decltype(zero);
    const T* gradient = parameter.grad_values<T>().data();
    parameter.update<T>([&](std::span<T> values) { body(values.data(), gradient, parameter.numel()); });
  });
}

template <class T> T* state(OptimizerSlot& slot, std::size_t which) {
  return slot.state[which].tensor.mutable_values<T>().data();
}

}  // namespace

void SgdOptions::check() const {
  check_optimizer_options("SgdOptions", *this);
  if (nesterov && (momentum == 0 || lr_inside))
    throw ValueError(text("SgdOptions: nesterov is set with ", lr_inside ? "lr_inside" : "momentum 0",
                          "; it needs a momentum above 0, and its formula has no lr inside, so leave one of them out"));
}
void RmsPropOptions::check() const { check_optimizer_options("RmsPropOptions", *this); }
void AdagradOptions::check() const { check_optimizer_options("AdagradOptions", *this); }
void AdamOptions::check() const { check_optimizer_options("AdamOptions", *this); }
void NAdamOptions::check() const {
  check_optimizer_options("NAdamOptions", *this);
  check_number("NAdamOptions", "momentum_decay", momentum_decay, not_negative, "such as 4e-3");
}
void RAdamOptions::check() const { check_optimizer_options("RAdamOptions", *this); }
void LionOptions::check() const { check_optimizer_options("LionOptions", *this); }

void Sgd::update(OptimizerSlot& slot, const SgdOptions& options) {
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    const T lr = static_cast<T>(options.lr), mu = static_cast<T>(options.momentum);
    const T decay = static_cast<T>(options.weight_decay);
    T* v = options.momentum == 0 ? nullptr : state<T>(slot, 0);
    for (std::int64_t k = 0; k < count; ++k) {
      const T slope = g[k] + decay * w[k];
      if (v == nullptr) {
        w[k] -= lr * slope;
      } else if (options.lr_inside) {
        v[k] = mu * v[k] - lr * slope;
        w[k] += v[k];
      } else {
        v[k] = mu * v[k] + slope;
        w[k] -= lr * (options.nesterov ? slope + mu * v[k] : v[k]);
      }
    }
  });
}

void RmsProp::update(OptimizerSlot& slot, const RmsPropOptions& options) {
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    using std::sqrt;
    const T lr = static_cast<T>(options.lr), mu = static_cast<T>(options.momentum), eps = static_cast<T>(options.eps);
    const T alpha = static_cast<T>(options.alpha), rest = static_cast<T>(1 - options.alpha);
    const T decay = static_cast<T>(options.weight_decay);
    T *s = state<T>(slot, 0), *a = state<T>(slot, 1), *v = state<T>(slot, 2);
    for (std::int64_t k = 0; k < count; ++k) {
      const T slope = g[k] + decay * w[k];
      s[k] = alpha * s[k] + rest * slope * slope;
      if (options.centered) a[k] = alpha * a[k] + rest * slope;
      const T difference = s[k] - a[k] * a[k];
      const T variance = difference < T{} ? T{} : difference;  // rounding can make it negative; NaN stays NaN
      v[k] = mu * v[k] + slope / (sqrt(variance) + eps);
      w[k] -= lr * v[k];
    }
  });
}

void Adagrad::update(OptimizerSlot& slot, const AdagradOptions& options) {
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    using std::sqrt;
    const T lr = static_cast<T>(options.lr), eps = static_cast<T>(options.eps);
    const T decay = static_cast<T>(options.weight_decay);
    T* s = state<T>(slot, 0);
    for (std::int64_t k = 0; k < count; ++k) {
      const T slope = g[k] + decay * w[k];
      s[k] += slope * slope;
      w[k] -= lr * slope / (sqrt(s[k]) + eps);
    }
  });
}

namespace {

// Moves Adam's averages m and v of a gradient, with its weight decay, and of its square; direction(gradient, m, v) is
// what a weight goes down by.
template <class T, class Options, class Direction>
void update_by_averages(OptimizerSlot& slot, const Options& options, T* w, const T* g, std::int64_t count,
                        Direction&& direction) {
  const T b1 = static_cast<T>(options.b1), rest1 = static_cast<T>(1 - options.b1);
  const T b2 = static_cast<T>(options.b2), rest2 = static_cast<T>(1 - options.b2);
  const T decay = static_cast<T>(options.weight_decay);
  T *m = state<T>(slot, 0), *v = state<T>(slot, 1);
  for (std::int64_t k = 0; k < count; ++k) {
    const T slope = g[k] + decay * w[k];
    m[k] = b1 * m[k] + rest1 * slope;
    v[k] = b2 * v[k] + rest2 * slope * slope;
    w[k] -= direction(slope, m[k], v[k]);
  }
}

// b1(t) of NAdam.
double momentum_at(const NAdamOptions& options, std::int64_t t) {
  return options.b1 * (1 - std::pow(0.96, static_cast<double>(t) * options.momentum_decay) / 2);
}

// p(t) of NAdam, or 0 from where 1 - p(t) is 1.
double product_of_momenta(const NAdamOptions& options, std::int64_t t) {
  double product = 1;
  for (std::int64_t k = 1; k <= t && product > 1e-17; ++k) product *= momentum_at(options, k);
  return product > 1e-17 ? product : 0;
}

// r of RAdam, or 0 where n(t) is at most 5.
double rectification(double b2, double t) {
  const double power = std::pow(b2, t), all = 2 / (1 - b2) - 1, n = all - 2 * t * power / (1 - power);
  return n > 5 ? std::sqrt((n - 4) * (n - 2) * all / ((all - 4) * (all - 2) * n)) : 0;
}

}  // namespace

void NAdam::update(OptimizerSlot& slot, const NAdamOptions& options) {
  const std::int64_t t = slot.updates;
  const double product = product_of_momenta(options, t), next = momentum_at(options, t + 1);
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    using std::sqrt;
    const T of_slope = static_cast<T>(options.lr * (1 - momentum_at(options, t)) / (1 - product));
    const T of_average = static_cast<T>(options.lr * next / (1 - product * next));
    const T correction = static_cast<T>(std::sqrt(1 / (1 - std::pow(options.b2, t)))),
            eps = static_cast<T>(options.eps);
    update_by_averages(slot, options, w, g, count, [=](T slope, T m, T v) {
      return (of_slope * slope + of_average * m) / (sqrt(v) * correction + eps);
    });
  });
}

void RAdam::update(OptimizerSlot& slot, const RAdamOptions& options) {
  const double t = static_cast<double>(slot.updates), r = rectification(options.b2, t);
  const double step = options.lr / (1 - std::pow(options.b1, t));
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    using std::sqrt;
    const T plain = static_cast<T>(step), eps = static_cast<T>(options.eps);
    const T rectified = static_cast<T>(step * r * std::sqrt(1 - std::pow(options.b2, t)));
    update_by_averages(slot, options, w, g, count,
                       [=](T, T m, T v) { return r == 0 ? plain * m : rectified * m / (sqrt(v) + eps); });
  });
}

void Lion::update(OptimizerSlot& slot, const LionOptions& options) {
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    const T lr = static_cast<T>(options.lr), keep = static_cast<T>(1 - options.lr * options.weight_decay);
    const T b1 = static_cast<T>(options.b1), rest1 = static_cast<T>(1 - options.b1);
    const T b2 = static_cast<T>(options.b2), rest2 = static_cast<T>(1 - options.b2);
    T* m = state<T>(slot, 0);
    for (std::int64_t k = 0; k < count; ++k) {
      const T direction = b1 * m[k] + rest1 * g[k];
      // A NaN is its own sign.
      const T sign = direction > T{} ? T{1} : direction < T{} ? T{-1} : direction;
      w[k] = keep * w[k] - lr * sign;
      m[k] = b2 * m[k] + rest2 * g[k];
    }
  });
}

// With s = g + decay w: m = b1 m + (1 - b1) s, v = b2 v + (1 - b2) s^2,
// w = keep w - step_size m / (sqrt(v_correction v') + eps), where v' is v, or with amsgrad the largest v so far.
template <class T> void plain::adam(const AdamStep<T>& args) {
  using std::isinf, std::sqrt;
  const auto [w, m, v, max_v, g, count, b1, rest1, b2, rest2, step_size, v_correction, eps, keep, decay] = args;
  for (std::int64_t k = 0; k < count; ++k) {
    const T kept = w[k] * keep, slope = g[k] + decay * w[k];
    m[k] = b1 * m[k] + rest1 * slope;
    v[k] = b2 * v[k] + rest2 * slope * slope;
    if (max_v != nullptr) max_v[k] = v[k] > max_v[k] ? v[k] : max_v[k];
    const T under_root = max_v != nullptr ? max_v[k] : v[k], corrected = under_root * v_correction;
    const T root = isinf(corrected) ? sqrt(under_root) * sqrt(v_correction) : sqrt(corrected);
    w[k] = kept - step_size * m[k] / (root + eps);
  }
}
RETRACE_INSTANTIATE_PLAIN(adam, AdamStep);

namespace {

void update_by_adam(OptimizerSlot& slot, const AdamOptions& options, double keep, double decay) {
  const double t = static_cast<double>(slot.updates);
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    kernels::run<T>(&kernels::KernelTable::adam, plain::adam<T>,
                    {.w = w,
                     .m = state<T>(slot, 0),
                     .v = state<T>(slot, 1),
                     .max_v = options.amsgrad ? state<T>(slot, 2) : nullptr,
                     .g = g,
                     .count = count,
                     .b1 = static_cast<T>(options.b1),
                     .one_minus_b1 = static_cast<T>(1 - options.b1),
                     .b2 = static_cast<T>(options.b2),
                     .one_minus_b2 = static_cast<T>(1 - options.b2),
                     .step_size = static_cast<T>(options.lr / (1 - std::pow(options.b1, t))),
                     .v_correction = static_cast<T>(1 / (1 - std::pow(options.b2, t))),
                     .eps = static_cast<T>(options.eps),
                     .keep = static_cast<T>(keep),
                     .weight_decay = static_cast<T>(decay)});
  });
}

}  // namespace

void Adam::update(OptimizerSlot& slot, const AdamOptions& options) {
  update_by_adam(slot, options, 1, options.weight_decay);
}

void AdamW::update_slot(OptimizerSlot& slot, const AdamOptions& options) {
  update_by_adam(slot, options, 1 - options.lr * options.weight_decay, 0);
}

void AdamW::update(OptimizerSlot& slot, const AdamOptions& options) { update_slot(slot, options); }

}  // namespace retrace
