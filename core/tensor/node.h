// The node that a tensor handle points to, and how long it lives. Internal to core: see core/tensor/op_access.h.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <retrace/core/tensor/storage.h>
#include <retrace/core/tensor/tensor_info.h>

namespace retrace {
namespace detail {

/// How far a leaf is known to be trained.
enum class Role : std::uint8_t {
  other,
  parameter,  // made by parameter(), so an optimiser is expected to update it
  optimized   // belongs to an optimiser
};

/// A node has two counts. While a user handle is left, its value and its gradient can be read. While only a tape refers
/// to it, its shape and, until the walk has passed it, its gradient are all that is needed: the value is given back
/// (records that need it have saved it).
struct alignas(32) Node : TensorInfo {
  /// With one handle, and with the caller's reference to the storage.
  Node(Storage* its_storage, void* first, const Shape& its_shape, Dtype its_dtype)
      : TensorInfo(its_shape, its_dtype, its_storage, first) {}

  using ReferenceCount::handles;
  using ReferenceCount::has_no_handle;
  using ReferenceCount::has_tape_references;
  using TensorInfo::add_handle;
  using TensorInfo::awaits_gradient;
  using TensorInfo::elements;
  using TensorInfo::gradient;
  using TensorInfo::gradient_given_away;
  using TensorInfo::gradient_of_nan;
  using TensorInfo::gradient_used;
  using TensorInfo::in_walk;
  using TensorInfo::remove_handle;
  using TensorInfo::role;
  using TensorInfo::storage;
  using TensorInfo::tape;
  static Node* of(ReferenceCount* count) { return static_cast<Node*>(count); }
  void retain_on_tape() { add(tape_reference); }
  bool release_from_tape() { return remove(tape_reference); }

  std::string* name = nullptr;
  ReferenceCount* next_returned;  // in the list of what other threads return to this one

  template <class T> T* values() const { return static_cast<T*>(elements); }
  template <class T> T* gradient_values() const { return static_cast<T*>(gradient->data()); }
  std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype); }
};

inline Node* node_of(TensorInfo* info) { return static_cast<Node*>(info); }

// Free nodes of this thread, linked through their first word. Nodes are cut from blocks that are never given back, but
// pass to another thread when theirs ends: a tape makes and frees one per op, and a list of one size is the shortest
// path for that.
struct FreeNode {
  FreeNode* next;
};
extern thread_local constinit FreeNode* free_nodes;
/// Throws MemoryError after it gave back a reference to the storage, if there is one: what make_node was given.
void refill_free_nodes(Storage* storage);

/// Takes over a reference to the storage, even if it throws MemoryError.
inline Node* make_node(Storage* storage, void* first, const Shape& shape, Dtype dtype) {
  if (free_nodes == nullptr) [[unlikely]]
    refill_free_nodes(storage);
  FreeNode* place = free_nodes;
  free_nodes = place->next;
  return new (place) Node(storage, first, shape, dtype);
}
/// Gives back what a node holds besides its own memory.
void empty_node(Node* node);
void free_node_for_all(Node* node);
inline void free_node(Node* node) {
  if (node->storage != nullptr || node->gradient != nullptr || node->name != nullptr) empty_node(node);
  free_nodes = new (node) FreeNode{free_nodes};
}

[[gnu::always_inline]] inline void release_gradient(Node* node) {
  if (node->gradient == nullptr) return;
  release(node->gradient);
  node->gradient = nullptr;
  node->gradient_used = false;
  node->gradient_of_nan = false;
}
/// The gradient's elements, to be changed in place: a buffer that others share is copied first.
void own_gradient(Node* node);

inline void retain_on_tape(Node* node) { node->retain_on_tape(); }
inline void release_from_tape(Node* node) {
  if (node->release_from_tape()) free_node(node);
}

}  // namespace detail

using detail::Node;
using detail::node_of;

}  // namespace retrace
