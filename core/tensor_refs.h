// How tensors are handed to record(): without touching their counts.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <retrace/core/tensor.h>

namespace retrace {

/// Tensors handed to record(): addresses in braces ({&a, &b}; null stands for "not needed" among the saved), or a list.
/// A place among them is a node, null for an undefined tensor.
class TensorRefs {
 public:
  struct Place {
    Place(const Tensor* x) : node(x == nullptr ? nullptr : x->node_or_null()) {}
    Node* node;
  };
  TensorRefs() = default;
// The braces live until the end of the call that they are an argument of, and no TensorRefs lives longer.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  TensorRefs(std::initializer_list<Place> braces) : first_(&braces.begin()->node), count_(braces.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  // A tensor is the address of its node and nothing else.
  TensorRefs(const Tensors& list) : first_(reinterpret_cast<Node* const*>(list.data())), count_(list.size()) {}
  std::size_t size() const { return count_; }
  Node* operator[](std::size_t i) const { return first_[i]; }

 private:
  static_assert(sizeof(Place) == sizeof(Node*) && sizeof(Tensor) == sizeof(Node*));
  Node* const* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace retrace
