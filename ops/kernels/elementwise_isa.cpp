// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_log.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// y = f(x). The last elements run through the same instructions as the others. The function is a parameter of the
/// template: one that comes by its address would be called for every vector.
template <auto f, class T> void map(const T* x, T* y, std::int64_t count) {
  for_each_vector<T>(count, [=](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k))); });
}

/// y = f(x) and, unless it is null, slope = f'(x).
template <auto f, class T> void map_with_slope(const T* x, T* y, T* slope, std::int64_t count) {
  if (slope == nullptr) {
    for_each_vector<T>(count, [=](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k)).value); });
    return;
  }
  for_each_vector<T>(count, [=](std::int64_t k, auto part) {
    const ValueAndSlope<T> result = f(part.load_from(x + k));
    part.store_to(y + k, result.value);
    part.store_to(slope + k, result.slope);
  });
}

/// dx = or += dy slope(saved). Two loops: in one with a choice the compiler fuses products and sums of some places
/// only.
template <auto slope, class T> void map_gradient(const T* saved, const T* dy, T* dx, std::int64_t count, bool add) {
  if (add)
    for_each_vector<T>(count, [=](std::int64_t k, auto part) {
      part.store_to(dx + k, part.load_from(dx + k) + part.load_from(dy + k) * slope(part.load_from(saved + k)));
    });
  else
    for_each_vector<T>(count, [=](std::int64_t k, auto part) {
      part.store_to(dx + k, part.load_from(dy + k) * slope(part.load_from(saved + k)));
    });
}

/// y += Rows rows of x, one after the other; y is loaded and stored once.
template <int Rows, class T> void add_some_rows(const T* x, std::int64_t row_stride, std::int64_t columns, T* y) {
  for_each_vector<T>(columns, [=](std::int64_t k, auto part) {
    Vector<T> sum = part.load_from(y + k);
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) sum += part.load_from(x + row * row_stride + k);
    part.store_to(y + k, sum);
  });
}

template <class T> void add_rows(const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* y) {
  constexpr int group = 8;
  std::int64_t row = 0;
  for (; row + group <= rows; row += group) add_some_rows<group>(x + row * row_stride, row_stride, columns, y);
  for (; row < rows; ++row) add_some_rows<1>(x + row * row_stride, row_stride, columns, y);
}

template <class T> Vector<T> vector_relu(Vector<T> x) {
  return x <= 0 ? Vector<T>{} : x;  // NaN is not <= 0
}

/// The elements whose bits fill one vector: bit b of a lane is that of its element in vector b of them.
template <class T> constexpr Index elements_of_bits = 8 * vector_bytes;

/// Calls body(first, count) for each group of elements_of_bits elements.
template <class T, class Body>
[[gnu::always_inline]] inline void for_each_vector_of_bits(std::int64_t count, Body&& body) {
  for (Index first = 0; first < count; first += elements_of_bits<T>)
    body(first, count - first < elements_of_bits<T> ? count - first : elements_of_bits<T>);
}

template <class T> void relu_with_bits(const T* x, T* y, std::uint64_t* bits, std::int64_t count) {
  for_each_vector_of_bits<T>(count, [=](Index first, Index size) {
    IntegerVector<T> positive{}, bit = IntegerVector<T>{} + 1;
    for_each_vector<T>(size, [&, x = x + first, y = y + first](Index k, auto part) {
      const Vector<T> value = vector_relu<T>(part.load_from(x + k));
      part.store_to(y + k, value);
      positive |= (value > 0) & bit;
      bit <<= 1;
    });
    __builtin_memcpy(bits + first / 64, &positive, sizeof positive);
  });
}

template <class T>
void relu_gradient_by_bits(const std::uint64_t* bits, const T* dy, T* dx, std::int64_t count, bool add) {
  for_each_vector_of_bits<T>(count, [=](Index first, Index size) {
    IntegerVector<T> positive, bit = IntegerVector<T>{} + 1;
    __builtin_memcpy(&positive, bits + first / 64, sizeof positive);
    for_each_vector<T>(size, [&, dy = dy + first, dx = dx + first](Index k, auto part) {
      const Vector<T> slope = (positive & bit) != 0 ? every_lane(T(1)) : Vector<T>{};
      const Vector<T> before = add ? part.load_from(dx + k) : every_lane(T(-0.0));
      part.store_to(dx + k, before + part.load_from(dy + k) * slope);
      bit <<= 1;
    });
  });
}

template <class T> [[gnu::always_inline]] inline Vector<T> saved_slope(Vector<T> slope) { return slope; }
template <class T> [[gnu::always_inline]] inline Vector<T> relu_slope(Vector<T> y) {
  return y > 0 ? every_lane(T(1)) : Vector<T>{};
}
template <class T> [[gnu::always_inline]] inline Vector<T> tanh_slope(Vector<T> y) { return 1 - y * y; }

template <class T> constexpr MapKernels<T> kernels_of_type() {
  MapKernels<T> all = {
      .relu = map<vector_relu<T>, T>,
      .exp = map<vector_exp<T>, T>,
      .tanh = map<vector_tanh<T>, T>,
      .log = map<vector_log<T>, T>,
      .silu = map<vector_silu<T>, T>,
      .sigmoid = map_with_slope<vector_sigmoid_and_slope<T>, T>,
      .softplus = map_with_slope<vector_softplus_and_slope<T>, T>,
      .log_sigmoid = map_with_slope<vector_log_sigmoid_and_slope<T>, T>,
      .gelu = nullptr,
      .gelu_tanh = nullptr,
      .by_slope = map_gradient<saved_slope<T>, T>,
      .relu_gradient = map_gradient<relu_slope<T>, T>,
      .tanh_gradient = map_gradient<tanh_slope<T>, T>,
      .silu_gradient = map_gradient<vector_silu_slope<T>, T>,
      .add_rows = add_rows<T>,
      .relu_with_bits = relu_with_bits<T>,
      .relu_gradient_by_bits = relu_gradient_by_bits<T>,
  };
  if constexpr (std::is_same_v<T, float>) {
    all.gelu = map_with_slope<vector_gelu, float>;
    all.gelu_tanh = map_with_slope<vector_gelu_tanh, float>;
  }
  return all;
}

}  // namespace

constinit const MapKernels<float> maps_of_floats = kernels_of_type<float>();
constinit const MapKernels<double> maps_of_doubles = kernels_of_type<double>();

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
