#include <retrace/core/checks/leaves.h>

#include <algorithm>
#include <utility>

#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/op_access.h>

namespace retrace {

ReplacedLeaf::ReplacedLeaf(const Tensor& leaf)
    : leaf_(leaf),
      original_(leaf.detach()),
      gradient_(std::exchange(OpAccess::node(leaf).gradient, nullptr)),
      gradient_used_(std::exchange(OpAccess::node(leaf).gradient_used, false)),
      gradient_of_nan_(OpAccess::node(leaf).gradient_of_nan) {
  OpAccess::node(leaf).gradient_of_nan = false;
}

ReplacedLeaf::ReplacedLeaf(ReplacedLeaf&& other) noexcept
    : leaf_(std::move(other.leaf_)),
      original_(std::move(other.original_)),
      gradient_(std::exchange(other.gradient_, nullptr)),
      gradient_used_(other.gradient_used_),
      gradient_of_nan_(other.gradient_of_nan_) {}

ReplacedLeaf::~ReplacedLeaf() {
  if (!leaf_.defined()) return;
  put(original_);
  OpAccess::node(leaf_).gradient = gradient_;
  OpAccess::node(leaf_).gradient_used = gradient_used_;
  OpAccess::node(leaf_).gradient_of_nan = gradient_of_nan_;
}

void ReplacedLeaf::put(const Tensor& values) {
  Node& node = OpAccess::node(leaf_);
  const Node& from = OpAccess::node(values);
  release_gradient(&node);
  retain(from.storage);
  release(node.storage);
  node.storage = from.storage;
  node.elements = from.elements;
  node.dtype = from.dtype;
}

std::vector<ReplacedLeaf> replaced(const Tensors& leaves) {
  std::vector<ReplacedLeaf> result;
  result.reserve(leaves.size());
  for (const Tensor& leaf : leaves) result.emplace_back(leaf);
  return result;
}

void check_leaves(const char* function, const Tensors& leaves) {
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    if (!leaves[k].defined()) throw_undefined(function, text("leaf ", k));
    const Node& node = OpAccess::node(leaves[k]);
    if (!node.wants_gradient || node.tape != 0)
      throw ValueError(text(function, ": leaf ", k, " ", leaves[k],
                            " is no leaf that wants a gradient; take parameters, or make f a function of tensors"));
    for (std::size_t earlier = 0; earlier < k; ++earlier)
      if (&OpAccess::node(leaves[earlier]) == &node)
        throw ValueError(text(function, ": leaves ", earlier, " and ", k, " are one tensor; name it once"));
  }
}

Tensors leaves_like(const char* function, const Tensors& x) {
  Tensors result;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::string role = x.size() == 1 ? "x" : text("x", k);
    if (!x[k].defined()) throw_undefined(function, role);
    if (x[k].dtype() == i64)
      throw DtypeError(text(function, ": ", role, x[k].shape(), " is i64, which has no derivative; let f capture it"));
    result.push_back(x[k].detach());
    result.back().watch();
  }
  return result;
}

Tensors other_leaves(const Tape& tape, const Tensors& known) {
  Tensors result;
  const auto holds = [](const Tensors& list, const Node& node) {
    return std::any_of(list.begin(), list.end(), [&](const Tensor& x) { return &OpAccess::node(x) == &node; });
  };
  for (const Record* record : tape.records())
    for (int i = 0; i < record->inputs(); ++i)
      if (const Node& node = OpAccess::node(record->in(i));
          node.wants_gradient && node.tape == 0 && !holds(known, node) && !holds(result, node))
        result.push_back(record->input(i));
  return result;
}

Tensors gradients_of(const Tensors& leaves) {
  Tensors result;
  for (const Tensor& leaf : leaves) result.push_back(leaf.has_grad() ? leaf.grad().detach() : zeros_like(leaf));
  return result;
}

void check_scalar(const char* function, const Tensor& y) {
  if (y.numel() != 1)
    throw ShapeError(text(function, ": f gave ", y.shape(), ", and a scalar has one element; reduce it by sum()"));
}

Tensor with_tangent(const Tensor& x, const Tensor& v) {
  Tensor result = empty(x.shape(), dual);
  std::int64_t k = 0;
  for (Dual& element : result.mutable_values<Dual>()) {
    element = {number_at(x, k), v.defined() ? number_at(v, k) : 0};
    ++k;
  }
  return result;
}

Tensor tangent_of(const Tensor& y) {
  Tensor result = zeros(y.shape(), f64);
  if (y.dtype() != dual) return result;  // a constant
  std::size_t k = 0;
  for (double& element : result.mutable_values<double>()) element = y.values<Dual>()[k++].tangent;
  return result;
}

}  // namespace retrace
