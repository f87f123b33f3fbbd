#include <retrace/models/onnx/traced_function.h>

#include <algorithm>
#include <map>

#include <retrace/core/base/error.h>
#include <retrace/core/tape/tape.h>

namespace retrace::onnx {
namespace {

/// Numbers the values of a tape.
class Tracer {
 public:
  Tracer(const Names& names, const Tensors& inputs, const Tensors& outputs) : names_(names), inputs_(inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) input_names_.add(inputs[k], std::to_string(k));
    for (std::size_t k = 0; k < outputs.size(); ++k) output_names_.add(outputs[k], std::to_string(k));
    traced.outputs.assign(outputs.size(), -1);
  }

  void add(const Record& r) {
    TracedCall call{r.op().name, path_of(r.scope(), names_), r.attribute_list(), {}, {}, r.input_names(), {}};
    for (int i = 0; i < r.inputs(); ++i) call.inputs.push_back(number_of(r.in(i), [&] { return r.input(i); }));
    for (const Attribute& attribute : call.attributes)
      if (const Tensor* x = std::get_if<Tensor>(&attribute.value))
        call.tensors.emplace_back(attribute.name, add_leaf(x->shape(), *x, {}));
    for (int j = 0; j < r.outputs(); ++j) call.outputs.push_back(add_result(r.out(j)));
    traced.calls.push_back(std::move(call));
  }

  TracedFunction traced;

 private:
  template <class Handle> int number_of(const TensorInfo& info, const Handle& handle) {
    const auto [found, is_new] = numbers_.try_emplace(&info, static_cast<int>(traced.values.size()));
    if (!is_new) return found->second;
    const std::string_view input = input_names_.find(info);
    if (input.empty()) return add_leaf(info.shape, handle(), names_.find(info));
    traced.values.push_back({info.shape, info.dtype, std::stoi(std::string(input)), {}, {}});
    return found->second;
  }
  int add_leaf(const Shape& shape, const Tensor& x, std::string_view name) {
    traced.values.push_back({shape, x.dtype(), x.dtype() == i64 ? input_of(x) : -1, x, std::string(name)});
    return static_cast<int>(traced.values.size()) - 1;
  }
  int add_result(const TensorInfo& info) {
    const int number = static_cast<int>(traced.values.size());
    numbers_.insert_or_assign(&info, number);
    traced.values.push_back({info.shape, info.dtype, -1, {}, {}});
    for (std::size_t k = 0; k < traced.outputs.size(); ++k)
      if (output_names_.find(info) == std::to_string(k)) traced.outputs[k] = number;
    return number;
  }
  /// Integers have no records: a reshaped input has the same elements.
  int input_of(const Tensor& leaf) const {
    const auto found = std::ranges::find_if(inputs_, [&](const Tensor& x) {
      return x.dtype() == i64 && x.numel() == leaf.numel() &&
             x.values<std::int64_t>().data() == leaf.values<std::int64_t>().data();
    });
    return found == inputs_.end() ? -1 : static_cast<int>(found - inputs_.begin());
  }

  const Names& names_;
  const Tensors& inputs_;
  Names input_names_, output_names_;
  std::map<const TensorInfo*, int> numbers_;
};

std::string described(const TracedCall& call) { return call.path.empty() ? call.op : call.path + "/" + call.op; }

}  // namespace

const AttributeValue* TracedCall::find(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &found->value;
}

TracedFunction trace_function(const FunctionOfTensors& f, const Tensors& inputs, const Names& names,
                              bool expand_fused) {
  Tensors copies;
  for (const Tensor& x : inputs) copies.push_back(x.dtype() == i64 ? x.clone() : x.clone().watch());
  Tape tape({.keep = true, .expand_fused = expand_fused});
  const Tensors outputs = f(copies);
  Tracer tracer(names, copies, outputs);
  tracer.traced.inputs = copies;
  for (const Record* record : tape.records()) tracer.add(*record);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (tracer.traced.outputs[k] < 0)
      throw ValueError(text("export_onnx: output ", k, " ", outputs[k].shape(),
                            " is not what an op on the tape computed: it does not depend on a weight or an input, or "
                            "it is one itself; freeze no weights, and leave the output out"));
  return std::move(tracer.traced);
}

std::string difference(const TracedFunction& a, const TracedFunction& b) {
  for (std::size_t k = 0; k < std::min(a.calls.size(), b.calls.size()); ++k) {
    const TracedCall &one = a.calls[k], &other = b.calls[k];
    if (one.op != other.op || one.inputs != other.inputs || one.outputs != other.outputs)
      return text("record ", k, " is ", described(one), " in one run and ", described(other), " in another");
  }
  if (a.calls.size() != b.calls.size())
    return text("it has ", a.calls.size(), " records in one run and ", b.calls.size(), " in another");
  return "";
}

}  // namespace retrace::onnx
