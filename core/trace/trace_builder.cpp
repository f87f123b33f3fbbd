#include <retrace/core/tensor/op_access.h>
#include <retrace/core/trace/trace_builder.h>

#include <algorithm>

namespace retrace {
namespace {

/// A dual as its value in f64.
Tensor without_tangent(const Tensor& x) { return x.dtype() == dual ? x.detach().to(f64) : x; }

}  // namespace

TraceBuilder::TraceBuilder(const Tape& tape, const TraceOptions& options) : options_(options) {
  trace_.title = options.title;
  trace_.expanded = tape.options().expand_fused;
  const std::vector<const Record*> records = tape.records();
  const NodeNames names(records, options.names);
  for (const Record* record : records) add_record(*record, names);
  for (const Record* record : records) add_values(*record);
}

Capture TraceBuilder::capture(const Tensor& values) const {
  if (!values.defined()) return {};
  const Tensor held = without_tangent(values);
  if (held.numel() <= options_.max_elements) return {held};
  const std::int64_t count = std::min(options_.slice, held.numel());
  return {view(held.detach(), {count}).clone(), statistics_of(held)};
}

Capture TraceBuilder::gradient_of(const Node& node) const {
  if (node.gradient == nullptr || node.gradient_used) return {};
  detail::retain(node.gradient);  // whoever adds to a gradient that others share copies it first
  const Tensor gradient = OpAccess::over(node.gradient, node.gradient->data(), node.shape, node.dtype);
  return capture(node.gradient->lent ? gradient.clone() : gradient);
}

int TraceBuilder::number_of(const Node& node, bool leaf, const NodeNames& names) {
  const auto [found, is_new] = numbers_.emplace(&node, static_cast<int>(nodes_.size()));
  if (is_new) {
    nodes_.push_back(&node);
    TraceNode& traced = trace_.nodes.emplace_back();
    traced.name = names[node];
    traced.dtype = node.dtype;
    traced.shape = node.shape;
    traced.leaf = leaf;
    traced.parameter = leaf && node.role != detail::Role::other;
    traced.wants_gradient = node.wants_gradient;
    if (node.elements != nullptr)
      traced.value = capture(OpAccess::handle(const_cast<Node&>(node)).detach().clone());  // it may change later
  }
  return found->second;
}

int TraceBuilder::number_of(const ScopeEntry* scope) {
  if (scope == nullptr) return -1;
  if (const auto found = scopes_.find(scope); found != scopes_.end()) return found->second;
  const int outer = number_of(scope->outer);
  const int number = static_cast<int>(trace_.scopes.size());
  trace_.scopes.push_back({name_of(*scope, options_.names), path_of(scope, options_.names), scope->label, outer});
  scopes_.emplace(scope, number);
  return number;
}

void TraceBuilder::add_record(const Record& record, const NodeNames& names) {
  TraceRecord traced;
  traced.op = record.op().name;
  traced.scope = number_of(record.scope());
  traced.path = path_of(record.scope(), options_.names);
  traced.formulas = record.formulas();
  traced.attributes = record.attribute_list();
  std::ranges::sort(traced.attributes, {}, &Attribute::name);  // the order in which a file gives them back
  for (Attribute& attribute : traced.attributes)
    if (Tensor* tensor = std::get_if<Tensor>(&attribute.value); tensor != nullptr && tensor->defined())
      *tensor = without_tangent(tensor->clone());
  traced.input_names = record.input_names();
  for (int i = 0; i < record.inputs(); ++i)
    traced.inputs.push_back(number_of(OpAccess::node(record.in(i)), true, names));
  for (int j = 0; j < record.outputs(); ++j)
    traced.outputs.push_back(number_of(OpAccess::node(record.out(j)), false, names));
  traced.output_gradients.resize(traced.outputs.size());
  traced.contributions.resize(traced.inputs.size());
  trace_.records.push_back(std::move(traced));
}

// A record may have saved values that nobody else held.
void TraceBuilder::add_values(const Record& record) {
  for (int k = 0; k < record.saved_values(); ++k) {
    const SavedValue& saved = record.saved(k);
    if (!saved) continue;
    const auto found = numbers_.find(&OpAccess::node(saved.info()));
    if (found == numbers_.end()) continue;
    TraceNode& node = trace_.nodes[static_cast<std::size_t>(found->second)];
    if (!node.value.exists()) node.value = capture(saved.tensor().clone());
  }
}

void TraceBuilder::set_gradient(const Node& node, const Capture& gradient) {
  trace_.nodes[static_cast<std::size_t>(numbers_.at(&node))].gradient = gradient;
}

void TraceBuilder::add_seeds() {
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (Capture seed = gradient_of(*nodes_[k]); seed.exists())
      trace_.seeds.push_back({static_cast<int>(k), std::move(seed)});
}

Trace TraceBuilder::finish() {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Capture gradient = gradient_of(*nodes_[k]);
    if (gradient.exists()) trace_.nodes[k].gradient = std::move(gradient);
  }
  return std::move(trace_);
}

Trace trace_of(const Tape& tape, const TraceOptions& options) { return TraceBuilder(tape, options).finish(); }

}  // namespace retrace
