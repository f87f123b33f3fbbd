#include <retrace/ops/loops/recurrent.h>

#include <retrace/ops/op.h>

namespace retrace {

void check_recurrent(const char* function, const Tensor& projected, std::int64_t gates_of_one, const Tensor& weight,
                     std::initializer_list<NamedOperand> states, const Tensor& lengths) {
  check_defined(function, {{&projected, "projected"}, {&weight, "weight"}});
  check_defined(function, states);
  if (weight.rank() != 2 || weight.dim(0) != gates_of_one * weight.dim(1))
    throw ShapeError(text(function, ": ", describe_operand("the recurrent weight", weight), " must be [", gates_of_one,
                          " hidden, hidden]; transpose or reshape it"));
  const std::int64_t hidden = weight.dim(1);
  if (projected.rank() != 3 || projected.dim(2) != gates_of_one * hidden)
    throw ShapeError(text(function, ": ", describe_operand("projected", projected), " must be [batch, time, ",
                          gates_of_one * hidden, "] for a recurrent weight ", weight.shape(),
                          "; project the input first"));
  const Shape expected{projected.dim(0), hidden};
  for (const auto& [state, name] : states) {
    if (state->shape() != expected)
      throw ShapeError(text(function, ": ", describe_operand("the state", *state), " must be ", expected,
                            ", batch first; transpose or reshape it"));
  }
  if (!lengths.defined()) return;
  if (lengths.dtype() != i64 || lengths.shape() != Shape{projected.dim(0)})
    throw ShapeError(text(function, ": ", describe_operand("lengths", lengths), " of dtype ", lengths.dtype(),
                          " must be i64 of shape [", projected.dim(0), "], one per sample"));
  for (const std::int64_t length : lengths.values<std::int64_t>())
    if (length < 0 || length > projected.dim(1))
      throw IndexError(text(function, ": a length of ", length, " is outside 0 to ", projected.dim(1), ", the time of ",
                            describe_operand("projected", projected)));
}

Tensor reaches(const Tensor& lengths, std::int64_t t) {
  const Tensor result = zeros({lengths.dim(0), 1}, i64);
  std::int64_t* flag = OpAccess::values<std::int64_t>(result);
  for (const std::int64_t length : lengths.values<std::int64_t>()) *flag++ = t < length ? 1 : 0;
  return result;
}

}  // namespace retrace
