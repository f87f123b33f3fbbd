#include <retrace/models/tasks/symbols/sequence_task.h>

namespace retrace {

const SequenceRules& sequence_rules(std::string_view name) {
  for (const auto& tasks : {word_tasks(), recall_tasks()})
    for (const SequenceRules& rules : tasks)
      if (rules.name == name) return rules;
  throw ValueError(text("sequence_rules: there is no task named '", name, "' on symbols of one length"));
}

SequenceTask::SequenceTask(const SequenceRules& rules, const TaskOptions& options)
    : SymbolTask(rules.name, rules.sizes(rules.name.data(), options.or_else(rules.defaults))), rules_(rules) {}

std::vector<Category> SequenceTask::categories(const Example& example, std::int64_t answer) const {
  return rules_.categories(*this, example, answer);
}

std::string SequenceTask::describe_row(const Example& example, std::int64_t t) const {
  return rules_.describe_row(*this, example, t);
}

std::string SequenceTask::describe(const Example& example) const {
  return rules_.describe == nullptr ? Task::describe(example) : rules_.describe(*this, example);
}

std::string SequenceTask::describe_label(std::int64_t label) const {
  return rules_.classes.empty() ? Task::describe_label(label) : std::string(word(rules_.classes, label));
}

std::optional<std::int64_t> SequenceTask::row_to_remember(const Example& example) const {
  return rules_.row_to_remember == nullptr ? std::nullopt : rules_.row_to_remember(*this, example);
}

void SequenceTask::draw(Random& random, std::int64_t, SymbolSample& sample) const {
  sample.clear(sizes().rows, sizes().answers);
  rules_.draw(random, sizes(), sample);
}

}  // namespace retrace
