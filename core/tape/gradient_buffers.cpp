#include <algorithm>
#include <cstring>
#include <utility>

#include <retrace/core/tape/leaf_gradients.h>
#include <retrace/core/tape/record.h>
#include <retrace/core/tensor/no_memory.h>
#include <retrace/core/tensor/op_access.h>

namespace retrace {

using detail::take_gradient;

namespace {

[[noreturn]] void throw_no_gradient(const Node& node) {
  throw_no_memory("backward", text("the gradient of ", node.name == nullptr ? "a tensor" : *node.name), node.shape,
                  node.dtype);
}

inline Storage* allocate_gradient(const Node& node) {
  try {
    return allocate_storage(node.bytes());
  } catch (const MemoryError&) {
    throw_no_gradient(node);
  }
}

// Before each contribution to a gradient.
inline void note_contribution(Node* node) {
  if (node->tape == 0 && !node->in_walk) [[unlikely]]
    gradients_of_walk->remember(node);
}

// Whether to add to what the gradient holds.
bool begin(Node* node) {
  note_contribution(node);
  if (node->gradient == nullptr) {
    node->gradient = allocate_gradient(*node);
    return false;
  }
  if (!node->gradient_used) {
    own_gradient(node);
    return true;
  }
  node->gradient_used = false;
  if (!node->gradient->is_only_handle()) {  // somebody still reads the last one
    release_gradient(node);
    node->gradient = allocate_gradient(*node);
  }
  return false;
}

// A lent gradient has the reference of its owner, too, so it is never free.
inline bool is_gradient_free(const Node& output, bool outputs_end_here) {
  return outputs_end_here && output.has_no_handle() && output.gradient != nullptr && output.gradient->is_only_handle();
}

// How many of a record's inputs have these values as their gradient.
std::int64_t inputs_with_gradient(TensorInfo* const* inputs, int count, const Storage* values) {
  std::int64_t found = 0;
  for (TensorInfo* const* input = inputs; input != inputs + count; ++input)
    if (node_of(*input)->gradient == values && std::find(inputs, input, *input) == input) ++found;
  return found;
}

}  // namespace

void detail::take_gradient(TensorInfo* info, Storage* values, const void* first, bool keep) {
  Node* const node = node_of(info);
  if (keep && first == values->data() && (node->gradient == nullptr || node->gradient_used)) {
    note_contribution(node);
    release_gradient(node);
    node->gradient_used = false;
    retain(values);
    node->gradient = values;  // shared: whoever adds to it next copies it first
    return;
  }
  const bool add = begin(node);
  dispatch_real(node->dtype, "backward", [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(first);
    GradientSlot<T>{node->gradient_values<T>(), add}.put(node->numel(), [=](std::int64_t k) { return from[k]; });
  });
}

void detail::own_gradient(Node* node) {
  if (node->gradient->is_only_handle()) return;
  Storage* copy = allocate_storage(node->bytes());
  std::memcpy(copy->data(), node->gradient->data(), node->bytes());
  release(node->gradient);
  node->gradient = copy;
}

bool Record::has_grad_out(int j) const { return node_of(nodes_[inputs_ + j])->gradient != nullptr; }

const void* Record::gradient_of_output(int j) const {
  const Node& output = *node_of(nodes_[inputs_ + j]);
  if (output.gradient != nullptr) return output.gradient->data();
  if (output.gradient_given_away) [[unlikely]]
    throw_given_away(j);
  return nullptr;
}

void Record::throw_given_away(int j) const {
  throw TapeError(text("backward: ", op_->name, " asked for the gradient of output ", j,
                       " after flow() had given its buffer away; call flow() last"));
}

Record::Begun Record::begin_gradient(int i) {
  Node* input = node_of(nodes_[i]);
  const bool add = begin(input);
  return {input->gradient->data(), add};
}

Record::Begun Record::begin_noted_gradient(int i) {
  const Begun begun = begin_gradient(i);
  if (!begun.add) RequestOrder::note_begun(i, nodes_[i]);
  return begun;
}

Record::Begun Record::begin_zeroed_gradient(int i) {
  Node* input = node_of(nodes_[i]);
  if (!begin(input)) std::memset(input->gradient->data(), 0, input->bytes());
  return {input->gradient->data(), true};
}

Record::FlowPlaces Record::begin_flow_apart(int i, int j) {
  const void* dy = gradient_of_output(j);
  return {dy, begin_gradient(i)};
}

Record::FlowPlaces Record::begin_flow(int i, int j) {
  Node *input = node_of(nodes_[i]), *output = node_of(nodes_[inputs_ + j]);
  if (input->gradient != nullptr || !is_gradient_free(*output, outputs_end_here_)) return begin_flow_apart(i, j);
  note_contribution(input);
  output->gradient_given_away = true;
  input->gradient = std::exchange(output->gradient, nullptr);
  return {input->gradient->data(), {input->gradient->data(), false}};
}

Tensor Record::tensor_in_place(int j) {
  Node& output = *node_of(nodes_[inputs_ + j]);
  if (!is_gradient_free(output, outputs_end_here_)) return empty(output.shape, output.dtype);
  Storage* gradient = std::exchange(output.gradient, nullptr);
  output.gradient_given_away = true;
  return OpAccess::over(gradient, gradient->data(), output.shape, output.dtype);
}

Tensor Record::tensor_over_saved(int k) {
  SavedValue& value = saved_list_[k];
  Storage* storage = value.storage_;
#ifndef NDEBUG
  RequestOrder::note_given_away(k, value);
#endif
  if (!outputs_end_here_ || !storage->is_only_handle() || value.elements_ != storage->data())
    return empty(value.shape(), value.dtype());
  value.storage_ = nullptr;
  return OpAccess::over(storage, value.elements_, value.shape(), value.dtype());
}

// Shared only if no user sees both.
void Record::pass(int j, int i) {
  const Node& from = *node_of(nodes_[inputs_ + j]);
  Node* to = node_of(nodes_[i]);
  const bool is_seen_alone = to->has_no_handle() || (from.has_no_handle() && from.gradient->is_only_handle());
  take_gradient(to, from.gradient, from.gradient->data(), is_seen_alone && !from.gradient->lent);
}

void Record::add(int i, const Tensor& contribution) {
  Node& input = *node_of(nodes_[i]);
  if (contribution.shape() != input.shape)
    throw ShapeError(text(op_->name, ": backward gave a gradient of shape ", contribution.shape(), " for input ", i,
                          " of shape ", input.shape, "; they must be the same"));
  if (contribution.dtype() != input.dtype)
    throw DtypeError(text(op_->name, ": backward gave a gradient of dtype ", contribution.dtype(), " for input ", i,
                          " of dtype ", input.dtype, "; they must be the same"));
  const Node& part = OpAccess::node(contribution);
  const auto only_inputs_took_it = [&] {
    return part.storage->handles() == 1 + inputs_with_gradient(nodes_, inputs_, part.storage);
  };
  const bool can_be_taken =
      part.handles() == 1 && (part.storage->is_only_handle() || (input.has_no_handle() && only_inputs_took_it()));
  take_gradient(&input, part.storage, part.elements, can_be_taken);
}

}  // namespace retrace
