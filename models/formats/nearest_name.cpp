#include <retrace/models/formats/nearest_name.h>

#include <retrace/core/error.h>
#include <retrace/core/printable.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace retrace {
namespace {

/// Levenshtein's distance; `row` holds the distances of a's prefix to every prefix of b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  return *std::min_element(names.begin(), names.end(), [word](std::string_view a, std::string_view b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
}

std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string_view> names) {
  std::string known;
  for (const std::string_view name : names) known += text(known.empty() ? "" : ", ", name);
  return text(function, ": there is no ", kind, " named '", printable(word), "'; did you mean ",
              nearest_name(word, names), " (known: ", known, ")");
}

}  // namespace retrace
