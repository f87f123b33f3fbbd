// softplus, and log_sigmoid, which is its mirror image: log_sigmoid(x) = -softplus(-x).
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Softplus {
  static constexpr OpInfo info{"softplus", "y = ln(1 + e^x)", "dx = dy / (1 + e^-x)", "x"};
  static constexpr Saves saves = Saves::slope;

  template <class T> static T value(T x) { return log_one_plus_exp(x); }
  template <class T> static T slope(T x, T) { return logistic(x); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::softplus;
};

struct LogSigmoid {
  static constexpr OpInfo info{"log_sigmoid", "y = -ln(1 + e^-x)", "dx = dy / (1 + e^x)", "x"};
  static constexpr Saves saves = Saves::slope;

  template <class T> static T value(T x) { return -log_one_plus_exp(-x); }
  template <class T> static T slope(T x, T) { return logistic(-x); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::log_sigmoid;
};

}  // namespace

Tensor softplus(const Tensor& x) { return unary<Softplus>(x); }
Tensor log_sigmoid(const Tensor& x) { return unary<LogSigmoid>(x); }

}  // namespace retrace
