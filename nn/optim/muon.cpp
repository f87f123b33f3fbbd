#include <retrace/nn/optim/muon.h>
#include <retrace/nn/optim/norm_of_numbers.h>
#include <retrace/nn/optim/optimizer_options.h>
#include <retrace/nn/optim/optimizers.h>

#include <cmath>

#include <retrace/ops/ops.h>

namespace retrace {
namespace {

/// m = momentum m + g; returns u = g + momentum m.
template <class T> Tensor with_momentum(const OptimizerSlot& slot, double momentum) {
  const Tensor& w = slot.parameter.tensor;
  const T* g = w.grad_values<T>().data();
  T* m = slot.state[0].tensor.mutable_values<T>().data();
  Tensor u = empty(w.shape(), w.dtype());
  T* ahead = u.mutable_values<T>().data();
  const T mu = static_cast<T>(momentum);
  for (std::int64_t k = 0; k < w.numel(); ++k) {
    m[k] = mu * m[k] + g[k];
    ahead[k] = g[k] + mu * m[k];
  }
  return u;
}

/// u / norm.
Tensor divided(const Tensor& u, const NormOfNumbers& norm) {
  const double factor = 1 / norm.value();
  if (!std::isfinite(norm.mantissa) || (factor > 1e-30 && factor < 1e30)) return u * factor;  // fits into f32, too
  const int exponent = norm.exponent + std::ilogb(norm.mantissa), half = exponent / 2;
  return u * std::ldexp(1, -half) * std::ldexp(1, half - exponent) *
         (1 / std::ldexp(norm.mantissa, norm.exponent - exponent));
}

/// U f(S) V^T for u = U S V^T. Each step maps the singular values by s (3.4445 - 4.775 s^2 + 2.0315 s^4), which grows
/// small ones fast and then keeps them around 1 (the coefficients are those of Jordan et al.).
template <class T> Tensor orthogonal(const Tensor& u) {
  const bool is_tall = u.dim(0) > u.dim(1);  // x x^T is smaller for a wide one
  const NormOfNumbers size = norm_of_values(u.values<T>());
  if (size.mantissa == 0) return u;
  Tensor x = divided(is_tall ? transpose(u) : u, size);
  for (int step = 0; step < 5; ++step) {
    const Tensor squares = matmul(x, x, {.transpose_b = true});
    x = x * 3.4445 + matmul(squares * -4.775 + matmul(squares, squares) * 2.0315, x);
  }
  return is_tall ? transpose(x) : x;
}

}  // namespace

void MuonOptions::check() const { check_optimizer_options("MuonOptions", *this); }

void Muon::update(OptimizerSlot& slot, const MuonOptions& options) {
  const Tensor& w = slot.parameter.tensor;
  if (!options.takes(w)) {
    return AdamW::update_slot(slot, {.lr = options.lr,
                                     .b1 = options.b1,
                                     .b2 = options.b2,
                                     .eps = options.eps,
                                     .weight_decay = options.weight_decay});
  }
  const double keep = 1 - options.lr * options.weight_decay;
  dispatch_real(w.dtype(), "step", [&](auto zero) {
    using T = decltype(zero);
    const Tensor direction = orthogonal<T>(with_momentum<T>(slot, options.momentum));
    const T* o = direction.values<T>().data();
    const T scale = static_cast<T>(options.lr * 0.2 * std::sqrt(static_cast<double>(std::max(w.dim(0), w.dim(1)))));
    w.update<T>([&](std::span<T> values) {
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(keep) * values[k] - scale * o[k];
    });
  });
}

}  // namespace retrace
