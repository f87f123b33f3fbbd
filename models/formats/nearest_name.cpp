#include <retrace/models/formats/nearest_name.h>

#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>

#include <algorithm>
#include <limits>
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

/// Those with the smallest distance from a word, in their order.
std::vector<std::string_view> nearest_names(std::string_view word, std::span<const std::string_view> names) {
  std::vector<std::string_view> nearest;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance > smallest) continue;
    if (distance < smallest) nearest.clear();
    smallest = distance;
    nearest.push_back(name);
  }
  return nearest;
}

std::vector<std::string_view> views_of(std::span<const std::string> names) { return {names.begin(), names.end()}; }

}  // namespace

std::string joined(std::span<const std::string_view> names) {
  std::string result;
  for (const std::string_view name : names) result += text(result.empty() ? "" : ", ", printable(name));
  return result;
}

std::string joined(std::span<const std::string> names) { return joined(views_of(names)); }

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  return nearest_names(word, names).front();
}

std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string_view> names, std::string_view list, std::string_view known) {
  constexpr std::size_t few = 16, most = 3;
  std::vector<std::string_view> nearest = nearest_names(word, names);
  const bool are_few = names.size() <= few;
  nearest.resize(std::min(nearest.size(), are_few ? 1 : most));
  const std::string others = !known.empty() ? text("known: ", known)
                             : are_few      ? "known: " + joined(names)
                             : list.empty() ? text("of ", names.size(), " names")
                                            : text(list, " lists all ", names.size());
  return text(function, ": there is no ", kind, " named '", printable(word), "'; did you mean ", joined(nearest), " (",
              others, ")");
}

std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string> names, std::string_view list) {
  return unknown_name(function, kind, word, views_of(names), list);
}

std::string some_of(std::span<const std::string> names) {
  constexpr std::size_t most = 16;
  const auto first = names.first(std::min(names.size(), most));
  const std::string list = joined(first);
  return names.size() > most ? text(list, ", ... (", names.size(), " in all)") : list;
}

}  // namespace retrace
