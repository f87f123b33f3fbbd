// Where is the object that was asked for? Objects wander over a grid; each row is a move of one of them.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The length of the stories.
struct ObjectTrackingOptions {
  std::int64_t moves = 10;
  std::int64_t objects = 3;
  std::int64_t grid = 5;
};

/// K objects start anywhere on a G x G grid, unseen. A row is a move of one of them, up, down, left, right or none,
/// held inside the grid: one-hot(K) | x/G | y/G after the move. The last row asks: one-hot(K), zeros. The answer is the
/// last position (x/G, y/G) of the object asked for, even if it was never shown. T = moves + 1, I = K + 2, O = 2.
class ObjectTracking final : public Task {
 public:
  /// Throws ValueError for a size below 1.
  explicit ObjectTracking(const ObjectTrackingOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "objects, moves";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.objects + 2; }
  std::int64_t sequence_length() const override { return options_.moves + 1; }
  std::int64_t output_size() const override { return 2; }
  Baselines baselines() const override;
  /// How often the object asked for was seen, and how many rows ago.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;
  std::string describe_numbers(std::span<const double> answer) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  ObjectTrackingOptions options_;
};

}  // namespace retrace
