// How tensors are handed to record(): without touching their counts.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

namespace detail {
class Recorder;
}

/// Tensors handed to record(): addresses in braces ({&a, &b}; null stands for "not needed" among the saved), or a list.
/// Both lie in memory as the addresses of nodes, null for an undefined tensor. The braces live until the end of the
/// call that they are an argument of, and no TensorRefs lives longer.
class TensorRefs {
 public:
  class Place {
   public:
    Place(const Tensor* x) : node_(x == nullptr ? nullptr : x->node_) {}

   private:
    friend class TensorRefs;
    TensorInfo* node_;
  };
  TensorRefs() = default;
  TensorRefs(std::initializer_list<Place> braces) : TensorRefs(std::span(braces)) {}
  TensorRefs(const Tensors& list) : first_(list.empty() ? nullptr : &list.front().node_), count_(list.size()) {}
  std::size_t size() const { return count_; }

 private:
  friend class detail::Recorder;
  static_assert(sizeof(Place) == sizeof(TensorInfo*) && sizeof(Tensor) == sizeof(TensorInfo*));

  explicit TensorRefs(std::span<const Place> places)
      : first_(places.empty() ? nullptr : &places.front().node_), count_(places.size()) {}
  TensorInfo* operator[](std::size_t i) const { return first_[i]; }

  TensorInfo* const* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace retrace
