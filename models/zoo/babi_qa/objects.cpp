// Stories of people who move, and who take, drop and give objects.
#include <retrace/models/zoo/babi_qa/world.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace retrace::stories {

namespace {

/// The size of a set of objects.
std::int64_t count_of(std::int64_t set) { return std::popcount(static_cast<std::uint64_t>(set)); }

}  // namespace

/// Where is a person? In the place of the last move.
void single_supporting_fact(Random& random, Story& story) {
  World world(random, story);
  world.tell(story.draw_length(random, 2), {});
  const Word person = any_such(random, people, [&](Word one) { return world.place_of(one) != none; });
  story.ask({where_is.first, person}, world.place_of(person));
}

/// Where is an object? Where the person is who has it, or was when dropping it.
void two_supporting_facts(Random& random, Story& story) {
  for (;;) {
    story.clear();
    World world(random, story);
    world.tell(story.draw_length(random, 3), {.take = 0.3, .drop = 0.15});
    const Word object = any_such(random, objects, [&](Word one) { return !world.places_of(one).empty(); });
    if (object != none) return story.ask({where_is.first, object}, world.places_of(object).back());
  }
}

/// Where was an object before it was in another place? That place is one where it has been just once.
void three_supporting_facts(Random& random, Story& story) {
  for (;;) {
    story.clear();
    World world(random, story, 3);
    world.tell(story.draw_length(random, 4), {.take = 0.35, .drop = 0.1});
    const Word object = any_such(random, objects, [&](Word one) { return world.places_of(one).size() > 1; });
    if (object == none) continue;
    const Integers& been = world.places_of(object);
    const Word place = any_such(random, places, [&](Word one) {
      return one != been.front() && std::count(been.begin(), been.end(), one) == 1;
    });
    if (place == none) continue;
    return story.ask({where_was.first, object, place}, *(std::find(been.begin(), been.end(), place) - 1));
  }
}

/// Who gave what to whom? Two of the three are given, which fit one gift alone.
void three_argument_relations(Random& random, Story& story) {
  for (;;) {
    story.clear();
    World(random, story).tell(story.draw_length(random, 4), {.take = 0.35, .drop = 0.05, .give = 0.3});
    const std::span<const Sentence> facts = story.facts();
    const Sentence& gift = facts[static_cast<std::size_t>(random.integer(std::ssize(facts)))];
    if (!gives.has(gift.relation)) continue;
    const auto fits_once = [&](auto... parts) {
      return std::ranges::count_if(facts, [&](const Sentence& fact) {
               return gives.has(fact.relation) && ((fact.*parts == gift.*parts) && ...);
             }) == 1;
    };
    const std::int64_t asked = random.integer(3);
    if (asked == 0 && fits_once(&Sentence::second, &Sentence::third))
      return story.ask({who_gave.first, none, gift.second, gift.third}, gift.first);
    if (asked == 1 && fits_once(&Sentence::first, &Sentence::second))
      return story.ask({whom_gave.first, gift.first, gift.second}, gift.third);
    if (asked == 2 && fits_once(&Sentence::first, &Sentence::third))
      return story.ask({what_gave.first, gift.first, none, gift.third}, gift.second);
  }
}

/// Is a person in a place? The answer is yes for half of the stories. Else the place is often one where the person was.
void yes_no_questions(Random& random, Story& story) {
  World world(random, story);
  world.tell(story.draw_length(random, 2), {.take = 0.2, .drop = 0.1});
  const Word person = any_such(random, people, [&](Word one) { return world.place_of(one) != none; });
  const Word place = world.place_of(person);
  if (random.chance(0.5)) return story.ask({is_it_in.first, person, place}, yes);
  const bool was_there = random.chance(0.5);
  const Word other = any_such(random, places, [&](Word one) {
    const auto tells = [&](const Sentence& f) { return moves.has(f.relation) && f.first == person && f.second == one; };
    return one != place && (!was_there || std::ranges::any_of(story.facts(), tells));
  });
  story.ask({is_it_in.first, person, other == none ? places.any_but(random, place) : other}, no);
}

namespace {

/// Tells of two people until one has a number of objects, drawn evenly from none to all. Returns who has them, and
/// which.
std::pair<Word, std::int64_t> tell_of_possessions(Random& random, Story& story) {
  const std::int64_t wanted = random.integer(objects.size + 1);
  for (;;) {
    story.clear();
    World world(random, story, 2);
    world.tell(story.draw_length(random, 3), {.take = 0.4, .drop = 0.1, .give = 0.1});
    const Word person = any_such(random, world.cast(), [&](Word one) {
      return world.place_of(one) != none && count_of(world.carried_by(one)) == wanted;
    });
    if (person != none) return {person, world.carried_by(person)};
  }
}

}  // namespace

/// How many objects does a person carry?
void counting(Random& random, Story& story) {
  const auto [person, set] = tell_of_possessions(random, story);
  story.ask({how_many.first, person}, counts[count_of(set)]);
}

/// Which objects does a person carry?
void lists_and_sets(Random& random, Story& story) {
  const auto [person, set] = tell_of_possessions(random, story);
  story.ask({what_carries.first, person}, set_answer(set));
}

}  // namespace retrace::stories
