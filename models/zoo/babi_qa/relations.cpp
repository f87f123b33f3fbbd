// Stories of where things lie beside each other, of sizes, and of paths.
#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/zoo/babi_qa/story.h>

#include <algorithm>
#include <utility>

namespace retrace::stories {
namespace {

constexpr std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Different words of a group, at random.
struct Different {
  const Group& group;
  Integers numbers;
  Different(Random& random, const Group& of, std::int64_t count) : group(of), numbers(index(count)) {
    draw_different(random, of.size, numbers);
  }
  Word operator[](std::int64_t k) const { return group[numbers[index(k)]]; }
};

std::int64_t any_direction(Random& random) { return random.integer(directions); }

/// "a is north of b", or with the same meaning "b is south of a".
Sentence beside(Random& random, const Group& relations, std::int64_t direction, Word a, Word b) {
  if (random.chance(0.5)) return {relations[direction], a, b};
  return {relations[opposite(direction)], b, a};
}

struct Spot {
  std::int64_t x = 0, y = 0;
  bool operator==(const Spot&) const = default;
};
/// The spot one step in a direction: y grows upwards, or north.
Spot step_from(Spot spot, std::int64_t direction) {
  constexpr std::array<Spot, directions> steps{Spot{0, 1}, Spot{1, 0}, Spot{0, -1}, Spot{-1, 0}};
  const Spot& step = steps[index(direction)];
  return {spot.x + step.x, spot.y + step.y};
}
/// Whether a lies further in a direction than b.
bool lies_further(std::int64_t direction, Spot a, Spot b) {
  const Spot step = step_from({}, direction);
  return (a.x - b.x) * step.x + (a.y - b.y) * step.y > 0;
}

}  // namespace

/// Tells how three places lie beside each other, and asks what lies beside one of them.
void two_argument_relations(Random& random, Story& story) {
  const Different place(random, places, 3);
  const std::int64_t first = any_direction(random);
  std::int64_t second = any_direction(random);
  while (second == opposite(first)) second = any_direction(random);  // else both would lie on the same side
  story.tell({lies[first], place[0], place[1]});
  story.tell({lies[second], place[1], place[2]});
  story.shuffle(random);
  if (random.chance(0.5)) return story.ask({what_lies[first], none, place[1]}, place[0]);
  story.ask({what_it_lies[second], place[1]}, place[2]);
}

/// Does a shape lie further in a direction than another? Each of two facts is of a step of one. The answer is yes for
/// half of the stories, and no for two at the same height.
void positional_reasoning(Random& random, Story& story) {
  const bool is_so = random.chance(0.5);
  const Different shape(random, shapes, 3);
  const std::int64_t first = any_direction(random), second = (first + 1 + random.integer(3)) % directions;
  const std::array spots{Spot{}, step_from({}, first), step_from({}, second)};
  story.tell(beside(random, stands, first, shape[1], shape[0]));
  story.tell(beside(random, stands, second, shape[2], shape[0]));
  story.shuffle(random);
  for (;;) {
    const std::int64_t direction = any_direction(random), one = random.integer(3), other = random.integer(3);
    const bool is_told = one == 0 || other == 0;
    if (one == other || (is_told && random.chance(0.75))) continue;
    if (lies_further(direction, spots[index(one)], spots[index(other)]) == is_so)
      return story.ask({stands_it[direction], shape[one], shape[other]}, is_so ? yes : no);
  }
}

/// Is a container bigger than another, or does it fit inside? No fact compares the two, but those of others do.
void size_reasoning(Random& random, Story& story) {
  constexpr std::int64_t many = containers.size;
  using Table = std::array<std::array<bool, index(many)>, index(many)>;  // of a bigger and a smaller one
  const bool is_so = random.chance(0.5);
  const Different container(random, containers, many);  // the biggest first
  const auto any_pair = [&random] {
    const std::int64_t big = random.integer(many - 1);
    return std::pair(big, big + 1 + random.integer(many - 1 - big));
  };
  for (;;) {
    story.clear();
    Table told{}, follows{};
    for (std::int64_t left = 4 + random.integer(3); left > 0;) {
      const auto [big, small] = any_pair();
      if (std::exchange(told[index(big)][index(small)], true)) continue;
      story.tell(random.chance(0.5) ? Sentence{is_bigger.first, container[big], container[small]}
                                    : Sentence{fits.first, container[small], container[big]});
      --left;
    }
    for (std::size_t big = index(many); big-- > 0;)
      for (std::size_t small = big + 1; small < index(many); ++small) {
        follows[big][small] = told[big][small];
        for (std::size_t between = big + 1; between < small; ++between)
          follows[big][small] |= told[big][between] && follows[between][small];
      }
    const auto [big, small] = any_pair();
    if (!follows[index(big)][index(small)] || told[index(big)][index(small)]) continue;
    const Word bigger = container[is_so ? big : small], smaller = container[is_so ? small : big];
    return story.ask(random.chance(0.5) ? Sentence{is_it_bigger.first, bigger, smaller}
                                        : Sentence{does_it_fit.first, smaller, bigger},
                     is_so ? yes : no);
  }
}

/// How does one go from a place to another, two steps away? Five facts join the six places to a tree on a grid.
void path_finding(Random& random, Story& story) {
  constexpr std::int64_t nowhere = -1;
  const Different place(random, places, places.size);
  std::array<Spot, index(places.size)> spots{};
  std::array<std::array<std::int64_t, directions>, index(places.size)> next;  // place in each direction of each
  for (auto& around : next) around.fill(nowhere);
  for (std::int64_t k = 1; k < places.size;) {
    const std::int64_t from = random.integer(k), direction = any_direction(random);
    const Spot spot = step_from(spots[index(from)], direction);
    if (std::find(spots.begin(), spots.begin() + k, spot) != spots.begin() + k) continue;
    spots[index(k)] = spot;
    next[index(from)][index(direction)] = k;
    next[index(k)][index(opposite(direction))] = from;
    story.tell(beside(random, lies, direction, place[k], place[from]));
    ++k;
  }
  story.shuffle(random);
  for (;;) {
    const auto& around = next[index(random.integer(places.size))];
    const std::int64_t back = any_direction(random), on = any_direction(random);
    const std::int64_t from = around[index(back)], to = around[index(on)];
    if (back == on || from == nowhere || to == nowhere) continue;
    return story.ask({how_to_go.first, place[from], place[to]}, path_answer(opposite(back), on));
  }
}

}  // namespace retrace::stories
