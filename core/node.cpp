#include <retrace/core/node.h>

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

struct HandOver {
  ~HandOver() {
    const std::lock_guard lock(orphans().mutex);
    while (FreeNode* node = free_nodes) {
      free_nodes = node->next;
      node->next = orphans().nodes;
      orphans().nodes = node;
    }
  }
};

FreeNode* adopt_orphans() {
  const std::lock_guard lock(orphans().mutex);
  return std::exchange(orphans().nodes, nullptr);
}

}  // namespace

void refill_free_nodes() {
  thread_local HandOver at_exit;
  static_cast<void>(at_exit);
  free_nodes = adopt_orphans();
  if (free_nodes != nullptr) return;
  constexpr std::size_t nodes_a_block = 64;
  std::byte* place = static_cast<std::byte*>(allocate_storage(nodes_a_block * sizeof(Node))->data());
  for (std::size_t k = 0; k < nodes_a_block; ++k) free_nodes = new (place + k * sizeof(Node)) FreeNode{free_nodes};
}

void release_shared_from_tape(Node* node) {
  const std::int32_t left = __atomic_sub_fetch(&node->tape_references, 1, __ATOMIC_ACQ_REL);
  if (left == 0 && node->handles == 0) free_node(node);
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
  if (node->tape_references == 0) {
    free_node(node);
    return;
  }
  if (node->storage != nullptr) release(node->storage);
  node->storage = nullptr;
  node->elements = nullptr;
  if (!node->awaits_gradient) release_gradient(node);
}

}  // namespace retrace
