// Answers of any sequence model to sequences of different lengths.
//
// A batch of such sequences is padded to the longest. The model runs once per length that occurs, on the samples of
// that length without their padding, so that no number after the end of a sequence is ever read: a sample's answer has
// the same bits as without padding, whatever the model is. Batches of similar lengths take few runs (Dataset draws such
// batches).
#pragma once

#include <retrace/models/networks/sequence_model.h>

namespace retrace {

/// Throws ShapeError unless lengths is i64 [B] for x [B, T, I], IndexError unless each is from 1 to T.
void check_lengths(const char* function, const Tensor& x, const Tensor& lengths);

/// x [B, T, I], of which sample b has lengths[b] rows -> the answers after each sample's own last row [B, O]. In
/// training, dropout draws from `random`. Throws as check_lengths does.
Tensor answers_at_ends(const SequenceModel& model, const Tensor& x, const Tensor& lengths, Random* random = nullptr);
/// The answers after every row [B, T, O]; zeros after the end of a sequence. Throws as check_lengths does.
Tensor answers_to_all_rows(const SequenceModel& model, const Tensor& x, const Tensor& lengths,
                           Random* random = nullptr);

}  // namespace retrace
