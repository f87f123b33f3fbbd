// y = x^2, and its derivative.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {
namespace {

Run run_square(const Input& input) {
  return [x = input.tensor("value")] { return square(x); };
}
Run run_double(const Input& input) {
  return [x = input.tensor("value")] { return gradient_of(square, x); };
}
constexpr Function functions[] = {{"square", run_square}, {"double", run_double}};

}  // namespace

const Eval hello{"hello", functions};

}  // namespace retrace::gradbench
