// The node that a tensor handle points to, and how long it lives. Behind the wall of core: see core/op_access.h.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <retrace/core/storage.h>
#include <retrace/core/tensor_info.h>

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
struct Node : TensorInfo {
  /// With one handle, and with the caller's reference to the storage.
  Node(Storage* its_storage, void* first, const Shape& its_shape, Dtype its_dtype)
      : TensorInfo(its_shape, its_dtype, first), storage(its_storage) {}

  using TensorInfo::add_handle;
  using TensorInfo::elements;
  using TensorInfo::handles;
  using TensorInfo::remove_handle;
  using TensorInfo::shared;
  std::int32_t tape_references = 0;
  Role role = Role::other;
  bool gradient_used = false;        // an optimiser used the gradient up: the next contribution overwrites it
  bool gradient_given_away = false;  // a backward writes another gradient over it
  bool awaits_gradient = false;      // on a tape whose walk has not passed the record that made it
  Storage* storage;
  Storage* gradient = nullptr;  // as many elements as the node, of the same dtype
  std::uint64_t tape = 0;       // the serial number of the tape that recorded it; 0 for a leaf
  std::string* name = nullptr;

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
void refill_free_nodes();

inline Node* make_node(Storage* storage, void* first, const Shape& shape, Dtype dtype) {
  if (free_nodes == nullptr) [[unlikely]]
    refill_free_nodes();
  FreeNode* place = free_nodes;
  free_nodes = place->next;
  return new (place) Node(storage, first, shape, dtype);
}
/// Gives back what a node holds besides its own memory.
void empty_node(Node* node);
inline void free_node(Node* node) {
  if (node->storage != nullptr || node->gradient != nullptr || node->name != nullptr) empty_node(node);
  free_nodes = new (node) FreeNode{free_nodes};
}

inline void release_gradient(Node* node) {
  if (node->gradient == nullptr) return;
  release(node->gradient);
  node->gradient = nullptr;
  node->gradient_used = false;
}
/// The gradient's elements, to be changed in place: a buffer that others share is copied first.
void own_gradient(Node* node);

inline void retain_on_tape(Node* node) {
  if (node->shared)
    __atomic_fetch_add(&node->tape_references, 1, __ATOMIC_RELAXED);
  else
    ++node->tape_references;
}
void release_shared_from_tape(Node* node);
inline void release_from_tape(Node* node) {
  if (node->shared) [[unlikely]]
    return release_shared_from_tape(node);
  if (--node->tape_references == 0 && node->handles == 0) free_node(node);
}

}  // namespace detail

using detail::Node;
using detail::node_of;

}  // namespace retrace
