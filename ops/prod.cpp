#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

template <class T> using Products = std::vector<T, PoolAllocator<T>>;

// Whether y / x_k is the product of the others: y neither underflowed nor overflowed.
template <class T> bool divides(T y) { return std::isnormal(y); }
bool divides(Dual y) { return std::isnormal(y.value) && std::isfinite(y.tangent); }

// A reduction with a backward of its own: the slope at an element is the product of all the others.
struct Prod {
  static Formulas formulas(const Record& r) {
    return {"y = prod x" + along_reduced(r), "dx[k] = dy prod_(t != k) x[t]" + along_reduced(r)};
  }
  static constexpr OpInfo info{"prod", "y = prod x", "dx[k] = dy prod_(t != k) x[t]",
                               "x",    formulas,     reduction_attributes};
  static constexpr bool integers = true;

  template <class T> static T value(const Terms<T>& x) {
    Modular<T> product(1);
    x.for_each([&](std::int64_t k) { product *= static_cast<Modular<T>>(x.x[k]); });
    return static_cast<T>(product);
  }
  // For each element the product of all others: of those before it times that of those after it.
  template <class T> static Products<T> others(const Terms<T>& x) {
    Products<T> result;
    x.for_each([&](std::int64_t k) { result.push_back(x.x[k]); });
    T after(1), before(1);
    for (std::size_t n = result.size(); n-- > 0;) result[n] = std::exchange(after, result[n] * after);
    std::size_t n = 0;
    x.for_each([&](std::int64_t k) {
      result[n++] *= before;
      before *= x.x[k];
    });
    return result;
  }
};

void prod_backward(Record& r) {
  const ReductionLoops loops(r.in(0).shape, r.attributes<ReductionAttributes>().flags);
  dispatch_real(r.in(0).dtype, Prod::info.name, [&]<class T>(T) {
    const T* x = r.saved(0).values<T>();
    const T* y = r.saved(1).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for (std::int64_t output = 0; output < loops.outputs; ++output) {
      const Terms<T> terms{x, &loops, loops.base(output)};
      const bool by_division = divides(y[output]);
      const Products<T> others = by_division ? Products<T>() : Prod::others(terms);
      std::size_t n = 0;
      terms.for_each([&](std::int64_t k) {
        const T contribution = dy[output] * (by_division ? y[output] / x[k] : others[n++]);
        dx.put_at(k, contribution);
      });
    }
  });
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axes, ReduceOptions options) {
  check_defined(Prod::info.name, x, "x");
  const auto flags = axes.flags(x, Prod::info.name);
  const ReductionLoops loops(x.shape(), flags);
  const Tensor y = values_of_terms<Prod>(x, loops, reduced_shape(x.shape(), flags, options),
                                         [](const auto& terms) { return Prod::value(terms); });
  record(Prod::info, prod_backward, {&x}, {&y}, {&x, &y}, ReductionAttributes{flags});
  return y;
}

}  // namespace retrace
