// Tables and paragraphs for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

/// Characters per line, which fit any terminal.
inline constexpr std::size_t text_width = 80;

/// The number of characters of a UTF-8 string.
std::size_t characters(std::string_view words);
/// The beginning of a UTF-8 string: at most so many bytes, without a part of a character.
std::string_view whole_characters(std::string_view words, std::size_t bytes);
/// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

/// The cells of a row; the first row of a table holds the headings.
using Row = std::vector<std::string>;

/// Aligned columns, two spaces apart. `alignment` has one letter per column, l (left) or r (right); its last letter
/// applies to all further columns. A table wider than `width` has its headings broken into lines, the longest first;
/// columns that still do not fit follow below, next to a repeated first column. Cells are never cut. The first row must
/// not be empty.
std::string text_table(const std::vector<Row>& rows, std::string_view alignment, std::string_view indent = "",
                       std::size_t width = text_width);

/// The words in lines of at most `width` characters, each with a line end. A longer word gets a line of its own.
std::string wrapped(std::string_view words, std::string_view indent = "", std::size_t width = text_width);

}  // namespace retrace
