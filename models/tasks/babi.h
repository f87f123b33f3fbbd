// Where is the ball? Agents move between places and take the ball from each other.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// Which stories are told.
struct BabiOptions {
  bool held_only = false;  // no story in which nobody took the ball: every answer follows from its story
  std::int64_t facts = 5;  // maximum in a story
};

/// A story of 2 to F facts (F = 5) about 4 agents, 4 places and a ball. A fact is, with probability 0.7, "an agent
/// moved to a place", else "an agent that has a place took the ball" (a blank row while nobody has one). A row is
/// one-hot(agents and ball) | one-hot(places) | moved, took | question. The last row asks for the ball. The answer is
/// the place of the agent that took it last, wherever that agent went since; of a random agent that has one, if nobody
/// took it; place 0, if nobody has one. T = F + 1, I = 12, O = 4 classes.
class Babi final : public Task {
 public:
  static constexpr std::int64_t agents = 4;
  static constexpr std::int64_t places = 4;

  /// Throws ValueError for less than 2 facts.
  explicit Babi(const BabiOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "held-only, facts";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return agents + 1 + places + 3; }
  std::int64_t sequence_length() const override { return options_.facts + 1; }
  std::int64_t output_size() const override { return places; }
  /// Known for stories of the default length; simulated for others.
  Baselines baselines() const override;
  /// The number of facts, whether anybody took the ball, and how often its holder has moved since.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe_label(std::int64_t label) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;
  Baselines simulated_baselines() const;

  BabiOptions options_;
};

}  // namespace retrace
