#include <retrace/core/checks/checked_function.h>

#include <algorithm>
#include <cmath>

#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/op_access.h>

namespace retrace {

double root_mean_square(std::span<const double> numbers) {
  double largest = 0, squares = 0, count = 0;
  for (const double x : numbers)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x)), ++count;
  if (largest == 0) return 0;
  for (const double x : numbers)
    if (std::isfinite(x)) squares += x / largest * (x / largest);
  return largest * std::sqrt(squares / count);
}

Tensor as_f64(const Tensor& x) {
  Tensor result = empty(x.shape(), f64);
  dispatch_any(x.dtype(), [&](auto zero) {
    const auto from = x.values<decltype(zero)>();
    std::transform(from.begin(), from.end(), OpAccess::values<double>(result),
                   [](auto value) { return static_cast<double>(value); });
  });
  return result;
}

namespace {

// All real numbers of the outputs, concatenated.
std::vector<double> numbers_of(const Tensors& outputs) {
  std::vector<double> result;
  for (const Tensor& output : outputs) {
    if (output.dtype() == i64) continue;
    dispatch_real(output.dtype(), "gradcheck", [&](auto zero) {
      for (const auto value : output.values<decltype(zero)>()) result.push_back(static_cast<double>(value));
    });
  }
  return result;
}

/// "mul" if f is that op alone, otherwise "a function that ends in mul"; "" if no op made the output.
std::string name_of_maker(const Tape& tape, const Tensor& output) {
  for (const Record* record : tape.records())
    for (int j = 0; j < record->outputs(); ++j)
      if (&record->out(j) == &OpAccess::node(output))
        return text(tape.size() == 1 ? "" : "a function that ends in ", record->op().name);
  return "";
}

}  // namespace

// Lets the leaves hold other values until the end of the block, then restores those of the point, even if it throws.
class CheckedFunction::OtherValues {
 public:
  explicit OtherValues(CheckedFunction& function) : function_(function) {}
  OtherValues(const OtherValues&) = delete;
  OtherValues& operator=(const OtherValues&) = delete;
  ~OtherValues() {
    for (std::size_t k = 0; k < function_.leaves(); ++k) function_.replaced_[k].put(function_.values_[k]);
  }

 private:
  CheckedFunction& function_;
};

CheckedFunction::CheckedFunction(const std::function<Tensors()>& f, const NamedLeaves& leaves) : f_(f) {
  for (const auto& [name, leaf] : leaves) {
    values_.push_back(as_f64(leaf));
    replaced_.emplace_back(leaf);
    replaced_.back().put(values_.back());
  }
}

std::span<double> CheckedFunction::values(std::size_t leaf) const {
  return {OpAccess::values<double>(values_[leaf]), static_cast<std::size_t>(values_[leaf].numel())};
}

LeafNumbers CheckedFunction::zeros() const {
  LeafNumbers result;
  for (const Tensor& leaf : values_) result.emplace_back(static_cast<std::size_t>(leaf.numel()), 0.0);
  return result;
}

LeafNumbers CheckedFunction::point() const {
  LeafNumbers result;
  for (const Tensor& leaf : values_) {
    const std::span<const double> numbers = leaf.values<double>();
    result.emplace_back(numbers.begin(), numbers.end());
  }
  return result;
}

void CheckedFunction::move_to(const LeafNumbers& point) const {
  for (std::size_t k = 0; k < leaves(); ++k) std::ranges::copy(point[k], values(k).begin());
}

std::vector<double> CheckedFunction::evaluate() const {
  const NoTape no_tape;
  return numbers_of(f_());
}

// Output by output first, so that no large sums cancel.
Slope CheckedFunction::slope(double& x, double h, std::span<const double> u) const {
  const double here = x;
  x = here + h;
  const double above = x;
  const std::vector<double> up = evaluate();
  x = here - h;
  Slope result{.width = above - x};
  const std::vector<double> down = evaluate();
  x = here;
  for (std::size_t k = 0; k < up.size(); ++k) {
    result.value += u[k] * ((up[k] - down[k]) / result.width);
    const double magnitude = std::abs(u[k]) * std::max(std::abs(up[k]), std::abs(down[k]));
    result.magnitude += magnitude;
    result.moved += up[k] == down[k] ? 0 : magnitude;
  }
  return result;
}

Sides CheckedFunction::sides(double& x, double h, std::span<const double> u) const {
  const double here = x;
  const std::vector<double> values = evaluate();
  const auto slope_to = [&](double there) {
    x = there;
    const std::vector<double> moved = evaluate();
    x = here;
    double slope = 0;
    for (std::size_t k = 0; k < moved.size(); ++k) slope += u[k] * ((moved[k] - values[k]) / (there - here));
    return slope;
  };
  return {slope_to(here - h), slope_to(here + h)};
}

