#include <retrace/models/checks/row_rule.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <retrace/core/checks/leaves.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Results {
  Tensors outputs, gradients;  // a gradient for each input; undefined where none arrived
};

/// The inputs that have rows, by their numbers, and the axis of the rows.
using Sliced = std::set<std::size_t>;

Tensor row_of(const Tensor& x, int axis, std::int64_t row) {
  std::vector<SliceIndex> index(static_cast<std::size_t>(axis), all);
  index.push_back(range(row, row + 1));
  return slice(x, index).clone();
}

bool has_axis(const Tensor& x, int axis, std::int64_t count) { return axis < x.rank() && x.dim(axis) == count; }

bool is_alike(double a, double b, double limit) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= limit * (1 + std::abs(b));
}
bool are_alike(const Tensor& a, const Tensor& b, double limit) {
  return a.shape() == b.shape() &&
         std::ranges::equal(numbers_of(a), numbers_of(b), [=](double x, double y) { return is_alike(x, y, limit); });
}

class RowComparison {
 public:
  RowComparison(const CheckCase& one, Dtype dtype) : case_(one), limit_(dtype == f32 ? 1e-3 : 1e-9) {
    for (const Tensor& input : one.inputs) {
      inputs_.push_back(input.dtype() == i64 ? input : converted(input, dtype));
      if (one.holds_inputs && &input != &one.inputs.back() && input.dtype() != i64) {
        weights_.emplace_back(input);
        weights_.back().put(inputs_.back());
      }
    }
    whole_ = run(inputs_, {});
  }

  RowRule compare(const std::string& name) {
    RowRule result;
    const std::size_t first = first_with_rows();
    const int axes = first == inputs_.size() ? 0 : case_.holds_inputs ? 1 : inputs_[first].rank() - 1;
    for (int axis = 0; axis < axes; ++axis)
      for (const Sliced& sliced : choices(first, axis))
        if (compare_along(axis, inputs_[first].dim(axis), sliced, name, result)) break;
    return result;
  }

 private:
  // ---- runs

  Results run(const Tensors& inputs, const Tensors& cotangents) const {
    Tensors leaves;
    for (const Tensor& input : inputs) leaves.push_back(input.dtype() == i64 ? input : input.clone().watch());
    Tape tape;
    Results results{case_.function(leaves), {}};
    Tensors ends, sent;
    for (std::size_t j = 0; j < results.outputs.size(); ++j) {
      if (!results.outputs[j].wants_gradient()) continue;
      ends.push_back(results.outputs[j]);
      sent.push_back(cotangents.empty() ? cotangent(results.outputs[j], j) : cotangents[j]);
    }
    if (!ends.empty()) tape.backward(ends, sent);
    for (const Tensor& leaf : leaves)
      results.gradients.push_back(leaf.dtype() != i64 && leaf.has_grad() ? leaf.grad() : Tensor());
    return results;
  }

  static Tensor cotangent(const Tensor& output, std::size_t j) {
    return converted(Random(9).stream(j).normal(output.shape(), f64), output.dtype());
  }

  // ---- which inputs have rows

  std::size_t first_with_rows() const {
    if (case_.holds_inputs) return inputs_.size() - 1;
    std::size_t first = inputs_.size();
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (inputs_[k].dtype() != i64 && (first == inputs_.size() || inputs_[k].rank() > inputs_[first].rank()))
        first = k;
    return first;
  }

  /// Every input with that axis, those of the same rank, or the first alone.
  std::vector<Sliced> choices(std::size_t first, int axis) const {
    if (case_.holds_inputs) return {{first}};
    Sliced all_of_length, of_rank;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (!has_axis(inputs_[k], axis, inputs_[first].dim(axis))) continue;
      all_of_length.insert(k);
      if (inputs_[k].rank() == inputs_[first].rank()) of_rank.insert(k);
    }
    return {all_of_length, of_rank, {first}};
  }

  // ---- rows

  /// False if this is no axis of rows.
  bool compare_along(int axis, std::int64_t count, const Sliced& sliced, const std::string& name, RowRule& result) {
    if (count < 2) return false;
    RowRule here;
    for (const std::int64_t row : {std::int64_t{0}, count - 1})
      if (!compare_row(axis, row, sliced, name, here)) return false;
    result.add(here);
    return true;
  }

  bool compare_row(int axis, std::int64_t row, const Sliced& sliced, const std::string& name, RowRule& result) {
    Tensors inputs = inputs_;
    for (const std::size_t k : sliced) inputs[k] = row_of(inputs[k], axis, row);
    try {
      const Tensors outputs = case_.function(inputs);
      Tensors of_batch, cotangents;
      for (std::size_t j = 0; j < outputs.size(); ++j) {
        const auto at = axis_of_rows(whole_.outputs.at(j), outputs[j], row);
        if (!at) return false;
        of_batch.push_back(row_of(whole_.outputs[j], *at, row));
        cotangents.push_back(row_of(cotangent(whole_.outputs[j], j), *at, row));
      }
      const Results alone = run(inputs, cotangents);
      bool is_same = true;
      for (std::size_t j = 0; j < outputs.size(); ++j) is_same &= are_alike(alone.outputs[j], of_batch[j], 0);
      for (const std::size_t k : sliced) {
        if (!whole_.gradients[k].defined() || !alone.gradients[k].defined()) continue;
        const Tensor gradient = row_of(whole_.gradients[k], axis, row);
        if (!are_alike(alone.gradients[k], gradient, limit_)) return false;
        is_same &= are_alike(alone.gradients[k], gradient, 0);
      }
      ++result.rows;
      if (!is_same) result.failures.push_back(text(name, ": row ", row, " of axis ", axis, " has other bits alone"));
      return true;
    } catch (const Error&) {  // the op takes no single row
      return false;
    }
  }

  /// The axis of y along which that row nearly equals what it is alone.
  std::optional<int> axis_of_rows(const Tensor& y, const Tensor& alone, std::int64_t row) const {
    if (y.dtype() == i64 || y.rank() != alone.rank()) return {};
    for (int axis = 0; axis < y.rank(); ++axis)
      if (row < y.dim(axis) && y.dim(axis) > 1 && are_alike(alone, row_of(y, axis, row), limit_)) return axis;
    return {};
  }

  const CheckCase& case_;
  double limit_;
  Tensors inputs_;
  std::vector<ReplacedLeaf> weights_;
  Results whole_;
};

}  // namespace

void RowRule::add(const RowRule& other) {
  rows += other.rows;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

RowRule compare_rows(const CheckedName& checked, const CheckCase& one, Dtype dtype) {
  const DtypeScope scope(dtype);
  return RowComparison(one, dtype).compare(text(checked.name, ", ", dtype));
}

RowRule compare_rows(const std::vector<CheckedName>& table, Dtype dtype) {
  RowRule result;
  for (const CheckedName& checked : table)
    for (const CheckCase& one : checked.cases) result.add(compare_rows(checked, one, dtype));
  return result;
}

}  // namespace retrace
