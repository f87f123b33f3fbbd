// A function and the leaves that it holds, for gradient checks: evaluates it at moved values, with backward and with
// dual numbers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/checks/difference.h>
#include <retrace/core/checks/leaves.h>
#include <retrace/core/tensor/dtype_mismatch.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

class Random;
class Tape;
/// Leaves with the names that reports give them.
using NamedLeaves = std::vector<std::pair<std::string, Tensor>>;
/// One number per element of each leaf: a point, a gradient or a direction.
using LeafNumbers = std::vector<std::vector<double>>;

/// The root mean square of the finite numbers. Does not overflow.
double root_mean_square(std::span<const double> numbers);

/// A copy of x, converted to f64.
Tensor as_f64(const Tensor& x);

/// The results of one backward through f.
struct Pullback {
  LeafNumbers gradients;            // J^T u; zeros for a leaf that no gradient reached
  std::vector<bool> reached;        // whether a gradient reached the leaf
  std::string name;                 // for reports, after the op that made the first output; empty if none did
  std::string use_of_another_leaf;  // see CheckedFunction::use_of_another_leaf
};

/// u.(J v), and the sum of the absolute values of its terms.
struct Tangent {
  double value = 0;
  double terms = 0;
};

/// Replaces the values of the leaves by f64 copies until it is destroyed.
class CheckedFunction {
 public:
  CheckedFunction(const std::function<Tensors()>& f, const NamedLeaves& leaves);

  std::size_t leaves() const { return replaced_.size(); }
  const Shape& shape(std::size_t leaf) const { return values_[leaf].shape(); }
  /// The f64 copy of a leaf, which the caller may change in place.
  std::span<double> values(std::size_t leaf) const;
  LeafNumbers zeros() const;
  /// Copies the values of all leaves; move_to() puts such values back.
  LeafNumbers point() const;
  void move_to(const LeafNumbers& point) const;

  /// All real numbers that f returns, concatenated.
  std::vector<double> evaluate() const;
  /// u.(f(x + h) - f(x - h)) / 2h for x, an element of values(), which keeps its value.
  Slope slope(double& x, double h, std::span<const double> u) const;
  Sides sides(double& x, double h, std::span<const double> u) const;
  /// One backward with the cotangent u, which has one number per number of evaluate(), in f64 or on dual numbers
  /// without tangents.
  Pullback pull_back(std::span<const double> u, Dtype dtype = f64);
  /// The sum of the absolute values of dy y, of the output y of a record for which it is largest: what may have
  /// cancelled on the way to u.f.
  double largest_terms(std::span<const double> u);
  /// Runs f on dual numbers with the tangents v. Throws DtypeError if f does not accept them.
  Tangent push_forward(const LeafNumbers& v, std::span<const double> u);
  /// Runs f with the leaves' original values and dtypes and describes its first use of any other leaf that wants a
  /// gradient: "linear with a weight [2]". Empty if there is none.
  std::string use_of_another_leaf(Dtype default_type);
  /// Describes the use of such a leaf by an op that refused its operands. Empty if none of the operands is one.
  std::string use_of_another_leaf(const DtypeMismatch& refusal) const;

 private:
  class OtherValues;
  /// The forward on this tape and the backward; the leaves then have the gradients.
  Pullback walk_back(Tape& tape, std::span<const double> u);
  std::string use_of_another_leaf(const Tape& tape) const;
  bool is_another_leaf(const TensorInfo& tensor) const;

  const std::function<Tensors()>& f_;
  std::vector<ReplacedLeaf> replaced_;
  Tensors values_;
};

}  // namespace retrace
