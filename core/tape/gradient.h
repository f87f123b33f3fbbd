// Where the gradients of a backward go, and who owns their buffers.
//
// The rule: a buffer is written only by the node that holds its one reference. Nodes may share the buffer of a gradient
// that is the same for all of them (Record::pass, Record::add); the next one to add to it copies it first. Users may
// change the gradients that they see, so of the nodes that share a buffer at most one has a handle. A backward writes
// over the gradient of its output (Record::flow) only if the walk looks at it no more (it neither keeps nor steps), no
// handle is left by which a user could read it, and no other node or tensor refers to the buffer. A cotangent that is
// lent to the walk stays its owner's: the owner's reference keeps it from being written, and it is shared with no
// input.
#pragma once

#include <cstdint>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Where a gradient goes. The first contribution writes (add is false), later ones add.
template <class T> struct GradientSlot {
  T* values;
  bool add;

  /// values[k] = or += contribution(k) for k in [0, count).
  template <class Contribution> void put(std::int64_t count, Contribution&& contribution) const {
    T* const to = values;
    if (add) {
      for (std::int64_t k = 0; k < count; ++k) to[k] += contribution(k);
    } else {
      for (std::int64_t k = 0; k < count; ++k) to[k] = contribution(k);
    }
  }
  /// values[k] = or += contribution.
  void put_at(std::int64_t k, T contribution) const { values[k] = add ? values[k] + contribution : contribution; }
  /// The slot of the elements from `first` on.
  GradientSlot from(std::int64_t first) const { return {values + first, add}; }
};

/// The gradient of an output (null if nothing flowed back to it), and where that of an input goes. See Record::flow.
template <class T> struct Flow {
  const T* dy;
  GradientSlot<T> dx;
};
/// The gradient of an output, and a tensor of its shape for what is made of it. See Record::flow_to_tensor.
template <class T> struct TensorFlow {
  const T* dy;
  Tensor tensor;
};

/// How the gradient of an input begins: fresh is for those who write every element at once, in_turn for those who ask
/// for several inputs first and then write them in this order, zeroed for those who add to some elements.
enum class Begin { fresh, in_turn, zeroed };

namespace detail {
struct Storage;
/// Adds these values to the gradient of a node. With `keep`, values that come first become the gradient itself, without
/// a copy.
void take_gradient(TensorInfo* node, Storage* values, const void* first, bool keep);
}  // namespace detail

}  // namespace retrace
