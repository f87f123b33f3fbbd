#include <retrace/core/record.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <retrace/core/no_memory.h>

namespace retrace {
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

}  // namespace

Tensor SavedValue::tensor() const {
  retain(storage);
  return Tensor::over(storage, offset, node->shape, node->dtype);
}

Formulas Record::formulas() const {
  if (op_->formulas_of_call != nullptr) return op_->formulas_of_call(*this);
  return {op_->forward, op_->backward};
}

bool Record::begin_gradient(Node* node) {
  if (node->gradient == nullptr) {
    node->gradient = allocate_gradient(*node);
    return false;
  }
  if (!node->gradient_used) {
    own_gradient(node);
    return true;
  }
  node->gradient_used = false;
  if (node->gradient->references > 1) {  // somebody still reads the last one
    release_gradient(node);
    node->gradient = allocate_gradient(*node);
  }
  return false;
}

// A lent gradient has the reference of its owner, too.
inline bool Record::is_gradient_free(const Node& output) const {
  return outputs_end_here_ && output.handles == 0 && output.gradient != nullptr && output.gradient->references == 1;
}

bool Record::begin_gradient_in_place(Node* input, Node* output) {
  if (input->gradient != nullptr || !is_gradient_free(*output)) return begin_gradient(input);
  input->gradient = std::exchange(output->gradient, nullptr);
  return false;
}

Tensor Record::room_in_place(int j) {
  Node& output = *nodes()[inputs_ + j];
  if (!is_gradient_free(output)) return empty(output.shape, output.dtype);
  const Tensor room = Tensor::over(output.gradient, 0, output.shape, output.dtype);
  output.gradient = nullptr;
  return room;
}

void Record::begin_zeroed_gradient(Node* node) {
  if (!begin_gradient(node)) std::memset(node->gradient->data(), 0, node->bytes());
}

void Record::take_gradient(Node* to, Storage* values, std::int64_t offset, bool keep) {
  if (keep && offset == 0 && (to->gradient == nullptr || to->gradient_used)) {
    release_gradient(to);
    to->gradient_used = false;
    retain(values);
    to->gradient = values;  // shared: whoever adds to it next copies it first
    return;
  }
  const bool add = begin_gradient(to);
  dispatch_real(to->dtype, "backward", [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(values->data()) + offset;
    GradientSlot<T>{to->gradient_values<T>(), add}.put(to->numel(), [=](std::int64_t k) { return from[k]; });
  });
}

// What a user can see shares its buffer with nothing else that he can see: he may change it.
void Record::pass_gradient(int j, int i) {
  const Node& from = *nodes()[inputs_ + j];
  Node* to = nodes()[i];
  const bool is_seen_alone = to->handles == 0 || (from.handles == 0 && from.gradient->references == 1);
  take_gradient(to, from.gradient, 0, is_seen_alone && !from.gradient->lent);
}

std::int64_t Record::inputs_with_gradient(const Storage* values) const {
  std::int64_t count = 0;
  for (Node** node = nodes(); node != nodes() + inputs_; ++node)
    if ((*node)->gradient == values && std::find(nodes(), node, *node) == node) ++count;
  return count;
}

void Record::add_gradient(int i, const Tensor& contribution) {
  const Node& input = in(i);
  if (contribution.shape() != input.shape)
    throw ShapeError(text(op_->name, ": backward gave a gradient of shape ", contribution.shape(), " for input ", i,
                          " of shape ", input.shape, "; they must be the same"));
  if (contribution.dtype() != input.dtype)
    throw DtypeError(text(op_->name, ": backward gave a gradient of dtype ", contribution.dtype(), " for input ", i,
                          " of dtype ", input.dtype, "; they must be the same"));
  const Node& part = contribution.node();
  const auto only_inputs_took_it = [&] { return part.storage->references == 1 + inputs_with_gradient(part.storage); };
  const bool can_be_taken =
      part.handles == 1 && (part.storage->references == 1 || (input.handles == 0 && only_inputs_took_it()));
  take_gradient(nodes()[i], part.storage, part.offset, can_be_taken);
}

}  // namespace retrace
