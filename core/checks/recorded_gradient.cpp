// gradient(f, x): a gradient that is itself on the tape, and whose backward is one backward on dual numbers.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <retrace/core/checks/derivatives.h>
#include <retrace/core/checks/leaves.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>

namespace retrace {
namespace {

// It has no formula that the study page could compute again: the page treats it like an op of the user's own.
AttributeList gradient_attributes(const Record&) { return {{"custom", true}}; }
constexpr OpInfo gradient_info{"gradient", "y = df / dx", "dx = d sum dy y / dx", "x...", nullptr, gradient_attributes};

// f, the leaves at which it is differentiated, and the other leaves that it uses.
struct Differentiated {
  LeafFunction f;
  Tensors leaves, others;
};
struct Attributes {
  std::shared_ptr<const Differentiated> function;
};

Tensor call(const LeafFunction& f) {
  try {
    return f();
  } catch (const TapeError& error) {
    throw TapeError(text("gradient: f runs on a tape of its own: ", error.what(),
                         "; or make that tensor one of those that f is differentiated by"));
  }
}

// The gradients at the leaves, and the other leaves that f uses.
struct Gradients {
  Tensors gradients, others;
  Dtype dtype_of_y;
};

Gradients differentiate(const LeafFunction& f, const Tensors& leaves) {
  Tape tape;
  const Tensor y = call(f);
  check_scalar("gradient", y);
  Tensors others = other_leaves(tape, leaves);
  const std::vector<ReplacedLeaf> kept = replaced(others);
  if (y.wants_gradient()) tape.backward(y);
  return {gradients_of(leaves), std::move(others), y.dtype()};
}

// Where f uses dual numbers beside the leaves, the gradients have tangents, too.
Gradients differentiate_beside_duals(const LeafFunction& f, const Tensors& leaves) {
  std::vector<ReplacedLeaf> kept = replaced(leaves);
  Gradients result = differentiate(f, leaves);
  const auto is_real = [](const Tensor& leaf) { return leaf.dtype() != dual; };
  if (result.dtype_of_y != dual || std::none_of(leaves.begin(), leaves.end(), is_real)) return result;
  for (ReplacedLeaf& leaf : kept) leaf.put(is_real(leaf.leaf()) ? with_tangent(leaf.original(), {}) : leaf.original());
  return differentiate(f, leaves);
}

// The derivatives of <u, gradient> with respect to the leaves, then the others: the tangents of all gradients of f
// where the leaves move along u.
Tensors derivatives_along(const Differentiated& of, const Tensors& u) {
  std::vector<ReplacedLeaf> moving = replaced(of.leaves), still = replaced(of.others);
  for (std::size_t k = 0; k < moving.size(); ++k) moving[k].put(with_tangent(moving[k].original(), u[k]));
  for (ReplacedLeaf& leaf : still) leaf.put(with_tangent(leaf.original(), {}));
  Tape tape;
  const Tensor y = of.f();
  check_scalar("gradient", y);
  if (y.wants_gradient()) tape.backward(y);
  Tensors result;
  for (const Tensors* leaves : {&of.leaves, &of.others})
    for (const Tensor& gradient : gradients_of(*leaves)) result.push_back(tangent_of(gradient));
  return result;
}

void gradient_backward(Record& r) {
  const Differentiated& of = *r.attributes<Attributes>().function;
  for (int i = 0; i < r.inputs(); ++i)
    if (r.in(i).dtype == dual)
      throw DtypeError(
          "gradient: the third derivative of f would be needed here, and its backward gives the second; a gradient can "
          "be differentiated once");
  Tensors u;
  for (int j = 0; j < r.outputs(); ++j) u.push_back(r.has_grad_out(j) ? r.output(j).grad() : Tensor());
  const Tensors derivatives = derivatives_along(of, u);
  for (int i = 0; i < r.inputs(); ++i)
    if (r.wants(i)) r.add(i, derivatives[static_cast<std::size_t>(i)].to(r.in(i).dtype));
}

// x: the tensors of the tape whose values the leaves have.
Tensors recorded_gradient(LeafFunction f, Tensors leaves, const Tensors& x) {
  auto [result, others, dtype_of_y] = differentiate_beside_duals(f, leaves);
  if (Tape::current() == nullptr) return result;
  Tensors inputs = x;
  inputs.insert(inputs.end(), others.begin(), others.end());
  record(gradient_info, gradient_backward, inputs, result, inputs,
         Attributes{std::make_shared<const Differentiated>(
             Differentiated{std::move(f), std::move(leaves), std::move(others)})});
  return result;
}

}  // namespace

Tensors gradient(const LeafFunction& f, const Tensors& leaves) {
  check_leaves("gradient", leaves);
  return recorded_gradient(f, leaves, leaves);
}

Tensors gradient(const TensorsFunction& f, const Tensors& x) {
  Tensors leaves = leaves_like("gradient", x);
  return recorded_gradient([f, leaves] { return f(leaves); }, leaves, x);
}

Tensor gradient(const TensorFunction& f, const Tensor& x) {
  return gradient(TensorsFunction([f](const Tensors& in) { return f(in[0]); }), Tensors{x})[0];
}

}  // namespace retrace
