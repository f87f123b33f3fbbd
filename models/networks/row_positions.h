// How a model of attention knows where a row stands in the sequence: the choices by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <retrace/nn/layers/multi_head_attention.h>
#include <retrace/nn/layers/positions.h>

namespace retrace {

/// none; learned: a trained vector per position is added to each row; sinusoidal: a constant one; rotary and alibi:
/// inside of attention. See nn/layers/positions.h.
enum class RowPositions { none, learned, sinusoidal, rotary, alibi };

/// "none", "learned", "sinusoidal", "rotary" and "alibi", in the order of RowPositions.
std::span<const std::string_view> position_names();
std::string_view name_of(RowPositions positions);

/// The positions that attention itself takes into account.
AttentionPositions in_attention(RowPositions positions);
/// The trained vectors [longest, size], normal with deviation 0.1 at first, if positions are learned. Throws
/// ShapeError, naming the model, for a size that is negative or too large.
std::optional<Parameter> learned_positions(const char* model, RowPositions positions, std::int64_t longest,
                                           std::int64_t size, Random& random);
/// rows [B, T, size] plus the vectors of the positions from `first` on, if they are learned or sinusoidal.
Tensor with_positions(const Tensor& rows, RowPositions positions, const std::optional<Parameter>& learned,
                      std::int64_t first);

}  // namespace retrace
