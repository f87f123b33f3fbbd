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
    T *s = state<T>(slot, 0), *a = state<T>(slot, 1), *v = state<T>(slot, 2);
    for (std::int64_t k = 0; k < count; ++k) {
      s[k] = alpha * s[k] + rest * g[k] * g[k];
      if (options.centered) a[k] = alpha * a[k] + rest * g[k];
      const T difference = s[k] - a[k] * a[k];
      const T variance = difference < T{} ? T{} : difference;  // rounding can make it negative; NaN stays NaN
      v[k] = mu * v[k] + g[k] / (sqrt(variance) + eps);
      w[k] -= lr * v[k];
    }
  });
}

void Adagrad::update(OptimizerSlot& slot, const AdagradOptions& options) {
  with_values(slot, [&]<class T>(T* w, const T* g, std::int64_t count) {
    using std::sqrt;
    T* s = state<T>(slot, 0);
    for (std::int64_t k = 0; k < count; ++k) {
      s[k] += g[k] * g[k];
      w[k] -= static_cast<T>(options.lr) * g[k] / (sqrt(s[k]) + static_cast<T>(options.eps));
    }
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
