// What a tensor handle points to, and how long it lives.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <retrace/core/dtype.h>
#include <retrace/core/shape.h>
#include <retrace/core/storage.h>

namespace retrace {

/// A node has two counts. While a user handle is left, its value and its gradient can be read. While only a tape refers
/// to it, its shape and, until the walk has passed it, its gradient are all that is needed: the value is given back
/// (records that need it have saved it).
struct Node {
  std::int32_t handles = 0;
  std::int32_t tape_references = 0;
  Storage* storage = nullptr;
  std::int64_t offset = 0;      // of the first element in the storage, in elements
  Storage* gradient = nullptr;  // as many elements as the node, of the same dtype
  std::uint64_t tape = 0;       // the serial number of the tape that recorded it; 0 for a leaf
  std::string* name = nullptr;
  Dtype dtype = f32;
  bool wants_gradient = false;
  bool gradient_used = false;        // an optimiser used the gradient up: the next contribution overwrites it
  bool gradient_given_away = false;  // a backward writes another gradient over it
  bool awaits_gradient = false;      // on a tape whose walk has not passed the record that made it
  bool shared = false;               // read by several threads: counts are atomic
  bool is_parameter = false;         // made by parameter(), so an optimiser is expected to update it
  bool has_optimizer = false;        // belongs to an optimiser
  Shape shape;

  std::int64_t numel() const { return shape.numel(); }
  template <class T> T* values() const { return static_cast<T*>(storage->data()) + offset; }
  template <class T> T* gradient_values() const { return static_cast<T*>(gradient->data()); }
  std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype); }
};

namespace detail {
// Free nodes of this thread, linked through their first word. Nodes are cut from blocks that are never given back, but
// pass to another thread when theirs ends: a tape makes and frees one an op, and a list of one size is the shortest
// path for that.
struct FreeNode {
  FreeNode* next;
};
extern thread_local constinit FreeNode* free_nodes;
void refill_free_nodes();
}  // namespace detail

/// A node with one handle, which takes over the caller's reference to the storage.
inline Node* make_node(Storage* storage, std::int64_t offset, const Shape& shape, Dtype dtype) {
  if (detail::free_nodes == nullptr) [[unlikely]]
    detail::refill_free_nodes();
  detail::FreeNode* place = detail::free_nodes;
  detail::free_nodes = place->next;
  return new (place) Node{.handles = 1, .storage = storage, .offset = offset, .dtype = dtype, .shape = shape};
}
/// The last user handle went: gives back what only users could read.
void drop_values(Node* node);
void free_node(Node* node);
void release_gradient(Node* node);
/// The gradient's elements, to be changed in place: a buffer that others share is copied first.
void own_gradient(Node* node);

inline void retain_handle(Node* node) {
  if (node->shared)
    __atomic_fetch_add(&node->handles, 1, __ATOMIC_RELAXED);
  else
    ++node->handles;
}
inline void release_handle(Node* node) {
  const std::int32_t left = node->shared ? __atomic_sub_fetch(&node->handles, 1, __ATOMIC_ACQ_REL) : --node->handles;
  if (left == 0) drop_values(node);
}
inline void retain_on_tape(Node* node) {
  if (node->shared)
    __atomic_fetch_add(&node->tape_references, 1, __ATOMIC_RELAXED);
  else
    ++node->tape_references;
}
void release_from_tape(Node* node);

}  // namespace retrace
