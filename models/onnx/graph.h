// A graph of ONNX: nodes that compute named values from others.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/onnx/protobuf.h>

namespace retrace::onnx {

struct Graph;

/// A constant of a node: an integer, a number, a word, lists, or the body of a loop.
struct NodeAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<std::string>,
               std::shared_ptr<const Graph>>
      value;
};

/// A call of an operator. Inputs and outputs are the names of values.
struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;  // an empty name: left out
  std::vector<NodeAttribute> attributes;
};

/// The element types that ONNX gives these numbers.
enum class ElementType { f32 = 1, i32 = 6, i64 = 7, boolean = 9, f64 = 11 };
ElementType element_type(Dtype dtype);

/// An input or output; an axis is a length, or the name of one that is free.
struct ValueInfo {
  std::string name;
  ElementType type;
  std::vector<std::variant<std::int64_t, std::string>> axes;
};

/// What a file says: nodes in the order of their computation, with what they begin with and end in.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, Tensor>> constants;  // "initializers": real or i64
  std::vector<ValueInfo> inputs, outputs;
};

/// Removes the nodes and the constants that no output depends on.
void remove_unused(Graph& graph);
/// The bytes of a file with this graph, for operators of opset_version. Throws ValueError for a graph of 2 GiB or more,
/// which the format does not allow.
std::string model_file(const Graph& graph);

/// Of ONNX 1.12 (2022): LayerNormalization is in it.
inline constexpr std::int64_t opset_version = 17;

}  // namespace retrace::onnx
