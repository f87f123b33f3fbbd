#include <retrace/models/tasks/task.h>

namespace retrace {

Batch Task::sample(Random& random, std::int64_t count) const {
  if (count < 1) throw ValueError(text(name_, ": a batch of ", count, " samples was asked for; ask for 1 or more"));
  const Shape answers = answer_length() == 1 ? Shape{count} : Shape{count, answer_length()};
  Batch batch{zeros({count, sequence_length(), input_size()}),
              kind_ == TaskKind::classification ? empty(answers, i64) : empty(answers.joined({output_size()}))};
  fill(random, batch);
  return batch;
}

std::string Task::describe(const Example& example) const {
  std::string lines;
  for (std::int64_t t = 0; t < example.length(); ++t)
    if (const std::string row = describe_row(example, t); !row.empty())
      lines += text(lines.empty() ? "" : "\n", t + 1, ": ", row);
  return lines;
}

}  // namespace retrace
