// A tensor without its elements: shape, dtype, whether it wants a gradient.
#pragma once

#include <cstdint>

#include <retrace/core/dtype.h>
#include <retrace/core/shape.h>

namespace retrace {

/// A record describes its inputs and outputs by this. It lives as long as the tape, even where the values do not, and
/// its address tells one tensor from another.
///
/// This is the front of a node, which is all that a handle reads in place. Storage, gradient and references of the tape
/// follow it in core/node.h, which no header for users includes.
class TensorInfo {
 public:
  TensorInfo(const TensorInfo&) = delete;
  TensorInfo& operator=(const TensorInfo&) = delete;
  std::int64_t numel() const { return shape.numel(); }

  Shape shape;
  Dtype dtype;
  bool wants_gradient = false;  // whether backward passes a gradient to it

 protected:
  friend class Tensor;
  /// With one handle.
  TensorInfo(const Shape& its_shape, Dtype its_dtype, void* first)
      : shape(its_shape), dtype(its_dtype), elements(first) {}
  ~TensorInfo() = default;

  void add_handle() {
    if (shared)
      __atomic_fetch_add(&handles, 1, __ATOMIC_RELAXED);
    else
      ++handles;
  }
  void remove_handle() {
    const std::int32_t left = shared ? __atomic_sub_fetch(&handles, 1, __ATOMIC_ACQ_REL) : --handles;
    if (left == 0) drop_values();
  }

  bool shared = false;  // read by several threads: counts are atomic
  std::int32_t handles = 1;
  void* elements;  // null: nobody held the values, and they were given back

 private:
  /// The last handle went: gives back what only users could read.
  void drop_values();
};

}  // namespace retrace
