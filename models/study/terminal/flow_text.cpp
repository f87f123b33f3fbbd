#include <retrace/core/base/printable.h>
#include <retrace/models/study/terminal/flow_text.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace retrace {
namespace {

constexpr double vanished = 1e-3;       // of the largest
constexpr std::int64_t max_steps = 64;  // in the table; of a longer sequence the first and the last ones
constexpr double decades = 4.5;         // from the first to the last character of the ramp

std::string size_text(double number) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.3g", without_nan_sign(number));
  return buffer.data();
}

std::string padded(const std::string& words, std::size_t width) {
  return (words.size() < width ? std::string(width - words.size(), ' ') : std::string()) + words;
}

/// The norms in columns, as many as fit.
std::string norms_table(const std::vector<const GradientFlow::Norms*>& rows, std::int64_t times,
                        const ArrayStyle& style) {
  constexpr std::size_t width = 11;
  const std::size_t fitting = static_cast<std::size_t>(std::max(1, (style.columns - 8) / static_cast<int>(width)));
  std::string result;
  for (std::size_t first = 0; first < rows.size(); first += fitting) {
    const std::size_t end = std::min(rows.size(), first + fitting);
    std::string line = padded("t", 8);
    for (std::size_t k = first; k < end; ++k) line += padded(printable(rows[k]->name).substr(0, width - 1), width);
    result += line + "\n";
    for (const std::int64_t t : shown_positions(times, max_steps)) {
      if (t < 0) {
        result += padded("...", 8) + "\n";
        continue;
      }
      line = padded(std::to_string(t), 8);
      for (std::size_t k = first; k < end; ++k)
        line += padded(t < std::ssize(rows[k]->values) ? size_text(rows[k]->values[static_cast<std::size_t>(t)]) : "",
                       width);
      result += line + "\n";
    }
  }
  return result;
}

double largest_of(const std::vector<std::vector<double>>& matrix) {
  double largest = 0;
  for (const std::vector<double>& row : matrix)
    for (const double norm : row)
      if (std::isfinite(norm)) largest = std::max(largest, norm);
  return largest;
}

/// From 0 to 1 on a log scale; what is not 0 stays above 0.
double level_of(double norm, double largest) {
  if (!std::isfinite(norm) || norm == 0) return norm;
  return std::max(1 + std::log10(norm / largest) / decades, 1e-9);
}

std::string matrix_text(const GradientFlow& flow, const ArrayStyle& style) {
  if (flow.matrix.empty())
    return text(
        "\n|d ", printable(flow.title),
        "_t / d x_s| was left out: it takes too many vector-Jacobian\n  products, one per element of each state; "
        "fewer steps or a smaller state show it\n");
  const double largest = largest_of(flow.matrix);
  const std::vector<std::int64_t> shown = shown_positions(flow.times, (style.columns - 14) / 2);
  std::string result = text("\n|d ", printable(flow.title), "_t / d x_s|: t down, s from 0 on the left\n");
  for (const std::int64_t t : shown) {
    if (t < 0) {
      result += padded("...", 8) + "\n";
      continue;
    }
    result += padded(std::to_string(t), 8) + " ";
    for (const std::int64_t s : shown)
      result +=
          s < 0 ? " ..."
                : heat_cell(level_of(flow.matrix[static_cast<std::size_t>(t)][static_cast<std::size_t>(s)], largest), 1,
                            style.colour);
    result += "\n";
  }
  return result +
         text("  \"", heat_ramp, "\" on a log scale, in steps of 3.2 up to ", size_text(largest), "; blank is 0\n  ",
              sentence_of({text("|d ", flow.title, "_", flow.times - 1, " / d x_s|"), flow.matrix.back()}), "\n");
}

}  // namespace

std::string sentence_of(const GradientFlow::Norms& norms) {
  const std::string name = printable(norms.name);
  const auto wrong = std::ranges::find_if_not(norms.values, [](double norm) { return std::isfinite(norm); });
  if (wrong != norms.values.end())
    return text(name, " is ", size_text(*wrong), " at step ", wrong - norms.values.begin());
  const auto first = norms.values.begin(), largest = std::max_element(first, norms.values.end());
  if (largest == norms.values.end() || *largest == 0) return name + ": nothing flows back";
  if (largest == first) return text(name, " is largest at the first step: ", size_text(*largest));
  const std::string size = text(size_text(*largest), " at step ", largest - first);
  auto place = largest;
  while (place != first && *(place - 1) >= vanished * *largest) --place;
  if (place == first)
    return text(name, " is largest, ", size, "; at the first step it is ", size_text(*first / *largest), " of that");
  // Nothing has vanished where the loss does not read a step: of an attention it may read only the last one.
  if (std::all_of(first, place, [](double norm) { return norm == 0; }))
    return text(name, " is largest, ", size, ", and exactly 0 before step ", place - first);
  return text(name, " vanishes: at step ", place - first - 1, " it is below 1/1000 of its largest, ", size);
}

std::string to_text(const std::vector<GradientFlow>& flows, const ArrayStyle& style) {
  std::vector<const GradientFlow::Norms*> rows;
  for (const GradientFlow& flow : flows)
    for (const GradientFlow::Norms& norms : flow.norms) rows.push_back(&norms);
  if (rows.empty()) return "";
  std::string result = "gradient flow: |d loss / d h_t| by step t\n" + norms_table(rows, flows.front().times, style);
  for (const GradientFlow::Norms* norms : rows) result += text("  ", sentence_of(*norms), "\n");
  for (const GradientFlow& flow : flows)
    if (flow.title != "x") result += matrix_text(flow, style);
  return result;
}

}  // namespace retrace
