#include <retrace/models/formats/text_table.h>
#include <retrace/models/study/terminal/array_text.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

namespace retrace {
namespace {

using Strings = std::vector<std::string>;

constexpr std::int64_t max_rows = 12;     // of a matrix that is not cut
constexpr std::int64_t max_matrices = 8;  // of a higher rank

std::vector<double> elements_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    std::vector<double> result;
    for (const auto element : x.values<decltype(zero)>()) result.push_back(static_cast<double>(element));
    return result;
  });
}

std::string number_text(double number, Dtype dtype) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  if (number == 0) return "0";  // -0, too
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), dtype == i64 ? "%.0f" : "%.4g", number);
  return buffer.data();
}

/// A tensor as matrices: all axes but the last two are counted through.
struct Matrices {
  std::int64_t count, rows, columns;
  Shape outer;

  explicit Matrices(const Shape& shape)
      : count(1),
        rows(shape.rank() < 2 ? 1 : shape[-2]),
        columns(shape.rank() < 1 ? 1 : shape[-1]),
        outer(shape.first(std::max(0, shape.rank() - 2))) {
    count = outer.numel();
  }
  /// "[1, 0, :, :]"
  std::string index_of(std::int64_t matrix) const {
    std::string index = ":, :]";
    for (int axis = outer.rank() - 1; axis >= 0; --axis) {
      index = text(matrix % outer[axis], ", ", index);
      matrix /= outer[axis];
    }
    return "[" + index;
  }
};

/// Calls draw(first element) for every matrix, with its index before it.
std::string each_matrix(const Matrices& matrices, const std::function<std::string(std::int64_t)>& draw) {
  std::string result;
  for (std::int64_t m = 0; m < std::min(matrices.count, max_matrices); ++m) {
    if (matrices.count > 1) result += matrices.index_of(m) + "\n";
    result += draw(m * matrices.rows * matrices.columns);
  }
  if (matrices.count > max_matrices) result += text("... and ", matrices.count - max_matrices, " more matrices\n");
  return result;
}

std::string nothing_text() { return "(nothing held)\n"; }

std::string statistics_text(const Statistics& all) {
  std::string result = text("not captured: min ", all.min, ", max ", all.max, ", mean ", all.mean, ", norm ", all.norm);
  if (all.nans > 0) result += text(", ", all.nans, " NaN");
  if (all.infinities > 0) result += text(", ", all.infinities, " infinite");
  return result + "; its first elements:\n";
}

/// The names of rows in a column of their own, on the left; without names it has no width.
struct RowNames {
  Strings cells = {};
  std::size_t width = 0;

  explicit RowNames(const Strings& names) {
    constexpr std::size_t longest = 32;
    for (const std::string& name : names) {
      cells.push_back(name.size() <= longest ? name : text(whole_characters(name, longest), "..."));
      width = std::max(width, cells.back().size());
    }
  }
  std::string of(std::int64_t row) const {
    if (cells.empty()) return {};
    const std::string& name = cells[static_cast<std::size_t>(row)];
    return name + std::string(width - name.size(), ' ');
  }
};

/// Of the finite elements.
double largest_size(const std::vector<double>& elements) {
  double largest = 0;
  for (const double element : elements)
    if (std::isfinite(element)) largest = std::max(largest, std::abs(element));
  return largest;
}

std::string cell_of(double element, double largest) {
  if (std::isnan(element)) return " X";
  if (std::isinf(element)) return element > 0 ? " I" : "-I";
  const double part = largest > 0 ? std::abs(element) / largest : 0;
  std::size_t step = static_cast<std::size_t>(std::lround(part * static_cast<double>(heat_ramp.size() - 1)));
  if (step == 0 && element != 0) step = 1;  // small is not zero
  return {element < 0 ? '-' : ' ', heat_ramp[step]};
}

