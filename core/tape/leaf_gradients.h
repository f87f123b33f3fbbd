// A backward that throws, or is left before its end, changes nothing: leaves get back the gradients that they had.
#pragma once

#include <utility>
#include <vector>

#include <retrace/core/tensor/memory.h>

namespace retrace {

class TensorInfo;
namespace detail {
struct Storage;
}

/// The leaves that a walk has given gradients, and what they had before.
class LeafGradients {
 public:
  LeafGradients() = default;
  LeafGradients(const LeafGradients&) = delete;
  LeafGradients& operator=(const LeafGradients&) = delete;
  ~LeafGradients() { keep(); }

  /// Before the first contribution to the gradient of a leaf. A gradient that it is added to stays as it is from here
  /// on, because its buffer is shared: who adds to it copies it first.
  void remember(TensorInfo* leaf);
  /// The walk is of a loss that is NaN: keep() marks the gradients.
  void are_of_nan() { of_nan_ = true; }
  /// The gradients of the walk are valid.
  void keep();
  /// They are not: leaves get back what they had. (A gradient that an optimiser had used up is dropped.)
  [[gnu::cold]] void give_back();

 private:
  struct Before {
    TensorInfo* leaf;  // held by the tape
    detail::Storage* gradient;
  };
  std::vector<Before, PoolAllocator<Before>> leaves_;
  bool of_nan_ = false;
};

/// Those of the walk that runs a backward function on this thread.
extern thread_local constinit LeafGradients* gradients_of_walk;

/// Makes these the gradients of the walk until the end of the block.
class WalkScope {
 public:
  explicit WalkScope(LeafGradients& gradients) : outer_(std::exchange(gradients_of_walk, &gradients)) {}
  ~WalkScope() { gradients_of_walk = outer_; }
  WalkScope(const WalkScope&) = delete;
  WalkScope& operator=(const WalkScope&) = delete;

 private:
  LeafGradients* outer_;
};

}  // namespace retrace