Pullback CheckedFunction::pull_back(std::span<const double> u, Dtype dtype) {
  const OtherValues for_this_call(*this);
  if (dtype == dual)
    for (std::size_t k = 0; k < leaves(); ++k) replaced_[k].put(with_tangent(values_[k], {}));
  Tape tape;
  Pullback result = walk_back(tape, u);
  for (const ReplacedLeaf& replaced : replaced_) {
    const Tensor& leaf = replaced.leaf();
    result.reached.push_back(leaf.has_grad());
    result.gradients.push_back(leaf.has_grad() ? numbers_of({leaf.grad()})
                                               : std::vector<double>(static_cast<std::size_t>(leaf.numel())));
    leaf.zero_grad();  // so that the next backward does not add to it
  }
  return result;
}

double CheckedFunction::largest_terms(std::span<const double> u) {
  const OtherValues for_this_call(*this);
  Tape tape({.keep = true});
  walk_back(tape, u);
  double largest = 0;
  for (const Record* record : tape.records())
    for (int j = 0; j < record->outputs(); ++j) {
      const Tensor y = record->output(j);
      if (y.dtype() != f64 || !y.has_grad()) continue;
      const std::vector<double> values = numbers_of({y}), gradients = numbers_of({y.grad()});
      double terms = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double term = std::abs(gradients[i] * values[i]);
        if (std::isfinite(term)) terms += term;
      }
      largest = std::max(largest, terms);
    }
  for (const ReplacedLeaf& replaced : replaced_) replaced.leaf().zero_grad();
  return largest;
}

Pullback CheckedFunction::walk_back(Tape& tape, std::span<const double> u) {
  Pullback result;
  Tensors differentiable, cotangents;
  for (const Tensor& output : f_()) {
    if (output.dtype() == i64) continue;
    const std::size_t count = static_cast<std::size_t>(output.numel());
    if (output.wants_gradient()) {
      differentiable.push_back(output);
      cotangents.push_back(tensor(u.first(count), output.shape(), output.dtype()));
    }
    u = u.subspan(count);
  }
  if (differentiable.empty()) return result;
  result.name = name_of_maker(tape, differentiable[0]);
  result.use_of_another_leaf = use_of_another_leaf(tape);
  tape.backward(differentiable, cotangents);
  return result;
}

Tangent CheckedFunction::push_forward(const LeafNumbers& v, std::span<const double> u) {
  const OtherValues duals_for_this_call(*this);
  for (std::size_t k = 0; k < leaves(); ++k) {
    const Tensor moving = empty(shape(k), dual);
    const std::span<Dual> elements = moving.mutable_values<Dual>();
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = {values_[k].values<double>()[i], v[k][i]};
    replaced_[k].put(moving);
  }
  const NoTape no_tape;
  Tangent result;
  for (const Tensor& output : f_()) {
    if (output.dtype() == i64) continue;
    if (output.dtype() == dual)  // any other output is constant
      for (std::size_t i = 0; const Dual& element : output.values<Dual>()) {
        const double term = u[i++] * element.tangent;
        result.value += term;
        result.terms += std::abs(term);
      }
    u = u.subspan(static_cast<std::size_t>(output.numel()));
  }
  return result;
}

std::string CheckedFunction::use_of_another_leaf(Dtype default_type) {
  const OtherValues originals_for_this_call(*this);
  for (ReplacedLeaf& replaced : replaced_) replaced.put_original();
  const DtypeScope scope(default_type);
  const Tape tape;
  try {
    f_();
  } catch (const Error&) {  // the tape holds the records made before the error
  }
  return use_of_another_leaf(tape);
}

std::string CheckedFunction::use_of_another_leaf(const DtypeMismatch& refusal) const {
  const std::string message = refusal.what(), op = message.substr(0, message.find(':'));
  for (const Tensor& operand : {refusal.operands().first, refusal.operands().second})
    if (is_another_leaf(OpAccess::node(operand))) return text(op, " with a weight ", operand);
  return "";
}

std::string CheckedFunction::use_of_another_leaf(const Tape& tape) const {
  for (const Record* record : tape.records())
    for (int i = 0; i < record->inputs(); ++i)
      if (is_another_leaf(record->in(i))) return text(record->op().name, " with a weight ", record->input(i));
  return "";
}

bool CheckedFunction::is_another_leaf(const TensorInfo& tensor) const {
  const Node& node = OpAccess::node(tensor);
  const auto is_this = [&](const ReplacedLeaf& one) { return &OpAccess::node(one.leaf()) == &node; };
  return node.wants_gradient && node.tape == 0 && std::ranges::none_of(replaced_, is_this);
}

}  // namespace retrace
