// Sequences of different lengths as one batch.
#pragma once

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Sequences as one tensor, and where each ends.
struct PaddedBatch {
  Tensor values;   // [B, T, I], T the longest: zeros after the end of a sequence
  Tensor mask;     // [B, T], i64: 1 where a sequence has a row, 0 after its end
  Tensor lengths;  // [B], i64; padding_mask(lengths, T) hides the rows where mask is 0 from attention
};

/// Sequences [length, I], any lengths (0, too), one I and one dtype. Not recorded. Throws ValueError for no sequence,
/// ShapeError and DtypeError for sequences that do not fit the first one.
PaddedBatch pad(const Tensors& sequences);

}  // namespace retrace
