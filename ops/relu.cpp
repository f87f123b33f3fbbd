// relu and leaky_relu. relu saves a bit for each element: where the next op saves y, that costs little more, and where
// it does not, a thirty-second of y.
#include <retrace/ops/loops/activation.h>

namespace retrace {
namespace {

struct Relu {
  static constexpr OpInfo info{"relu", "y = max(x, 0)", "dx = dy where x > 0, else 0", "x"};
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x) {
    return x <= 0 ? T(0) : x;  // NaN is not <= 0
  }
  template <class T> static T slope(T, T y) { return y > 0 ? T(1) : T(0); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::relu;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::relu_gradient;
};

/// Bits belong to groups of 512 elements, as many as the largest vector has bits. Threads take whole groups.
constexpr std::int64_t group_size = 512, words_of_group = group_size / 64;
constexpr std::int64_t groups_of(std::int64_t count) { return (count + group_size - 1) / group_size; }

/// body(first, count, first_word) for parts of `count` elements, over threads.
template <class Body> void for_each_part(std::int64_t count, Body&& body) {
  parallel_for(groups_of(count), unary_grain / group_size, [=](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * group_size;
    body(first, std::min(count, end * group_size) - first, begin * words_of_group);
  });
}

template <class T> void values_and_bits_plain(const T* x, T* y, std::uint64_t* bits, std::int64_t count) {
  std::fill(bits, bits + groups_of(count) * words_of_group, 0);
  for (std::int64_t k = 0; k < count; ++k) {
    y[k] = Relu::value(x[k]);
    bits[k / 64] |= std::uint64_t{y[k] > 0} << k % 64;
  }
}

template <class T>
void gradient_plain(const std::uint64_t* bits, const T* dy, const GradientSlot<T>& dx, std::int64_t count) {
  dx.put(count,
         [=](std::int64_t k) { return dy[k] * static_cast<T>(static_cast<double>(bits[k / 64] >> k % 64 & 1)); });
}

void relu_backward(Record& r) {
  dispatch_real(r.in(0).dtype, Relu::info.name, [&]<class T>(T) {
    const std::uint64_t* bits = reinterpret_cast<const std::uint64_t*>(r.saved(0).values<std::int64_t>());
    const auto [dy, dx] = r.flow<T>(0);
    for_each_part(r.in(0).numel(), [=, dy = dy, dx = dx](std::int64_t first, std::int64_t count, std::int64_t word) {
      if constexpr (std::is_floating_point_v<T>)
        kernels::map_kernels<T>().relu_gradient_by_bits(bits + word, dy + first, dx.values + first, count, dx.add);
      else
        gradient_plain(bits + word, dy + first, dx.from(first), count);
    });
  });
}

Tensor relu_with_bits(const Tensor& x) {
  const Tensor bits = empty({groups_of(x.numel()) * words_of_group}, i64);
  Tensor y = dispatch_real(x, "x", Relu::info.name, [&]<class T>(T) {
    Tensor result = empty_like(x);
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(result);
    std::uint64_t* words = reinterpret_cast<std::uint64_t*>(OpAccess::values<std::int64_t>(bits));
    for_each_part(x.numel(), [=](std::int64_t first, std::int64_t count, std::int64_t word) {
      if constexpr (std::is_floating_point_v<T>)
        kernels::map_kernels<T>().relu_with_bits(from + first, to + first, words + word, count);
      else
        values_and_bits_plain(from + first, to + first, words + word, count);
    });
    return result;
  });
  record(Relu::info, relu_backward, {&x}, {&y}, {&bits});
  return y;
}

struct LeakyRelu {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<double>());
    return {text("y = x where x > 0, else ", c, " x"), text("dx = dy where x > 0, else ", c, " dy")};
  }
  static AttributeList attribute_list(const Record& r) { return {{"slope", r.attributes<double>()}}; }
  static constexpr OpInfo info{
      "leaky_relu", "y = x where x > 0, else c x", "dx = dy where x > 0, else c dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, double slope) { return x > 0 ? x : static_cast<T>(slope) * x; }
  template <class T> static T slope(T x, T, double slope) { return x > 0 ? T(1) : static_cast<T>(slope); }
};

}  // namespace

Tensor relu(const Tensor& x) {
  check_defined(Relu::info.name, x, "x");
  return Tape::current() != nullptr && x.wants_gradient() ? relu_with_bits(x) : unary<Relu>(x);
}

Tensor leaky_relu(const Tensor& x, double slope) { return unary<LeakyRelu>(x, {slope}); }

constinit const ActivationParts relu_parts = parts_of<Relu>("max(z, 0)", "dy where y > 0, else 0", relu);

}  // namespace retrace
