// A function and the leaves that it holds, as a gradient check sees them: what it gives at values that move, what
// backward gives, and what dual numbers give.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/tensor.h>

namespace retrace {

class Random;
class Tape;
using NamedLeaves = std::vector<std::pair<std::string, Tensor>>;
/// A number for each element of each leaf: a point, a gradient or a direction.
using LeafNumbers = std::vector<std::vector<double>>;

/// Gives a leaf other values for a time: its node is what the function holds, so the node's storage is exchanged.
class ReplacedLeaf {
 public:
  explicit ReplacedLeaf(const Tensor& leaf);
  ReplacedLeaf(ReplacedLeaf&& other) noexcept;
  ReplacedLeaf& operator=(ReplacedLeaf&&) = delete;
  ~ReplacedLeaf();
  /// From here on the leaf has these values and their dtype; its gradient is forgotten.
  void put(const Tensor& values);
  void put_original() { put(original_); }
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
  Tensor original_;
  Storage* gradient_;
  bool gradient_used_;
};

/// The values in f64, in new storage.
Tensor as_f64(const Tensor& x);

/// What one backward tells of f.
struct Pullback {
  LeafNumbers gradients;            // J^T u; zeros for a leaf that nothing flowed back to
  std::vector<bool> reached;        // whether anything flowed back to the leaf
  std::string name;                 // of the op that gave the first output; empty if none did
  std::string use_of_another_leaf;  // see there
};

/// u.(J v), and the sum of its absolute terms.
struct Tangent {
  double value = 0;
  double terms = 0;
};

/// While it lives, the leaves have f64 copies of their values.
class CheckedFunction {
 public:
  CheckedFunction(const std::function<Tensors()>& f, const NamedLeaves& leaves);

  std::size_t leaves() const { return replaced_.size(); }
  const Shape& shape(std::size_t leaf) const { return values_[leaf].shape(); }
  /// To be moved in place.
  std::span<double> values(std::size_t leaf) const { return values_[leaf].mutable_values<double>(); }
  LeafNumbers zeros() const;
  /// The values of all leaves, and back to such values.
  LeafNumbers point() const;
  void move_to(const LeafNumbers& point) const;

  /// All real numbers that f gives, in one row.
  std::vector<double> evaluate() const;
  /// One backward with the cotangent u, a number for each of those.
  Pullback pull_back(std::span<const double> u) const;
  /// One run on dual numbers. Throws DtypeError where f does not take them.
  Tangent push_forward(const LeafNumbers& v, std::span<const double> u);
  /// "linear with a weight [2]": the first use in f of a leaf that wants a gradient and is none of these, when all have
  /// the values and dtypes that they were given in. Empty if there is none.
  std::string use_of_another_leaf(Dtype default_type);

 private:
  class OtherValues;
  std::string use_of_another_leaf(const Tape& tape) const;

  const std::function<Tensors()>& f_;
  std::vector<ReplacedLeaf> replaced_;
  Tensors values_;
};

}  // namespace retrace