/// Orange for positive, blue for negative, the lighter the smaller; the characters say the same.
std::string coloured(const std::string& cell, double element, double largest) {
  if (!std::isfinite(element)) return text("\x1b[7m", cell, "\x1b[0m");
  static constexpr std::array<int, 6> positive{231, 223, 216, 209, 202, 166}, negative{231, 153, 111, 69, 33, 25};
  const double part = largest > 0 ? std::abs(element) / largest : 0;
  const std::size_t step = static_cast<std::size_t>(std::lround(part * 5));
  const int background = element < 0 ? negative[step] : positive[step];
  return text("\x1b[38;5;", step < 3 ? 16 : 231, ";48;5;", background, "m", cell, "\x1b[0m");
}

}  // namespace

std::vector<std::int64_t> shown_positions(std::int64_t extent, std::int64_t limit) {
  std::vector<std::int64_t> positions;
  const std::int64_t edge = std::max<std::int64_t>(1, limit / 2);
  for (std::int64_t k = 0; k < extent; ++k) {
    if (extent > limit && k == edge) {
      positions.push_back(-1);
      k = extent - edge;
    }
    positions.push_back(k);
  }
  return positions;
}

std::string heat_cell(double element, double largest, bool colour) {
  const std::string cell = cell_of(element, largest);
  return colour ? coloured(cell, element, largest) : cell;
}

std::string numbers_text(const Capture& capture, const ArrayStyle& style, const std::vector<std::string>& row_names) {
  if (!capture.exists()) return nothing_text();
  const Tensor& x = capture.values;
  const std::vector<double> elements = elements_of(x);
  if (elements.empty()) return text("(empty ", x.shape(), ")\n");
  std::vector<std::string> cells;
  std::size_t width = 1;
  for (const double element : elements) {
    cells.push_back(number_text(element, x.dtype()));
    width = std::max(width, cells.back().size());
  }
  const Matrices matrices(x.shape());
  const RowNames names(std::ssize(row_names) == matrices.rows && !capture.statistics ? row_names : Strings());
  const std::int64_t room = style.columns - static_cast<std::int64_t>(names.width),
                     of_cell = static_cast<std::int64_t>(width + 2), of_dots = 5;
  const std::int64_t per_line = std::max<std::int64_t>(2, std::min(room / of_cell - 1, (room - of_dots) / of_cell));
  const auto draw = [&](std::int64_t first) {
    std::string result;
    for (const std::int64_t row : shown_positions(matrices.rows, max_rows)) {
      if (row < 0) {
        result += text("  ... ", matrices.rows - max_rows, " more rows\n");
        continue;
      }
      std::string line = names.of(row);
      for (const std::int64_t column : shown_positions(matrices.columns, per_line)) {
        const std::string cell =
            column < 0 ? "..." : cells[static_cast<std::size_t>(first + row * matrices.columns + column)];
        line += text(std::string(column < 0 ? 2 : width + 2 - cell.size(), ' '), cell);
      }
      result += line + "\n";
    }
    return result;
  };
  return (capture.statistics ? statistics_text(*capture.statistics) : std::string()) + each_matrix(matrices, draw);
}

std::string heat_map_text(const Capture& capture, const ArrayStyle& style) {
  if (!capture.exists()) return nothing_text();
  const Tensor& x = capture.values;
  const std::vector<double> elements = elements_of(x);
  if (elements.empty()) return text("(empty ", x.shape(), ")\n");
  const double largest = largest_size(elements);
  const Matrices matrices(x.shape());
  const auto draw = [&](std::int64_t first) {
    std::string result;
    for (const std::int64_t row : shown_positions(matrices.rows, 2 * max_rows)) {
      result += "  ";
      if (row < 0) {
        result += text("... ", matrices.rows - 2 * max_rows, " more rows\n");
        continue;
      }
      for (const std::int64_t column : shown_positions(matrices.columns, (style.columns - 8) / 2)) {
        if (column < 0) {
          result += " ...";
          continue;
        }
        result += heat_cell(elements[static_cast<std::size_t>(first + row * matrices.columns + column)], largest,
                            style.colour);
      }
      result += "\n";
    }
    return result;
  };
  return (capture.statistics ? statistics_text(*capture.statistics) : std::string()) + each_matrix(matrices, draw) +
         text("  \"", heat_ramp, "\" is |x| from 0 to ", largest,
              std::ranges::all_of(elements, [](double element) { return std::isfinite(element); })
                  ? "\n"
                  : "; X is NaN, I and -I are infinite\n");
}

}  // namespace retrace
