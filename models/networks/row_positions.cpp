#include <retrace/models/networks/row_positions.h>

#include <array>

namespace retrace {

std::span<const std::string_view> position_names() {
  static constexpr std::array<std::string_view, 5> names{"none", "learned", "sinusoidal", "rotary", "alibi"};
  return names;
}

std::string_view name_of(RowPositions positions) { return position_names()[static_cast<std::size_t>(positions)]; }

AttentionPositions in_attention(RowPositions positions) {
  if (positions == RowPositions::rotary) return AttentionPositions::rotary;
  return positions == RowPositions::alibi ? AttentionPositions::alibi : AttentionPositions::none;
}

std::optional<Parameter> learned_positions(const char* model, RowPositions positions, std::int64_t longest,
                                           std::int64_t size, Random& random) {
  if (positions != RowPositions::learned) return std::nullopt;
  return Parameter(random.normal(parameter_shape(model, "positions", {longest, size}), 0, 0.1));
}

Tensor with_positions(const Tensor& rows, RowPositions positions, const std::optional<Parameter>& learned,
                      std::int64_t first) {
  if (learned) return rows + slice(*learned, {range(first, first + rows.dim(1))});
  return positions == RowPositions::sinusoidal ? SinusoidalPositions()(rows, first) : rows;
}

}  // namespace retrace
