// For those who write ops: how an op puts itself on the tape.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include <retrace/core/tape.h>

namespace retrace {

struct NoAttributes {};

/// Puts an op on the current tape, if there is one and an input wants a gradient: from then on the outputs do, too.
/// Only the values in `saved` can be read in backward; an op saves what its formula needs and no more.
template <class Attributes = NoAttributes>
void record(const OpInfo& op, BackwardFunction backward, TensorRefs inputs, TensorRefs outputs, TensorRefs saved = {},
            const Attributes& attributes = {}) {
  void (*destroy)(void*) = nullptr;
  if constexpr (!std::is_trivially_destructible_v<Attributes>)
    destroy = [](void* place) { static_cast<Attributes*>(place)->~Attributes(); };
  static_assert(alignof(Attributes) <= 16 && std::is_nothrow_copy_constructible_v<Attributes>);
  constexpr std::size_t bytes = std::is_empty_v<Attributes> ? 0 : sizeof(Attributes);
  void* place = Tape::record({op, backward, inputs, outputs, saved, bytes, destroy});
  if constexpr (bytes > 0)
    if (place != nullptr) new (place) Attributes(attributes);
}

/// The values of x in a tensor that may be written over: in the buffer of x, if this handle is the last to it and no
/// tape keeps them, or else in a copy. Cut off the tape.
Tensor to_write_over(const Tensor& x);

/// Whether fused ops are to record their composed twins (TapeOptions::expand_fused of the current tape).
bool expand_fused();

}  // namespace retrace
