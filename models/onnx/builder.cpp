#include <retrace/models/onnx/builder.h>

#include <algorithm>

#include <retrace/core/base/error.h>

namespace retrace::onnx {

Builder::Builder(std::vector<FreeAxis> axes, std::vector<std::string> input_names)
    : axes_(std::move(axes)), input_names_(std::move(input_names)) {
  graph_.name = "retrace";
  for (const std::string& name : input_names_) used_names_[name] = 1;
}

std::string Builder::new_name(std::string_view base) {
  int& used = used_names_[std::string(base)];
  return ++used == 1 ? std::string(base) : new_name(text(base, "_", used));
}

std::vector<std::string> Builder::nodes(std::string_view op, std::vector<std::string> inputs, std::size_t outputs,
                                        std::vector<NodeAttribute> attributes) {
  if (op == "Mul" || op == "Div") spread_factors(inputs);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < outputs; ++k) names.push_back(new_name(op));
  current().nodes.push_back({std::string(op), std::move(inputs), names, std::move(attributes)});
  return names;
}

void Builder::spread_factors(std::vector<std::string>& inputs) {
  const std::vector<std::string> operands = inputs;
  for (std::size_t k = 0; k < 2; ++k)
    if (f64_numbers_.contains(operands[k])) inputs[k] = node("Expand", {operands[k], node("Shape", {operands[1 - k]})});
}

std::string Builder::add(Graph& graph, std::string_view op, std::vector<std::string> inputs,
                         std::vector<NodeAttribute> attributes) {
  graph.nodes.push_back({std::string(op), std::move(inputs), {new_name(op)}, std::move(attributes)});
  return graph.nodes.back().outputs.front();
}

std::string Builder::constant(const Tensor& values, std::string_view name) {
  graph_.constants.emplace_back(new_name(name.empty() ? "constant" : name), values.detach());
  const std::string& its_name = graph_.constants.back().first;
  if (values.dtype() == f64 && values.numel() == 1) f64_numbers_.insert(its_name);
  return its_name;
}

std::string Builder::integers(const std::vector<std::int64_t>& values) {
  std::string& name = integers_[values];
  if (name.empty()) {
    Tensor list = empty({std::ssize(values)}, i64);
    list.update<std::int64_t>([&](std::span<std::int64_t> to) { std::ranges::copy(values, to.begin()); });
    name = constant(list);
  }
  return name;
}

std::string Builder::number(double value, Dtype dtype) {
  std::string& name = numbers_[{value, static_cast<int>(element_type(dtype))}];
  if (name.empty()) name = constant(full({}, value, dtype));
  return name;
}

std::string Builder::length(const Lengths& lengths) {
  if (is_fixed(lengths)) return integers({lengths.front()});
  std::string& name = lengths_[lengths];
  if (!name.empty()) return name;
  const auto formula = formula_of(lengths, axes_);
  if (!formula) {
    std::string listed;
    for (const std::int64_t length : lengths) listed += text(listed.empty() ? "" : ", ", length);
    throw ValueError(text("export_onnx: a length of ", listed,
                          " in the runs of the model is not a + b times the free lengths; fix the axes of the input"));
  }
  std::string product;
  for (const std::size_t k : formula->of) {
    const FreeAxis& axis = axes_[k];
    const std::string of_input = add(graph_, "Shape", {input_names_[static_cast<std::size_t>(axis.input)]},
                                     {{"start", std::int64_t{axis.axis}}, {"end", std::int64_t{axis.axis} + 1}});
    product = product.empty() ? of_input : add(graph_, "Mul", {product, of_input});
  }
  if (formula->factor != 1) product = add(graph_, "Mul", {product, integers({formula->factor})});
  if (formula->first != 0) product = add(graph_, "Add", {product, integers({formula->first})});
  return name = product;
}

std::string Builder::shape(const std::vector<Lengths>& axes) {
  if (std::ranges::all_of(axes, is_fixed)) {
    std::vector<std::int64_t> fixed;
    for (const Lengths& axis : axes) fixed.push_back(axis.front());
    return integers(fixed);
  }
  std::vector<std::string> parts;
  for (const Lengths& axis : axes) parts.push_back(length(axis));
  return parts.size() == 1 ? parts.front() : node("Concat", parts, {{"axis", std::int64_t{0}}});
}

std::variant<std::int64_t, std::string> Builder::axis(const Lengths& lengths) const {
  if (is_fixed(lengths)) return lengths.front();
  for (const FreeAxis& free : axes_)
    if (free.lengths == lengths) return free.name;
  return "length";
}

void Builder::begin_body(std::string_view name) {
  bodies_.push_back(std::make_shared<Graph>());
  bodies_.back()->name = name;
}

std::shared_ptr<Graph> Builder::end_body() {
  std::shared_ptr<Graph> body = std::move(bodies_.back());
  bodies_.pop_back();
  return body;
}

}  // namespace retrace::onnx
