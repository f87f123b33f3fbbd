// The lines of a card: step_card.h.
#include <retrace/models/formats/text_table.h>
#include <retrace/models/study/terminal/step_card.h>

#include <algorithm>
#include <string>
#include <vector>

namespace retrace {
namespace {

using Lines = std::vector<std::string>;

std::string painted(const std::string& words, const char* code, const ArrayStyle& style) {
  return style.colour ? text("\x1b[", code, "m", words, "\x1b[0m") : words;
}

/// An array of the card: its title, then its numbers.
Lines lines_of_array(const StepCard::Array& array, const ArrayStyle& style) {
  ArrayStyle narrower = style;
  narrower.columns -= 4;
  Lines lines{"  " + array.title};
  for (const std::string& line : lines_of(numbers_text(*array.capture, narrower, *array.row_names)))
    lines.push_back("    " + line);
  return lines;
}

/// How many lines each array may have, so that together they have `lines`, and short ones stay whole.
std::vector<std::size_t> shares_of(const std::vector<Lines>& arrays, std::size_t lines) {
  std::vector<std::size_t> shares(arrays.size(), 0);
  for (bool given = true; given && lines > 0;) {
    given = false;
    for (std::size_t k = 0; k < arrays.size() && lines > 0; ++k) {
      if (shares[k] == arrays[k].size()) continue;
      ++shares[k], --lines;
      given = true;
    }
  }
  return shares;
}

/// Cuts the arrays to `lines` lines together; the last line says so.
void cut(std::vector<Lines>& arrays, std::size_t lines) {
  std::size_t all = 0, hidden = 0;
  for (const Lines& array : arrays) all += array.size();
  if (all <= lines) return;
  const std::vector<std::size_t> shares = shares_of(arrays, lines - 1);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const std::size_t left_out = arrays[k].size() - shares[k];
    hidden += left_out;
    arrays[k].resize(shares[k]);
    if (left_out > 0 && shares[k] > 0) arrays[k].front() += " (cut)";
  }
  arrays.push_back({text("  ... ", hidden, " lines left out; v NAME shows a tensor, i the inputs, g the gradients")});
}

/// A line of at most that many characters.
std::string cut_line(const std::string& line, int columns) {
  if (line.size() <= static_cast<std::size_t>(columns)) return line;
  return text(whole_characters(line, static_cast<std::size_t>(columns) - 3), "...");
}

}  // namespace

std::string to_text(const StepCard& card, const ArrayStyle& style) {
  const bool fits = style.lines > 0;
  const auto fitting = [&](const std::string& line) { return fits ? cut_line(line, style.columns) : line; };
  std::string result = painted(fitting(card.heading), "1", style) + "\n";
  int used = 1;
  for (const std::string& line : card.lines)
    for (const std::string& part :
         fits ? lines_of(wrapped(line, "  ", static_cast<std::size_t>(style.columns))) : Lines{"  " + line}) {
      result += fitting(part) + "\n";
      ++used;
    }
  std::vector<Lines> arrays;
  for (const StepCard::Array& array : card.arrays) arrays.push_back(lines_of_array(array, style));
  if (fits) cut(arrays, static_cast<std::size_t>(std::max(2, style.lines - used)));
  for (std::size_t k = 0; k < arrays.size(); ++k)
    for (std::size_t n = 0; n < arrays[k].size(); ++n) {
      const bool is_title = n == 0 && k < card.arrays.size();
      const char* colour = is_title && card.arrays[k].is_gradient ? "33" : "36";  // yellow, cyan
      const std::string line = fitting(arrays[k][n]);
      result += (is_title ? painted(line, colour, style) : line) + "\n";
    }
  return result;
}

}  // namespace retrace
