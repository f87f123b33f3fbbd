#include <retrace/core/checks/second_order.h>

#include <utility>

#include <retrace/core/checks/derivatives.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tensor/random.h>

namespace retrace {
namespace {

constexpr OpInfo info{"weighted_sum", "y = sum <u, x>", "dx = dy u", "x..."};

// saved: the u of each input
void backward(Record& r) {
  dispatch_real(r.in(0).dtype, info.name, [&]<class T>(T) {
    const T dy = *r.grad_out<T>();
    for (int i = 0; i < r.inputs(); ++i) {
      const double* u = r.saved(i).values<double>();
      if (r.wants(i)) r.grad_in<T>(i).put(r.in(i).shape.numel(), [=](std::int64_t k) { return dy * T(u[k]); });
    }
  });
}

// Outputs that are constant where the leaves are dual numbers are left out.
Tensor weighted_sum(const Tensors& outputs, std::uint64_t seed) {
  Random random = Random(seed).stream("second order");
  Tensors x, u;
  for (const Tensor& output : outputs) {
    Tensor weights = random.normal(output.shape(), f64);
    if (!output.wants_gradient()) continue;
    x.push_back(output), u.push_back(std::move(weights));
  }
  if (x.empty()) return zeros({}, f64);
  const Tensor y = zeros({}, x.front().dtype());
  dispatch_real(y.dtype(), info.name, [&]<class T>(T) {
    T& sum = y.mutable_values<T>()[0];
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double* weight = u[k].values<double>().data();
      for (const T& element : x[k].values<T>()) sum += element * T(*weight++);
    }
  });
  record(info, backward, x, {&y}, u);
  return y;
}

}  // namespace

std::function<Tensors()> gradients_of_weighted(const std::function<Tensors()>& f, const Tensors& leaves,
                                               std::uint64_t seed) {
  return [&f, leaves, seed] { return gradient([&f, seed] { return weighted_sum(f(), seed); }, leaves); };
}

}  // namespace retrace
