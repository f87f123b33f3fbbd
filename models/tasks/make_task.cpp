// The tasks by name.
#include <retrace/models/networks/registry.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/execute.h>
#include <retrace/models/tasks/graph_reachability.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/models/tasks/pair_matching.h>
#include <retrace/models/tasks/parity.h>
#include <retrace/models/tasks/recall.h>
#include <retrace/models/tasks/recite.h>

#include <algorithm>
#include <array>
#include <utility>

namespace retrace {
namespace {

using Made = std::unique_ptr<Task>;

struct Entry {
  std::string_view name;
  std::string_view options;  // of TaskOptions, that it has
  Made (*make)(const TaskOptions&);
};

void set(std::int64_t& option, std::int64_t given) {
  if (given != 0) option = given;
}

Made make_pair_matching(const TaskOptions& given) {
  PairMatchingOptions options;
  set(options.length, given.length);
  return std::make_unique<PairMatching>(options);
}

template <Recital recital> Made make_recite(const TaskOptions& given) {
  ReciteOptions options;
  set(options.length, given.length);
  return std::make_unique<Recite>(recital, options);
}

Made make_recall(const TaskOptions& given) {
  RecallOptions options;
  set(options.pairs, given.length);
  return std::make_unique<Recall>(options);
}

Made make_parity(const TaskOptions& given) {
  ParityOptions options;
  set(options.length, given.length);
  return std::make_unique<Parity>(options);
}

Made make_adding(const TaskOptions& given) {
  AddingOptions options;
  set(options.length, given.length);
  return std::make_unique<Adding>(options);
}

Made make_nth_farthest(const TaskOptions& given) {
  NthFarthestOptions options;
  set(options.vectors, given.vectors);
  set(options.dims, given.dims);
  return std::make_unique<NthFarthest>(options);
}

Made make_execute(const TaskOptions& given) {
  ExecuteOptions options;
  if (!given.program.empty()) options.program = program_kind(given.program);
  set(options.length, given.length);
  set(options.nesting, given.nesting);
  return std::make_unique<Execute>(options);
}

template <class T> Made make_fixed(const TaskOptions&) { return std::make_unique<T>(); }

constexpr std::array entries{
    Entry{"object-tracking", "", make_fixed<ObjectTracking>},
    Entry{"pair-matching", "length", make_pair_matching},
    Entry{"babi", "held-only",
          [](const TaskOptions& given) -> Made { return std::make_unique<Babi>(BabiOptions{given.held_only}); }},
    Entry{"graph-reachability", "", make_fixed<GraphReachability>},
    Entry{"copy", "length", make_recite<Recital::copy>},
    Entry{"reverse", "length", make_recite<Recital::reverse>},
    Entry{"double", "length", make_recite<Recital::twice>},
    Entry{"recall", "length", make_recall},
    Entry{"parity", "length", make_parity},
    Entry{"adding", "length", make_adding},
    Entry{"nth-farthest", "vectors dims", make_nth_farthest},
    Entry{"execute", "program length nesting", make_execute},
};

constexpr auto names = [] {
  std::array<std::string_view, entries.size()> result;
  std::ranges::transform(entries, result.begin(), &Entry::name);
  return result;
}();

/// Throws ValueError for an option that the task, which has the options in the list, does not have.
void check_options(std::string_view task, std::string_view has, const TaskOptions& given) {
  const std::array<std::pair<std::string_view, bool>, 6> options{{
      {"vectors", given.vectors != 0},
      {"dims", given.dims != 0},
      {"program", !given.program.empty()},
      {"length", given.length != 0},
      {"nesting", given.nesting != 0},
      {"held-only", given.held_only},
  }};
  for (const auto& [name, is_given] : options)
    if (is_given && has.find(name) == std::string_view::npos)
      throw ValueError(text("make_task: the task '", task, "' has no option '", name,
                            "' (it has: ", has.empty() ? "none" : has, "); leave it out"));
}

Registry<TaskFactory>& registered() {
  static Registry<TaskFactory> tasks("register_task", "make_task", "task", names);
  return tasks;
}

}  // namespace

void register_task(std::string_view name, TaskFactory factory) {
  if (!factory) throw ValueError(text("register_task: the factory of '", name, "' is empty; give a function"));
  registered().add(name, std::move(factory));
}

std::span<const std::string_view> task_names() { return registered().names().all(); }

std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options) {
  const auto* entry = std::ranges::find(entries, name, &Entry::name);
  if (entry != entries.end()) {
    check_options(name, entry->options, options);
    return entry->make(options);
  }
  const TaskFactory& make = registered().find(name);
  check_options(name, "", options);
  std::unique_ptr<Task> task = make();
  if (task == nullptr) throw ValueError(text("make_task: the factory of '", name, "' made no task; return one"));
  return task;
}

}  // namespace retrace
