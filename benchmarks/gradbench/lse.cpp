// y = ln sum e^x of a vector.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {
namespace {

Tensor log_sum(const Tensor& x) { return logsumexp(x); }

Run primal(const Input& input) {
  return [x = input.tensor("x")] { return log_sum(x); };
}
Run gradient(const Input& input) {
  return [x = input.tensor("x")] { return gradient_of(log_sum, x); };
}
constexpr Function functions[] = {{"primal", primal}, {"gradient", gradient}};

}  // namespace

const Eval lse{"lse", functions};

}  // namespace retrace::gradbench
