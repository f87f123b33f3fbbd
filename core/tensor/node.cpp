#include <retrace/core/tensor/node.h>

#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

namespace retrace {
namespace detail {

thread_local constinit FreeNode* free_nodes = nullptr;

namespace {

// Nodes left by threads that ended. Never destroyed: tensors may outlive every static object.
struct Orphans {
  std::mutex mutex;
  FreeNode* nodes = nullptr;
};
Orphans& orphans() {
  static Orphans* const instance = new Orphans;
  return *instance;
}

constexpr int nodes_at_a_time = 64;

// A part of them: threads that start together each find some.
void adopt_orphans() {
  const std::lock_guard lock(orphans().mutex);
  for (int k = 0; k < nodes_at_a_time && orphans().nodes != nullptr; ++k) {
    FreeNode* const node = std::exchange(orphans().nodes, orphans().nodes->next);
    node->next = std::exchange(free_nodes, node);
  }
}

void find_or_make_nodes() {
  begin_counting();
  take_back_returned();
  if (free_nodes != nullptr) return;
  adopt_orphans();
  if (free_nodes != nullptr) return;
  std::byte* place = static_cast<std::byte*>(allocate_storage(nodes_at_a_time * sizeof(Node))->data());
  for (int k = 0; k < nodes_at_a_time; ++k, place += sizeof(Node)) free_nodes = new (place) FreeNode{free_nodes};
}

}  // namespace

void refill_free_nodes(Storage* storage) {
  try {
    find_or_make_nodes();
  } catch (...) {
    if (storage != nullptr) release(storage);
    throw;
  }
}

void free_node_for_all(Node* node) {
  empty_node(node);
  const std::lock_guard lock(orphans().mutex);
  orphans().nodes = new (node) FreeNode{orphans().nodes};
}

namespace {

void hand_over_nodes() {
  const std::lock_guard lock(orphans().mutex);
  while (FreeNode* node = free_nodes) {
    free_nodes = node->next;
    node->next = orphans().nodes;
    orphans().nodes = node;
  }
}

}  // namespace

void hand_over_all() {
  hand_over_nodes();
  hand_over_blocks();
}

ReferenceCount*& ReferenceCount::next_returned() {
  return counted_ == Counted::node ? Node::of(this)->next_returned : static_cast<Storage*>(this)->next_returned;
}

void ReferenceCount::free_by_owner() {
  others_.store(0, std::memory_order_relaxed);
  if (counted_ == Counted::node)
    free_node(Node::of(this));
  else
    free_storage(static_cast<Storage*>(this));
}

// Its memory goes to whoever needs it next: this thread may be one that only drops what others make.
void ReferenceCount::free_for_all() {
  others_.store(0, std::memory_order_relaxed);
  if (counted_ == Counted::node)
    free_node_for_all(Node::of(this));
  else
    free_storage_for_all(static_cast<Storage*>(this));
}

void empty_node(Node* node) {
  static_assert(std::is_trivially_destructible_v<Node>);
  if (node->storage != nullptr) release(node->storage);
  release_gradient(node);
  delete node->name;
}

}  // namespace detail

void TensorInfo::drop_values() {
  Node* node = node_of(this);
  if (!node->has_tape_references()) {
    free_node(node);
    return;
  }
  if (node->storage != nullptr) release(node->storage);
  node->storage = nullptr;
  node->elements = nullptr;
  if (!node->awaits_gradient) release_gradient(node);
}

}  // namespace retrace
