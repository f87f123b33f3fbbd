// The words of the stories: nouns and relations, each with a number, and the answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <retrace/core/tensor/random.h>

namespace retrace::stories {

/// The number of a noun, or of a relation.
using Word = std::int64_t;
/// Where a sentence has no such part.
inline constexpr Word none = -1;

/// Words that can stand for each other: consecutive numbers.
struct Group {
  Word first;
  std::int64_t size = 1;

  /// Word k of the group.
  constexpr Word operator[](std::int64_t k) const { return first + k; }
  /// The word after the last.
  constexpr Word end() const { return first + size; }
  /// Whether a word is one of the group's.
  constexpr bool has(Word word) const { return word >= first && word < end(); }
  /// Each as likely as the others.
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
/// Mary, Sandra, John and Daniel.
inline constexpr Group people{0, 4};
/// Kitchen, garden, office, hallway, bathroom, bedroom.
inline constexpr Group places = after(people, 6);
/// Apple, football, milk.
inline constexpr Group objects = after(places, 3);
/// Cat, dog, bear, rabbit.
inline constexpr Group animals = after(objects, 4);
/// White, grey, green, yellow.
inline constexpr Group colours = after(animals, 4);
/// Hungry, thirsty, bored, tired.
inline constexpr Group states = after(colours, 4);
/// She, he, they.
inline constexpr Group pronouns = after(states, 3);
/// Yesterday, this morning, this afternoon, this evening.
inline constexpr Group times = after(pronouns, 4);
/// Bruno, Fifi, Luna, Oscar, Rosie.
inline constexpr Group pets = after(times, 5);
/// Red square, ....
inline constexpr Group shapes = after(pets, 6);
/// Box, chest, suitcase, basket, crate.
inline constexpr Group containers = after(shapes, 5);
/// The thing that tired people take.
inline constexpr Group pillow = after(containers);
/// All nouns.
inline constexpr std::int64_t noun_count = pillow.end();

/// Places to which somebody goes for a motive.
inline constexpr Word kitchen = places[0];
/// Likewise.
inline constexpr Word garden = places[1];
/// Likewise.
inline constexpr Word bedroom = places[5];
/// An object by name.
inline constexpr Word apple = objects[0];
/// Likewise.
inline constexpr Word football = objects[1];
/// Likewise.
inline constexpr Word milk = objects[2];
/// Mary or Sandra.
inline constexpr Word she = pronouns[0];
/// John or Daniel.
inline constexpr Word he = pronouns[1];
/// The two of the last pair.
inline constexpr Word they = pronouns[2];
/// The pronoun for one of the people.
constexpr Word pronoun_of(Word person) { return person < people[2] ? she : he; }

// Relations of facts: a group has several where they mean the same, or one per direction.
/// A person moved to a place.
inline constexpr Group moves{0, 4};
/// A person took an object.
inline constexpr Group takes = after(moves, 3);
/// A person dropped an object.
inline constexpr Group drops = after(takes, 3);
/// A person gave an object to another.
inline constexpr Group gives = after(drops, 3);
/// A person is in a place.
inline constexpr Group is_in = after(gives);
/// A person is not in a place.
inline constexpr Group is_not_in = after(is_in);
/// A person is no longer in a place.
inline constexpr Group is_no_longer_in = after(is_not_in);
/// A person is in one of two places.
inline constexpr Group is_either_in = after(is_no_longer_in);
/// A place is north, east, south, west of another.
inline constexpr Group lies = after(is_either_in, 4);
/// A pet is an animal.
inline constexpr Group is_a = after(lies);
/// All animals of a kind are afraid of another kind.
inline constexpr Group fears = after(is_a);
/// A pet has a colour, or a person is in a state.
inline constexpr Group is = after(fears);
/// A shape is above, right of, below, left of another.
inline constexpr Group stands = after(is, 4);
/// A container is bigger than another.
inline constexpr Group is_bigger = after(stands);
/// A container fits inside another.
inline constexpr Group fits = after(is_bigger);
// Relations of questions.
/// Where is a person or an object.
inline constexpr Group where_is = after(fits);
/// Where was it before it was in a place.
inline constexpr Group where_was = after(where_is);
/// The questions what lies north, east, south and west of a place ...
inline constexpr Group what_lies = after(where_was, 4);
/// ... and north, east, south and west of what a place lies.
inline constexpr Group what_it_lies = after(what_lies, 4);
/// Who gave an object to a person.
inline constexpr Group who_gave = after(what_it_lies);
/// Whom did a person give an object to.
inline constexpr Group whom_gave = after(who_gave);
/// The question what a person gave to another.
inline constexpr Group what_gave = after(whom_gave);
/// Is a person in a place.
inline constexpr Group is_it_in = after(what_gave);
/// How many objects does a person carry.
inline constexpr Group how_many = after(is_it_in);
/// The question what a person carries.
inline constexpr Group what_carries = after(how_many);
/// The question what a pet is afraid of.
inline constexpr Group what_fears = after(what_carries);
/// The question which colour a pet has.
inline constexpr Group which_colour = after(what_fears);
/// Is a shape above, right of, below, left of another.
inline constexpr Group stands_it = after(which_colour, 4);
/// Is a container bigger than another.
inline constexpr Group is_it_bigger = after(stands_it);
/// Does a container fit inside another.
inline constexpr Group does_it_fit = after(is_it_bigger);
/// How does one go from a place to another.
inline constexpr Group how_to_go = after(does_it_fit);
/// Where will a person go.
inline constexpr Group where_will_go = after(how_to_go);
/// Why did a person go to a place.
inline constexpr Group why_went = after(where_will_go);
/// Why did a person take an object.
inline constexpr Group why_took = after(why_went);
/// All relations.
inline constexpr std::int64_t relation_count = why_took.end();
/// Whether a relation is that of a question.
constexpr bool is_question(Word relation) { return relation >= where_is.first; }

/// Directions go round clockwise from north, or above.
inline constexpr std::int64_t directions = 4;
/// South of north, left of right.
constexpr std::int64_t opposite(std::int64_t direction) { return (direction + 2) % directions; }

// Answers: the nouns before the pronouns, and these.
/// The answer if the asked statement holds.
inline constexpr Word yes = states.end();
/// It is not.
inline constexpr Word no = yes + 1;
/// It may be.
inline constexpr Word maybe = no + 1;
/// None, one, two, three.
inline constexpr Group counts{maybe + 1, objects.size + 1};
/// Nothing, apple,football, apple,milk, football,milk, and all.
inline constexpr Group sets = after(counts, 5);
/// N,n to w,w.
inline constexpr Group paths = after(sets, 12);
/// All classes.
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
  Word relation;       ///< of a fact or a question
  Word first = none;   ///< the subject, in most
  Word second = none;  ///< the object, or the place
  Word third = none;   ///< a receiver, a companion, a second place, or a time
};

/// "This morning Mary and John moved to the kitchen."
std::string in_words(const Sentence& sentence);
/// "kitchen", "no", "apple,milk" or "n,w".
std::string_view answer_in_words(Word answer);

}  // namespace retrace::stories
