#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/simulated.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace retrace {
namespace {

constexpr double chance_of_move = 0.7;
// Where a row's parts begin: the agents and the ball, the places, the kinds of fact, the question.
constexpr std::int64_t ball = Babi::agents;
constexpr std::int64_t first_place = ball + 1;
constexpr std::int64_t moved = first_place + Babi::places;
constexpr std::int64_t took = moved + 1;
constexpr std::int64_t question = took + 1;
constexpr std::int64_t row_width = question + 1;

/// The state of the story at one point.
class World {
 public:
  template <class T> void tell_fact(Random& random, T* row) {
    if (random.chance(chance_of_move)) {
      const std::int64_t agent = random.integer(Babi::agents);
      const std::int64_t place = random.integer(Babi::places);
      if (place_of(agent) < 0) placed_[static_cast<std::size_t>(placed_count_++)] = agent;
      place_of(agent) = place;
      row[agent] = row[first_place + place] = row[moved] = 1;
    } else if (placed_count_ > 0) {
      holder_ = any_placed_agent(random);
      row[*holder_] = row[took] = 1;
    }
  }

  bool ball_is_held() const { return holder_.has_value(); }
  std::int64_t place_of_ball(Random& random) {
    if (holder_) return place_of(*holder_);
    return placed_count_ == 0 ? 0 : place_of(any_placed_agent(random));
  }
  /// That the commonest place is that of the ball.
  double chance_of_best_guess() {
    if (holder_ || placed_count_ == 0) return 1;
    std::array<std::int64_t, Babi::places> agents_at{};
    for (std::int64_t k = 0; k < placed_count_; ++k)
      ++agents_at[static_cast<std::size_t>(place_of(placed_[static_cast<std::size_t>(k)]))];
    return static_cast<double>(*std::ranges::max_element(agents_at)) / static_cast<double>(placed_count_);
  }

 private:
  std::int64_t& place_of(std::int64_t agent) { return place_of_[static_cast<std::size_t>(agent)]; }
  std::int64_t any_placed_agent(Random& random) const {
    return placed_[static_cast<std::size_t>(random.integer(placed_count_))];
  }

  std::array<std::int64_t, Babi::agents> place_of_{-1, -1, -1, -1};
  std::array<std::int64_t, Babi::agents> placed_{};
  std::int64_t placed_count_ = 0;
  std::optional<std::int64_t> holder_;
};

/// A story, written row by row.
template <class T> World tell_story(Random& random, T* row, std::int64_t most_facts) {
  World world;
  for (std::int64_t left = 2 + random.integer(most_facts - 1); left > 0; --left, row += row_width)
    world.tell_fact(random, row);
  return world;
}

}  // namespace

Babi::Babi(const BabiOptions& options) : Task("babi", TaskKind::classification), options_(options) {
  if (options.facts < 2)
    throw ValueError(text("babi: a story of at most ", options.facts, " facts has no variety; take 2 or more"));
  check_memory("babi", "a sample", {checked_sum("babi", "facts + 1", {options.facts, 1}), input_size()});
}

std::unique_ptr<Task> Babi::make(const TaskOptions& given) {
  return std::make_unique<Babi>(
      BabiOptions{.held_only = given.held_only, .facts = given.facts.value_or(BabiOptions().facts)});
}

Baselines Babi::baselines() const {
  if (options_.facts != BabiOptions().facts) return simulated_baselines();
  if (options_.held_only)
    return {.chance = 1.0 / places, .trivial = 0.637, .trivial_answer = "the place named last", .ceiling = 1};
  return {.chance = 1.0 / places,
          .trivial = 0.639,
          .trivial_answer = "the place named last",
          .ceiling = 0.855,  // the ball is held in 47.9 % of the stories; else the commonest place is the best guess
          .original = 0.33};
}

Baselines Babi::simulated_baselines() const {
  Random random = random_for_baselines();
  constexpr int stories = 5000;
  double last_place = 0, best = 0;
  std::vector<double> story(static_cast<std::size_t>(options_.facts * row_width));
  for (int told = 0; told < stories;) {
    std::ranges::fill(story, 0.0);
    World world = tell_story(random, story.data(), options_.facts);
    if (options_.held_only && !world.ball_is_held()) continue;
    ++told;
    std::int64_t last = -1;
    for (std::size_t row = 0; row < story.size(); row += row_width)
      if (story[row + moved] != 0) last = hot(std::span(story).subspan(row + first_place, places));
    best += world.chance_of_best_guess();
    last_place += world.place_of_ball(random) == last ? 1 : 0;
  }
  return {.chance = 1.0 / places,
          .trivial = last_place / stories,
          .trivial_answer = "the place named last",
          .ceiling = best / stories};
}

void Babi::fill(Random& random, const Batch& batch) const {
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "babi", [&](auto zero) {
    using T = decltype(zero);
    T* story = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, story += sequence_length() * row_width) {
      World world = tell_story(random, story, options_.facts);
      while (options_.held_only && !world.ball_is_held()) {
        std::fill_n(story, options_.facts * row_width, T(0));
        world = tell_story(random, story, options_.facts);
      }
      T* last = story + options_.facts * row_width;
      last[ball] = last[question] = 1;
      answer[sample] = world.place_of_ball(random);
    }
  });
}

namespace {

constexpr std::array<std::string_view, Babi::agents> agent_names{"Mary", "John", "Daniel", "Sandra"};
constexpr std::array<std::string_view, Babi::places> place_names{"kitchen", "garden", "office", "hallway"};

template <class Names> std::string_view name_in(const Names& list, std::int64_t which) {
  return list[static_cast<std::size_t>(which)];
}

std::int64_t agent_in(const Example& example, std::int64_t t) { return hot(columns(example.row(t), 0, Babi::agents)); }
bool is_hot(const Example& example, std::int64_t t, std::int64_t column) {
  return columns(example.row(t), column, 1).front() != 0;
}

}  // namespace

std::optional<std::int64_t> Babi::row_to_remember(const Example& example) const {
  for (std::int64_t t = options_.facts - 1; t >= 0; --t)
    if (is_hot(example, t, took)) return t;
  return std::nullopt;
}

std::vector<Category> Babi::categories(const Example& example, std::int64_t) const {
  std::int64_t facts = 0, moves = 0;
  const std::optional<std::int64_t> taken = row_to_remember(example);
  for (std::int64_t t = 0; t < options_.facts; ++t) {
    const bool moves_now = is_hot(example, t, moved);
    facts += moves_now || is_hot(example, t, took) ? 1 : 0;
    moves += moves_now && taken && t > *taken && agent_in(example, t) == agent_in(example, *taken) ? 1 : 0;
  }
  std::vector<Category> result{{"facts told", facts},
                               {"the ball", taken ? 1 : 0, taken ? "somebody took it" : "nobody took it: a guess"}};
  if (taken) result.push_back({"moves of the holder since", moves});
  return result;
}

std::string Babi::describe_row(const Example& example, std::int64_t t) const {
  if (is_hot(example, t, question)) return "where is the ball?";
  const std::int64_t agent = agent_in(example, t);
  if (agent < 0) return "";
  if (is_hot(example, t, took)) return text(name_in(agent_names, agent), " took the ball");
  return text(name_in(agent_names, agent), " moved to the ",
              name_in(place_names, hot(columns(example.row(t), first_place, places))));
}

std::string Babi::describe_label(std::int64_t label) const { return std::string(name_in(place_names, label)); }

std::int64_t Babi::topic(const Example& example, std::int64_t t) const { return agent_in(example, t); }

}  // namespace retrace
