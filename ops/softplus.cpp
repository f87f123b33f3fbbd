// softplus, and log_sigmoid, which is its mirror image: log_sigmoid(x) = -softplus(-x).
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/logistic.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/unary.h>

namespace retrace {
namespace {

struct Softplus {
  static constexpr OpInfo info{"softplus", "y = ln(1 + e^x)", "dx = dy / (1 + e^-x)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::slope;

  template <class T>
  static T value(T x, Attributes) {
    return log_one_plus_exp(x);
  }
  template <class T>
  static T slope(T x, T, Attributes) {
    return logistic(x);
  }
  template <class T>
  static void values(const T* x, T* y, std::int64_t count) {
    kernels::map_kernels<T>().softplus(x, y, nullptr, count);
  }
  template <class T>
  static void values_and_slopes(const T* x, T* y, T* slope, std::int64_t count) {
    kernels::map_kernels<T>().softplus(x, y, slope, count);
  }
};

struct LogSigmoid {
  static constexpr OpInfo info{"log_sigmoid", "y = -ln(1 + e^-x)", "dx = dy / (1 + e^x)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::slope;

  template <class T>
  static T value(T x, Attributes) {
    return -log_one_plus_exp(-x);
  }
  template <class T>
  static T slope(T x, T, Attributes) {
    return logistic(-x);
  }
  template <class T>
  static void values(const T* x, T* y, std::int64_t count) {
    kernels::map_kernels<T>().log_sigmoid(x, y, nullptr, count);
  }
  template <class T>
  static void values_and_slopes(const T* x, T* y, T* slope, std::int64_t count) {
    kernels::map_kernels<T>().log_sigmoid(x, y, slope, count);
  }
};

}  // namespace

Tensor softplus(const Tensor& x) { return unary<Softplus>(x); }
Tensor log_sigmoid(const Tensor& x) { return unary<LogSigmoid>(x); }

}  // namespace retrace
