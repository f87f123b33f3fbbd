// Builds the graph of a file, node by node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/onnx/free_axes.h>
#include <retrace/models/onnx/graph.h>

namespace retrace::onnx {

/// Names of values are the results of its functions. Constants and lengths belong to the graph itself, from where the
/// bodies of its loops can read them, too.
class Builder {
 public:
  /// The names of the inputs, whose shapes have the lengths of the free axes.
  Builder(std::vector<FreeAxis> axes, std::vector<std::string> input_names);

  /// An f64 factor or divisor of one element gets the shape of the other operand: onnxruntime would make it the factor
  /// of a product of matrices next to it, which it keeps in f32.
  std::vector<std::string> nodes(std::string_view op, std::vector<std::string> inputs, std::size_t outputs,
                                 std::vector<NodeAttribute> attributes = {});
  std::string node(std::string_view op, std::vector<std::string> inputs, std::vector<NodeAttribute> attributes = {}) {
    return nodes(op, std::move(inputs), 1, std::move(attributes)).front();
  }
  /// The elements as a constant; a name that is taken gets a number.
  std::string constant(const Tensor& values, std::string_view name = "constant");
  std::string integers(const std::vector<std::int64_t>& values);
  /// A number of that type, of shape [].
  std::string number(double value, Dtype dtype);

  /// A length that may be free, as a value [1]; several, as a value [n]. Throws ValueError for one that no formula of
  /// the free axes gives.
  std::string length(const Lengths& lengths);
  std::string shape(const std::vector<Lengths>& axes);
  /// A length that may be free, as an axis of an input or output.
  std::variant<std::int64_t, std::string> axis(const Lengths& lengths) const;

  std::string new_name(std::string_view base);
  /// Nodes go to the body of a loop until end_body().
  void begin_body(std::string_view name);
  std::shared_ptr<Graph> end_body();
  /// The graph whose nodes are built now.
  Graph& current() { return bodies_.empty() ? graph_ : *bodies_.back(); }
  Graph& graph() { return graph_; }

 private:
  void spread_factors(std::vector<std::string>& inputs);
  std::string add(Graph& graph, std::string_view op, std::vector<std::string> inputs,
                  std::vector<NodeAttribute> attributes = {});

  std::vector<FreeAxis> axes_;
  std::vector<std::string> input_names_;
  Graph graph_;
  std::vector<std::shared_ptr<Graph>> bodies_;
  std::map<std::string, int, std::less<>> used_names_;
  std::set<std::string> f64_numbers_;  // constants of one element
  std::map<Lengths, std::string> lengths_;
  std::map<std::vector<std::int64_t>, std::string> integers_;
  std::map<std::pair<double, int>, std::string> numbers_;
};

}  // namespace retrace::onnx
