// Leaves that a function uses, while derivatives of it are computed: other values for them, and their gradients.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

class Tape;
namespace detail {
struct Storage;
}

/// Replaces the values of a leaf until it is destroyed, and keeps its gradient for that time. Exchanges the storage of
/// the leaf's node, because the function holds that node.
class ReplacedLeaf {
 public:
  explicit ReplacedLeaf(const Tensor& leaf);
  ReplacedLeaf(ReplacedLeaf&& other) noexcept;
  ReplacedLeaf& operator=(ReplacedLeaf&&) = delete;
  ~ReplacedLeaf();
  /// Gives the leaf these values and their dtype, and drops its gradient.
  void put(const Tensor& values);
  void put_original() { put(original_); }
  const Tensor& leaf() const { return leaf_; }
  const Tensor& original() const { return original_; }

 private:
  Tensor leaf_;
  Tensor original_;
  detail::Storage* gradient_;
  bool gradient_used_, gradient_of_nan_;
};

/// ReplacedLeaf of each.
std::vector<ReplacedLeaf> replaced(const Tensors& leaves);

/// Throws ValueError unless all are different leaves that want a gradient.
void check_leaves(const char* function, const Tensors& leaves);
/// Leaves of their own with the values of x, which they share.
Tensors leaves_like(const char* function, const Tensors& x);
/// The leaves on the tape that want a gradient, without `known`; each once.
Tensors other_leaves(const Tape& tape, const Tensors& known);

/// The gradient of each leaf; zeros where none has arrived.
Tensors gradients_of(const Tensors& leaves);
/// Throws ShapeError, naming the function, unless f gave one element.
void check_scalar(const char* function, const Tensor& y);

/// x + e v, as dual numbers. An undefined v is zero.
Tensor with_tangent(const Tensor& x, const Tensor& v);
/// The tangents of y in f64; zeros if y is not dual.
Tensor tangent_of(const Tensor& y);

}  // namespace retrace
