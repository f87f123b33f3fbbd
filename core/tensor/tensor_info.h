// A tensor without its elements: shape, dtype, whether it wants a gradient.
#pragma once

#include <cstdint>

#include <retrace/core/tensor/dtype.h>
#include <retrace/core/tensor/reference_count.h>
#include <retrace/core/tensor/shape.h>

namespace retrace {
namespace detail {
struct Storage;
enum class Role : std::uint8_t;
}  // namespace detail

/// A record describes its inputs and outputs by this. It lives as long as the tape, even where the values do not, and
/// its address tells one tensor from another.
///
/// This is a node, as far as headers for users show it: core/tensor/node.h has the rest. Everything that a handle and a
/// tape touch for each op lies before the shape, in one line of the cache.
class TensorInfo : protected detail::ReferenceCount {
 public:
  TensorInfo(const TensorInfo&) = delete;
  TensorInfo& operator=(const TensorInfo&) = delete;
  std::int64_t numel() const { return shape.numel(); }

  Dtype dtype;
  bool wants_gradient = false;  // whether backward passes a gradient to it

 protected:
  detail::Role role{};
  bool gradient_used = false;        // an optimiser used the gradient up: the next contribution overwrites it
  bool gradient_given_away = false;  // a backward writes another gradient over it
  bool awaits_gradient = false;      // on a tape whose walk has not passed the record that made it
  bool in_walk : 1 = false;          // a leaf that the walk has given a gradient
  bool gradient_of_nan : 1 = false;  // the loss of the gradient was NaN; in the last byte of the first 32
  void* elements;                    // null: nobody held the values, and they were given back
  detail::Storage* storage;
  detail::Storage* gradient = nullptr;  // as many elements as the node, of the same dtype
  std::uint64_t tape = 0;               // the serial number of the tape that recorded it; 0 for a leaf

 public:
  Shape shape;

 protected:
  friend class Tensor;
  /// With one handle.
  TensorInfo(const Shape& its_shape, Dtype its_dtype, detail::Storage* its_storage, void* first)
      : ReferenceCount(Counted::node), dtype(its_dtype), elements(first), storage(its_storage), shape(its_shape) {}
  ~TensorInfo() = default;

  void add_handle() { add(handle); }
  void remove_handle() {
    if (!is_private()) [[unlikely]]
      remove_shared(handle);
    else if (remove_private_handle())
      drop_values();
  }

 private:
  /// The last handle of a private count went: gives back what only users could read.
  void drop_values();
};

}  // namespace retrace
