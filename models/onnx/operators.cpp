#include <retrace/models/onnx/operators.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace retrace::onnx {
namespace {

/// Why what is not in the table is not there.
std::string_view reason(const Call& call) {
  if (call.has("custom"))
    return "its formula is a C++ function of the program, which a file cannot hold; write it with the ops of the "
           "library";
  if (call.op() == "dropout") return "it draws random numbers; call the model as in evaluation, without a generator";
  if (call.has("reduction")) return "it is a loss; export what the model answers";
  return "ONNX has no operator for it here; write it with ops that models/onnx/README.md lists";
}

}  // namespace

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> rows;
    for (const auto table :
         {elementwise_operators, shape_operators, reduction_operators, attention_operators, recurrent_operators})
      std::ranges::copy(table(), std::back_inserter(rows));
    std::ranges::sort(rows, {}, &Operator::op);
    return rows;
  }();
  return all;
}

void build(const Call& call) {
  const auto row = std::ranges::lower_bound(operators(), call.op(), {}, &Operator::op);
  if (row == operators().end() || row->op != call.op()) call.fail(reason(call));
  row->build(call);
}

std::string number(const Call& call, double value) { return call.build.number(value, call.dtype()); }

std::string exchange_last_axes(Builder& build, const std::string& x, int rank) {
  std::vector<std::int64_t> permutation;
  for (int axis = 0; axis < rank; ++axis) permutation.push_back(axis);
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return build.node("Transpose", {x}, {{"perm", permutation}});
}

std::string slice_axis(Builder& build, const std::string& x, std::int64_t axis, const Lengths& start,
                       const Lengths& stop) {
  return build.node("Slice", {x, build.length(start), build.length(stop), build.integers({axis})});
}

std::vector<std::string> split(Builder& build, const std::string& x, std::int64_t axis, std::size_t parts) {
  return build.nodes("Split", {x}, parts, {{"axis", axis}});
}

std::string unsqueeze(Builder& build, const std::string& x, std::int64_t axis) {
  return build.node("Unsqueeze", {x, build.integers({axis})});
}

}  // namespace retrace::onnx
