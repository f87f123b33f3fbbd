// The state of a model after some rows of a sequence, from which it goes on.
#pragma once

#include <cstddef>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// A model keeps this of the rows that it has read: h and c, a memory, the keys and values of each block, or the rows
/// themselves. Empty at first.
struct SequenceState {
  Tensors parts;

  /// A copy through which no gradient flows back, for the next segment of truncated backpropagation.
  SequenceState detach() const;
  /// The parts; of an empty state, as many undefined tensors. Throws ShapeError if it has not `count` parts.
  Tensors take(std::size_t count) const;
};

/// Answers after every row of a segment, and the state after the last.
struct Continued {
  Tensor answers;  // [B, T, O]
  SequenceState state;
};

}  // namespace retrace
