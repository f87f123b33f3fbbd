// A determinant by expansion along the rows. Each minor is computed once: level m holds the minors of the last m rows
// for every set of m columns, and is computed from level m - 1.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

#include <bit>
#include <vector>

namespace retrace::gradbench {
namespace {

/// Where a level of minors finds what it is computed from, for set c and its column j.
struct Level {
  Tensor columns;  // [sets, m], i64: the columns of the set
  Tensor minors;   // [sets m], i64: the place of the set without the column in the level before
  Tensor signs;    // [m]: 1, -1, 1, ...
};

std::vector<Level> levels_of(int size) {
  std::vector<Level> levels;
  std::vector<std::int64_t> place(std::size_t{1} << size);  // of a set in the level of its size
  for (int m = 1; m <= size; ++m) {
    std::vector<std::int64_t> columns, minors;
    std::int64_t sets = 0;
    for (std::size_t set = 0; set < place.size(); ++set) {
      if (std::popcount(set) != m) continue;
      place[set] = sets++;
      for (int column = 0; column < size; ++column)
        if ((set >> column & 1) != 0) {
          columns.push_back(column);
          minors.push_back(place[set & ~(std::size_t{1} << column)]);
        }
    }
    std::vector<double> signs;
    for (int j = 0; j < m; ++j) signs.push_back(j % 2 == 0 ? 1 : -1);
    levels.push_back({indices(std::span<const std::int64_t>(columns), {sets, m}),
                      indices(std::span<const std::int64_t>(minors), {sets * m}),
                      tensor(std::span<const double>(signs), {m}, f64)});
  }
  return levels;
}

Tensor determinant(const Tensor& a, const std::vector<Level>& levels) {
  Tensor minors = ones({1}, f64);
  std::int64_t row = a.dim(0);
  for (const Level& level : levels) {
    const Shape& shape = level.columns.shape();
    const Tensor entries = reshape(take(a[--row], reshape(level.columns, {-1})), shape);
    minors = sum(entries * reshape(take(minors, level.minors), shape) * level.signs, 1);
  }
  return reshape(minors, {});
}

Run prepare(const Input& input, bool gradient) {
  const std::int64_t size = input.integer("ell");
  const Tensor a = reshape(input.tensor("A"), {size, size});
  return [=]() -> Answer {
    const std::vector<Level> levels = levels_of(static_cast<int>(size));
    if (!gradient) return determinant(a, levels);
    return reshape(gradient_of([&](const Tensor& at) { return determinant(at, levels); }, a), {-1});
  };
}
constexpr Function functions[] = {{"primal", [](const Input& input) { return prepare(input, false); }},
                                  {"gradient", [](const Input& input) { return prepare(input, true); }}};

}  // namespace

const Eval det{"det", functions};

}  // namespace retrace::gradbench
