#include <retrace/models/tasks/object_tracking.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace retrace {
namespace {

struct Cell {
  std::int64_t x;
  std::int64_t y;
};

constexpr std::array<Cell, 5> moves{{{0, 1}, {0, -1}, {-1, 0}, {1, 0}, {0, 0}}};

Cell step_to(Cell from, Cell move, std::int64_t grid) {
  return {std::clamp(from.x + move.x, std::int64_t{0}, grid - 1),
          std::clamp(from.y + move.y, std::int64_t{0}, grid - 1)};
}

}  // namespace

ObjectTracking::ObjectTracking(const ObjectTrackingOptions& options)
    : Task("object-tracking", TaskKind::regression), options_(options) {
  if (options.moves < 1 || options.objects < 1 || options.grid < 1)
    throw ValueError(text("object-tracking: ", options.moves, " moves of ", options.objects, " objects on a grid of ",
                          options.grid, " are not a task; every size is 1 or more"));
  check_memory("object-tracking", "a sample",
               {checked_sum("object-tracking", "moves + 1", {options.moves, 1}),
                checked_sum("object-tracking", "objects + 2", {options.objects, 2})});
}

std::unique_ptr<Task> ObjectTracking::make(const TaskOptions& given) {
  ObjectTrackingOptions options;
  options.objects = given.objects.value_or(options.objects);
  options.moves = given.moves.value_or(options.moves);
  return std::make_unique<ObjectTracking>(options);
}

Baselines ObjectTracking::baselines() const {
  // Positions stay uniform over the grid, so a coordinate k/G has the variance (G^2 - 1) / (12 G^2). Two independent
  // guesses differ by twice that; only the position of an object that was never shown cannot be known.
  const auto cells = static_cast<double>(options_.grid);
  const double variance = (cells * cells - 1) / (12 * cells * cells);
  const double never_shown =
      std::pow(1 - 1 / static_cast<double>(options_.objects), static_cast<double>(options_.moves));
  const bool is_original = options_.objects == 3 && options_.moves == 10 && options_.grid == 5;
  return {.chance = 2 * variance,
          .trivial = variance,
          .trivial_answer = "always the middle",
          .ceiling = never_shown * variance,
          .original = is_original ? std::optional(0.081) : std::nullopt};
}

void ObjectTracking::fill(Random& random, const Batch& batch) const {
  const auto [steps, objects, grid] = options_;
  dispatch_real(batch.x.dtype(), "object-tracking", [&, steps = steps, objects = objects, grid = grid](auto zero) {
    using T = decltype(zero);
    const auto place = [grid](std::int64_t k) {
      return static_cast<T>(static_cast<double>(k) / static_cast<double>(grid));
    };
    std::vector<Cell, PoolAllocator<Cell>> positions(static_cast<std::size_t>(objects));
    T* row = batch.x.mutable_values<T>().data();
    T* answer = batch.y.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, answer += 2) {
      for (Cell& position : positions) position = {random.integer(grid), random.integer(grid)};
      for (std::int64_t step = 0; step < steps; ++step, row += objects + 2) {
        const std::int64_t object = random.integer(objects);
        Cell& position = positions[static_cast<std::size_t>(object)];
        position = step_to(position, moves[static_cast<std::size_t>(random.integer(moves.size()))], grid);
        row[object] = 1;
        row[objects] = place(position.x);
        row[objects + 1] = place(position.y);
      }
      const std::int64_t asked = random.integer(objects);
      row[asked] = 1;
      row += objects + 2;
      answer[0] = place(positions[static_cast<std::size_t>(asked)].x);
      answer[1] = place(positions[static_cast<std::size_t>(asked)].y);
    }
  });
}

std::int64_t ObjectTracking::topic(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), 0, options_.objects));
}

std::optional<std::int64_t> ObjectTracking::row_to_remember(const Example& example) const {
  for (std::int64_t t = options_.moves - 1; t >= 0; --t)
    if (topic(example, t) == topic(example, options_.moves)) return t;
  return std::nullopt;
}

std::vector<Category> ObjectTracking::categories(const Example& example, std::int64_t) const {
  std::int64_t seen = 0;
  for (std::int64_t t = 0; t < options_.moves; ++t) seen += topic(example, t) == topic(example, options_.moves) ? 1 : 0;
  const std::optional<std::int64_t> last = row_to_remember(example);
  return {{"moves of the object", seen, seen == 0 ? "never shown: a guess" : ""},
          {"rows since its last move", last ? options_.moves - *last : options_.moves + 1, last ? "" : "never shown"}};
}

std::string ObjectTracking::describe_row(const Example& example, std::int64_t t) const {
  if (t == options_.moves) return text("where is object ", topic(example, t), "?");
  return text("object ", topic(example, t), " is at ", describe_numbers(columns(example.row(t), options_.objects, 2)));
}

std::string ObjectTracking::describe_numbers(std::span<const double> answer) const {
  const auto cells = static_cast<double>(options_.grid);
  const std::array<double, 2> place{answer[0] * cells, answer[1] * cells};
  return text("(", written(place), ")");
}

}  // namespace retrace
