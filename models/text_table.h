// Tables and paragraphs for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

/// Characters of a line: what every terminal has.
inline constexpr std::size_t text_width = 80;

/// The cells of a row; the first row of a table has the headings.
using Row = std::vector<std::string>;

/// Aligned columns, two spaces apart. `alignment` has a letter for each column, l (left) or r (right); its last letter
/// is that of all further columns. Where the table would be wider than `width`, headings are broken into lines, the
/// longest first, and columns that still find no room follow below, behind the first column once more. Cells are never
/// cut. The first row is not empty.
std::string text_table(const std::vector<Row>& rows, std::string_view alignment, std::string_view indent = "",
                       std::size_t width = text_width);

/// The words in lines of at most `width` characters, each with its end. A longer word has a line of its own.
std::string wrapped(std::string_view words, std::string_view indent = "", std::size_t width = text_width);

}  // namespace retrace
