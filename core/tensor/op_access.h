// The door in the wall of core: the only header that shows nodes, storage and counts. Included by core, by ops, which
// fill their results through it, by op loops in which the checks of values() are measurable, and by tests of internals.
// nn, models and programs use the public functions of tensors, tapes and records.
#pragma once

#include <retrace/core/tensor/node.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Reaches through handles and records to nodes. Tensors have to be defined.
class OpAccess {
 public:
  static Node& node(const Tensor& x) { return *node_of(x.node_); }
  static const Node& node(const TensorInfo& info) { return static_cast<const Node&>(info); }
  /// The elements of a tensor of type T, for reading or for filling in a new one: no check, no count of the change.
  template <class T> static T* values(const Tensor& x) { return node(x).values<T>(); }
  /// One more handle to a node.
  static Tensor handle(Node& node) {
    node.add_handle();
    return Tensor(&node);
  }
  /// A tensor of its own over part of a storage, whose reference it takes over, even if it throws MemoryError.
  static Tensor over(Storage* storage, void* first, const Shape& shape, Dtype dtype) {
    return Tensor(detail::make_node(storage, first, shape, dtype));
  }
};

}  // namespace retrace
