#include <algorithm>
#include <cstring>
#include <utility>

#include <retrace/core/backward_walk.h>
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

void own_gradient(Node* node) {
  if (node->gradient->references == 1) return;
  Storage* copy = allocate_storage(node->bytes());
  std::memcpy(copy->data(), node->gradient->data(), node->bytes());
  release(node->gradient);
  node->gradient = copy;
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

// A lent gradient has the reference of its owner, too, so it is never free.
inline bool Record::is_gradient_free(const Node& output) const {
  return outputs_end_here_ && output.handles == 0 && output.gradient != nullptr && output.gradient->references == 1;
}

bool Record::begin_gradient_in_place(Node* input, Node* output) {
  if (input->gradient != nullptr || !is_gradient_free(*output)) return begin_gradient(input);
  output->gradient_given_away = true;
  input->gradient = std::exchange(output->gradient, nullptr);
  return false;
}

Tensor Record::tensor_in_place(int j) {
  Node& output = *nodes()[inputs_ + j];
  if (!is_gradient_free(output)) return empty(output.shape, output.dtype);
  const Tensor tensor = Tensor::over(output.gradient, 0, output.shape, output.dtype);
  output.gradient = nullptr;
  output.gradient_given_away = true;
  return tensor;
}

void Record::check_not_given_away(int j) const {
  if (nodes()[inputs_ + j]->gradient_given_away) [[unlikely]]
    throw TapeError(text("backward: ", op_->name, " asked for the gradient of output ", j,
                         " after flow() had given its buffer away; call flow() last"));
}

bool Record::begin_zeroed_gradient(Node* node) {
  if (!begin_gradient(node)) std::memset(node->gradient->data(), 0, node->bytes());
  return true;
}

void Record::take_gradient(Node* node, Storage* values, std::int64_t offset, bool keep) {
  if (keep && offset == 0 && (node->gradient == nullptr || node->gradient_used)) {
    release_gradient(node);
    node->gradient_used = false;
    retain(values);
    node->gradient = values;  // shared: whoever adds to it next copies it first
    return;
  }
  const bool add = begin_gradient(node);
  dispatch_real(node->dtype, "backward", [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(values->data()) + offset;
    GradientSlot<T>{node->gradient_values<T>(), add}.put(node->numel(), [=](std::int64_t k) { return from[k]; });
  });
}

// Shared only if no user sees both.
void Record::pass(int j, int i) {
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

void Record::add(int i, const Tensor& contribution) {
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

// A large cotangent is read where it is, if nobody but the caller's list holds the output: a copy would cost as much as
// many ops. The walk passes it on to no other node.
void BackwardWalk::put_cotangent(Node* node, const Tensor& cotangent) {
  Storage* values = cotangent.node().storage;
  const bool can_be_lent = node->handles == 1 && node->gradient == nullptr && cotangent.node().offset == 0 &&
                           !values->shared && !values->lent;
  Record::take_gradient(node, values, cotangent.node().offset, can_be_lent);
  if (!can_be_lent) return;
  values->lent = true;
  lent_.push_back(cotangent);
}

}  // namespace retrace
