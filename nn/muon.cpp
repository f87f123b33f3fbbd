#include <retrace/nn/adam_update.h>
#include <retrace/nn/muon.h>
#include <retrace/nn/sum_of_squares.h>

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

/// U f(S) V^T for u = U S V^T. Each step maps the singular values by s (3.4445 - 4.775 s^2 + 2.0315 s^4), which grows
/// small ones fast and then keeps them around 1 (the coefficients are those of Jordan et al.).
template <class T> Tensor orthogonal(const Tensor& u) {
  constexpr double tiny = 1e-30;             // so that a zero matrix stays zero
  const bool is_tall = u.dim(0) > u.dim(1);  // x x^T is smaller for a wide one
  Tensor x = (is_tall ? transpose(u) : u) * (1 / (std::sqrt(sum_of_squares(u.values<T>())) + tiny));
  for (int step = 0; step < 5; ++step) {
    const Tensor squares = matmul(x, x, {.transpose_b = true});
    x = x * 3.4445 + matmul(squares * -4.775 + matmul(squares, squares) * 2.0315, x);
  }
  return is_tall ? transpose(x) : x;
}

}  // namespace

void Muon::update(OptimizerSlot& slot, const MuonOptions& options) {
  const Tensor& w = slot.parameter.tensor;
  const double keep = 1 - options.lr * options.weight_decay;
  if (!options.takes(w)) {
    adam_update(slot, {.lr = options.lr, .b1 = options.b1, .b2 = options.b2, .eps = options.eps}, keep, 0);
    return;
  }
  dispatch_real(w.dtype(), "step", [&](auto zero) {
    using T = decltype(zero);
    const Tensor direction = orthogonal<T>(with_momentum<T>(slot, options.momentum));
    const T* o = direction.values<T>().data();
    T* value = w.mutable_values<T>().data();
    const T scale = static_cast<T>(options.lr * 0.2 * std::sqrt(static_cast<double>(std::max(w.dim(0), w.dim(1)))));
    for (std::int64_t k = 0; k < w.numel(); ++k) value[k] = static_cast<T>(keep) * value[k] - scale * o[k];
  });
}

}  // namespace retrace
