// The words of the stories: nouns and relations, each with a number, and the answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <retrace/core/random.h>

namespace retrace::stories {

/// The number of a noun, or of a relation; none where a sentence has no such part.
using Word = std::int64_t;
inline constexpr Word none = -1;

/// Words that can stand for each other: consecutive numbers.
struct Group {
  Word first;
  std::int64_t size = 1;

  constexpr Word operator[](std::int64_t k) const { return first + k; }
  constexpr Word end() const { return first + size; }
  constexpr bool has(Word word) const { return word >= first && word < end(); }
  Word any(Random& random) const { return first + random.integer(size); }
  /// Any but one of the group's; any at all if the other is none.
  Word any_but(Random& random, Word other) const {
    if (!has(other)) return any(random);
    const Word word = first + random.integer(size - 1);
    return word < other ? word : word + 1;
  }
};
/// The group of the next `size` words.
constexpr Group after(const Group& before, std::int64_t size = 1) { return {before.end(), size}; }

// Nouns, in the wider sense of all that fills a place in a sentence. Those of the first groups can be answers.
inline constexpr Group people{0, 4};
inline constexpr Group places = after(people, 6);
inline constexpr Group objects = after(places, 3);
inline constexpr Group animals = after(objects, 4);
inline constexpr Group colours = after(animals, 4);
inline constexpr Group states = after(colours, 4);
inline constexpr Group pronouns = after(states, 3);
inline constexpr Group times = after(pronouns, 4);
inline constexpr Group pets = after(times, 5);
inline constexpr Group shapes = after(pets, 6);
inline constexpr Group containers = after(shapes, 5);
inline constexpr Group pillow = after(containers);
inline constexpr std::int64_t noun_count = pillow.end();

inline constexpr Word kitchen = places[0], garden = places[1], bedroom = places[5];
inline constexpr Word apple = objects[0], football = objects[1], milk = objects[2];
inline constexpr Word she = pronouns[0], he = pronouns[1], they = pronouns[2];
/// The pronoun for one of the people.
constexpr Word pronoun_of(Word person) { return person < people[2] ? she : he; }

// Relations of facts: a group has several where they mean the same, or one per direction.
inline constexpr Group moves{0, 4};
inline constexpr Group takes = after(moves, 3);
inline constexpr Group drops = after(takes, 3);
inline constexpr Group gives = after(drops, 3);
inline constexpr Group is_in = after(gives);
inline constexpr Group is_not_in = after(is_in);
inline constexpr Group is_no_longer_in = after(is_not_in);
inline constexpr Group is_either_in = after(is_no_longer_in);
inline constexpr Group lies = after(is_either_in, 4);  // north, east, south, west
inline constexpr Group is_a = after(lies);
inline constexpr Group fears = after(is_a);
inline constexpr Group is = after(fears);
inline constexpr Group stands = after(is, 4);  // above, right, below, left
inline constexpr Group is_bigger = after(stands);
inline constexpr Group fits = after(is_bigger);
// Relations of questions.
inline constexpr Group where_is = after(fits);
inline constexpr Group where_was = after(where_is);
inline constexpr Group what_lies = after(where_was, 4);     // what is north of ..., ...
inline constexpr Group what_it_lies = after(what_lies, 4);  // what is it north of, ...
inline constexpr Group who_gave = after(what_it_lies);
inline constexpr Group whom_gave = after(who_gave);
inline constexpr Group what_gave = after(whom_gave);
inline constexpr Group is_it_in = after(what_gave);
inline constexpr Group how_many = after(is_it_in);
inline constexpr Group what_carries = after(how_many);
inline constexpr Group what_fears = after(what_carries);
inline constexpr Group which_colour = after(what_fears);
inline constexpr Group stands_it = after(which_colour, 4);  // above, right, below, left
inline constexpr Group is_it_bigger = after(stands_it);
inline constexpr Group does_it_fit = after(is_it_bigger);
inline constexpr Group how_to_go = after(does_it_fit);
inline constexpr Group where_will_go = after(how_to_go);
inline constexpr Group why_went = after(where_will_go);
inline constexpr Group why_took = after(why_went);
inline constexpr std::int64_t relation_count = why_took.end();
constexpr bool is_question(Word relation) { return relation >= where_is.first; }

/// Directions go round clockwise from north, or above.
inline constexpr std::int64_t directions = 4;
constexpr std::int64_t opposite(std::int64_t direction) { return (direction + 2) % directions; }

// Answers: the nouns before the pronouns, and these.
inline constexpr Word yes = states.end(), no = yes + 1, maybe = no + 1;
inline constexpr Group counts{maybe + 1, objects.size + 1};
inline constexpr Group sets = after(counts, 5);  // of no objects or several
inline constexpr Group paths = after(sets, 12);  // of two steps
inline constexpr std::int64_t answer_count = paths.end();
/// The answer for a set of objects, whose bit k stands for objects[k].
constexpr Word set_answer(std::int64_t set) {
  constexpr std::array<Word, 8> answers{sets[0], apple, football, sets[1], milk, sets[2], sets[3], sets[4]};
  return answers[static_cast<std::size_t>(set)];
}
/// The answer for a step in one direction and one in another, which does not lead back.
constexpr Word path_answer(std::int64_t first, std::int64_t second) {
  return paths[first * (directions - 1) + second - (second > opposite(first) ? 1 : 0)];
}

/// A fact or a question. It need not have all three nouns.
struct Sentence {
  Word relation;
  Word first = none, second = none, third = none;
};

/// "This morning Mary and John moved to the kitchen."
std::string in_words(const Sentence& sentence);
/// "kitchen", "no", "apple,milk" or "n,w".
std::string_view answer_in_words(Word answer);

}  // namespace retrace::stories
