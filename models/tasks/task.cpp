#include <retrace/models/tasks/task.h>

#include <retrace/models/nearest_name.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/models/tasks/pair_matching.h>

#include <array>

namespace retrace {

Batch Task::sample(Random& random, std::int64_t count) const {
  if (count < 1) throw ValueError(text(name_, ": a batch of ", count, " samples was asked for; ask for 1 or more"));
  const Shape answers = answer_length() == 1 ? Shape{count} : Shape{count, answer_length()};
  Batch batch{zeros({count, sequence_length(), input_size()}),
              kind_ == TaskKind::classification ? empty(answers, i64) : empty(answers.joined({output_size()}))};
  fill(random, batch);
  return batch;
}

std::span<const std::string_view> task_names() {
  static constexpr std::array<std::string_view, 3> names{"object-tracking", "pair-matching", "babi"};
  return names;
}

std::unique_ptr<Task> make_task(std::string_view name) {
  if (name == "object-tracking") return std::make_unique<ObjectTracking>();
  if (name == "pair-matching") return std::make_unique<PairMatching>();
  if (name == "babi") return std::make_unique<Babi>();
  throw ValueError(unknown_name("make_task", "task", name, task_names()));
}

}  // namespace retrace
