// How a model of attention knows where a row stands in the sequence: the choices by name.
#pragma once

#include <span>
#include <string_view>

namespace retrace {

/// none; learned: a trained vector per position is added to each row; sinusoidal: a constant one; rotary and alibi:
/// inside of attention. See nn/layers/positions.h.
enum class RowPositions { none, learned, sinusoidal, rotary, alibi };

/// "none", "learned", "sinusoidal", "rotary" and "alibi", in the order of RowPositions.
std::span<const std::string_view> position_names();
std::string_view name_of(RowPositions positions);

}  // namespace retrace
