#include <retrace/models/networks/row_positions.h>

#include <array>

namespace retrace {

std::span<const std::string_view> position_names() {
  static constexpr std::array<std::string_view, 5> names{"none", "learned", "sinusoidal", "rotary", "alibi"};
  return names;
}

std::string_view name_of(RowPositions positions) { return position_names()[static_cast<std::size_t>(positions)]; }

}  // namespace retrace
