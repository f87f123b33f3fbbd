#include <retrace/core/tape/leaf_gradients.h>

#include <retrace/core/tensor/node.h>

namespace retrace {

thread_local constinit LeafGradients* gradients_of_walk = nullptr;

void LeafGradients::remember(TensorInfo* info) {
  Node* const leaf = node_of(info);
  if (leaf->in_walk) return;
  const bool waits = leaf->gradient != nullptr && !leaf->gradient_used;
  leaves_.push_back({leaf, waits ? leaf->gradient : nullptr});
  if (waits) retain(leaf->gradient);
  leaf->in_walk = true;
}

void LeafGradients::keep() {
  for (const Before& before : leaves_) {
    node_of(before.leaf)->in_walk = false;
    if (of_nan_) node_of(before.leaf)->gradient_of_nan = true;
    if (before.gradient != nullptr) release(before.gradient);
  }
  leaves_.clear();
}

void LeafGradients::give_back() {
  for (const Before& before : leaves_) {
    Node* const leaf = node_of(before.leaf);
    leaf->in_walk = false;
    const bool of_nan = before.gradient != nullptr && leaf->gradient_of_nan;
    release_gradient(leaf);
    leaf->gradient = before.gradient;
    leaf->gradient_of_nan = of_nan;
  }
  leaves_.clear();
}

}  // namespace retrace
