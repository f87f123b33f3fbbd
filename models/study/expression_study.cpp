#include <retrace/models/study/expression_study.h>

namespace retrace {

Computation computation_of(const Expression& expression, const std::vector<NamedTensor>& inputs, std::uint64_t seed) {
  Computation computation;
  for (const NamedTensor& input : inputs) {
    computation.names.add(input.tensor, input.name);
    if (input.tensor.dtype() != i64) computation.leaves.emplace_back(input.name, input.tensor.watch());
  }
  if (computation.leaves.empty())
    throw ValueError("study: the expression has no real input, so no gradient; give it one");
  computation.title = expression.text();
  computation.result = [expression, inputs] { return expression(inputs); };
  computation.cotangents = Random(seed).stream("cotangent");
  computation.dtype = computation.leaves.front().second.dtype();
  return computation;
}

}  // namespace retrace
