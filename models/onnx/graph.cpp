#include <retrace/models/onnx/graph.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include <retrace/core/base/error.h>

namespace retrace::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data of a TensorProto is little-endian");

std::string_view bytes_of(const Tensor& x) {
  const auto bytes = [](const auto values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  };
  if (x.dtype() == f32) return bytes(x.values<float>());
  if (x.dtype() == f64) return bytes(x.values<double>());
  return bytes(x.values<std::int64_t>());
}

Message encoded(const std::string& name, const Tensor& x) {
  Message tensor;
  for (const std::int64_t length : x.shape()) tensor.integer(1, length);
  tensor.integer(2, static_cast<int>(element_type(x.dtype()))).bytes(8, name).bytes(9, bytes_of(x));
  return tensor;
}

Message encoded(const ValueInfo& value) {
  Message shape;
  for (const auto& axis : value.axes) {
    Message dimension;
    if (const auto* length = std::get_if<std::int64_t>(&axis))
      dimension.integer(1, *length);
    else
      dimension.bytes(2, std::get<std::string>(axis));
    shape.message(1, dimension);
  }
  const Message tensor = Message().integer(1, static_cast<int>(value.type)).message(2, shape);
  return Message().bytes(1, value.name).message(2, Message().message(1, tensor));
}

Message encoded(const Graph& graph);

// The fields of an AttributeProto for each kind of value, and the number of the kind.
struct AttributeWriter {
  Message& to;
  void operator()(std::int64_t value) const { to.integer(3, value).integer(20, 2); }
  void operator()(float value) const { to.number(2, value).integer(20, 1); }
  void operator()(const std::string& value) const { to.bytes(4, value).integer(20, 3); }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) to.integer(8, value);
    to.integer(20, 7);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) to.bytes(9, value);
    to.integer(20, 8);
  }
  void operator()(const std::shared_ptr<const Graph>& value) const { to.message(6, encoded(*value)).integer(20, 5); }
};

Message encoded(const Node& node) {
  Message message;
  for (const std::string& input : node.inputs) message.bytes(1, input);
  for (const std::string& output : node.outputs) message.bytes(2, output);
  message.bytes(4, node.op);
  for (const NodeAttribute& attribute : node.attributes) {
    Message encoded_attribute;
    encoded_attribute.bytes(1, attribute.name);
    std::visit(AttributeWriter{encoded_attribute}, attribute.value);
    message.message(5, encoded_attribute);
  }
  return message;
}

Message encoded(const Graph& graph) {
  Message message;
  for (const Node& node : graph.nodes) message.message(1, encoded(node));
  message.bytes(2, graph.name);
  for (const auto& [name, values] : graph.constants) message.message(5, encoded(name, values));
  for (const ValueInfo& input : graph.inputs) message.message(11, encoded(input));
  for (const ValueInfo& output : graph.outputs) message.message(12, encoded(output));
  return message;
}

/// The names that a node reads, also those inside of its body.
void add_names_read(const Node& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const NodeAttribute& attribute : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute.value)) {
      for (const Node& inner : (*body)->nodes) add_names_read(inner, names);
      for (const ValueInfo& output : (*body)->outputs) names.insert(output.name);
    }
}

}  // namespace

ElementType element_type(Dtype dtype) {
  return dtype == f32 ? ElementType::f32 : dtype == f64 ? ElementType::f64 : ElementType::i64;
}

void remove_unused(Graph& graph) {
  std::set<std::string> read;
  for (const ValueInfo& output : graph.outputs) read.insert(output.name);
  std::vector<Node> used;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](const std::string& name) { return read.contains(name); })) continue;
    add_names_read(*node, read);
    used.push_back(std::move(*node));
  }
  graph.nodes.assign(std::make_move_iterator(used.rbegin()), std::make_move_iterator(used.rend()));
  std::erase_if(graph.constants, [&](const auto& constant) { return !read.contains(constant.first); });
}

std::string model_file(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const auto& [name, values] : graph.constants) bytes += std::ssize(bytes_of(values));
  const auto check = [](std::int64_t size) {
    if (size >= std::numeric_limits<std::int32_t>::max())
      throw ValueError(text("export_onnx: the file would have ", size,
                            " bytes, but ONNX files end at 2 GiB; export a smaller model, or one in f32"));
  };
  check(bytes);
  Message model;
  model.integer(1, 8).bytes(2, "retrace").message(7, encoded(graph));
  model.message(8, Message().bytes(1, "").integer(2, opset_version));
  check(std::ssize(model.encoded()));
  return model.encoded();
}

}  // namespace retrace::onnx
