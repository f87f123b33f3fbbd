#include <retrace/models/onnx/call.h>

#include <algorithm>

#include <retrace/core/base/error.h>

namespace retrace::onnx {
namespace {

std::vector<Lengths> lengths_of(const TracedRuns& traced, int number) {
  std::vector<Lengths> axes(
      static_cast<std::size_t>(traced.runs.front().values[static_cast<std::size_t>(number)].shape.rank()));
  for (const TracedFunction& run : traced.runs)
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      axes[axis].push_back(run.values[static_cast<std::size_t>(number)].shape[static_cast<int>(axis)]);
  return axes;
}

template <class T> const T& typed(const Call& call, const TracedCall& in_run, std::string_view name) {
  const AttributeValue* value = in_run.find(name);
  if (value == nullptr || !std::holds_alternative<T>(*value)) call.fail(text("its record has no ", name));
  return std::get<T>(*value);
}

}  // namespace

std::string Call::value(int number) const {
  std::string& name = traced_.names[static_cast<std::size_t>(number)];
  if (!name.empty()) return name;
  const TracedValue& value = value_of(number);
  if (value.input >= 0) return name = build_input(build, traced_, number);
  Tensors in_runs;
  for (const TracedFunction& run : traced_.runs) in_runs.push_back(run.values[static_cast<std::size_t>(number)].leaf);
  const TracedCall& call = in_first_run();
  return name = build_leaf(build, in_runs, value.name,
                           text("an input of ", call.path, call.path.empty() ? "" : "/", call.op));
}

std::string Call::in(int i) const { return value(in_first_run().inputs[static_cast<std::size_t>(i)]); }

std::string Call::in(std::string_view name) const {
  const std::vector<std::string>& names = in_first_run().input_names;
  const auto found = std::ranges::find(names, name);
  const int place = static_cast<int>(found - names.begin());
  return place < inputs() ? in(place) : "";
}

const TracedCall* Call::maker(int i) const {
  const int number = in_first_run().inputs[static_cast<std::size_t>(i)];
  for (const TracedCall& call : traced_.runs.front().calls)
    if (std::ranges::find(call.outputs, number) != call.outputs.end()) return &call;
  return nullptr;
}

Lengths Call::length(int i, int axis) const {
  return lengths(i)[static_cast<std::size_t>(axis < 0 ? axis + rank(i) : axis)];
}

std::vector<Lengths> Call::lengths(int i) const {
  return lengths_of(traced_, in_first_run().inputs[static_cast<std::size_t>(i)]);
}

std::vector<Lengths> Call::out_lengths(int j) const {
  return lengths_of(traced_, in_first_run().outputs[static_cast<std::size_t>(j)]);
}

const Shape& Call::in_shape(int i, std::size_t run) const {
  return traced_.runs[run].values[static_cast<std::size_t>(in_first_run().inputs[static_cast<std::size_t>(i)])].shape;
}

const Shape& Call::out_shape(int j, std::size_t run) const {
  return traced_.runs[run].values[static_cast<std::size_t>(in_first_run().outputs[static_cast<std::size_t>(j)])].shape;
}

Tensors Call::leaves(int i) const {
  const std::size_t number = static_cast<std::size_t>(in_first_run().inputs[static_cast<std::size_t>(i)]);
  Tensors found;
  for (const TracedFunction& run : traced_.runs)
    found.push_back(run.values[number].input < 0 ? run.values[number].leaf : Tensor());
  return found;
}

bool Call::is_zero(int i) const {
  return std::ranges::all_of(leaves(i), [](const Tensor& x) {
    if (!x.defined()) return false;
    const Tensor numbers = x.to(f64);
    return std::ranges::all_of(numbers.values<double>(), [](double value) { return value == 0; });
  });
}

double Call::number(std::string_view name) const {
  const double first = typed<double>(*this, in_first_run(), name);
  for (std::size_t run = 1; run < runs(); ++run)
    if (typed<double>(*this, in_run(run), name) != first)
      fail(text("its ", name,
                " changes with the lengths or the values of the inputs; compute it by ops on the inputs, "
                "or fix their axes"));
  return first;
}

std::int64_t Call::integer(std::string_view name) const {
  const Lengths each = each_integer(name);
  if (!is_fixed(each)) fail(text("its ", name, " changes with the lengths of the inputs"));
  return each.front();
}

Lengths Call::each_integer(std::string_view name) const {
  Lengths each;
  for (std::size_t run = 0; run < runs(); ++run) each.push_back(typed<std::int64_t>(*this, in_run(run), name));
  return each;
}

bool Call::flag(std::string_view name) const { return typed<bool>(*this, in_first_run(), name); }
std::string Call::word(std::string_view name) const { return typed<std::string>(*this, in_first_run(), name); }

std::vector<std::int64_t> Call::integers(std::string_view name, std::size_t run) const {
  return typed<std::vector<std::int64_t>>(*this, in_run(run), name);
}

std::string Call::tensor(std::string_view name) const {
  for (const auto& [its_name, number] : in_first_run().tensors)
    if (its_name == name) return value(number);
  return "";
}

void Call::result(std::string name, int j) const {
  traced_.names[static_cast<std::size_t>(in_first_run().outputs[static_cast<std::size_t>(j)])] = std::move(name);
}

void Call::fail(std::string_view why) const {
  const TracedCall& call = in_first_run();
  throw ValueError(
      text("export_onnx: the op ", call.op, call.path.empty() ? "" : " of ", call.path, " cannot be exported: ", why));
}

std::string build_input(Builder& build, const TracedRuns& traced, int number) {
  const auto& value = traced.runs.front().values[static_cast<std::size_t>(number)];
  const std::string& name = traced.input_names[static_cast<std::size_t>(value.input)];
  return value.dtype == i64 ? build.node("Reshape", {name, build.shape(lengths_of(traced, number))}) : name;
}

}  // namespace retrace::onnx
