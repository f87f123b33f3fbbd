// People who move between places, and objects that they carry.
#pragma once

#include <algorithm>

#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/zoo/babi_qa/story.h>

namespace retrace::stories {

/// One of the words of a group for which is_such(word), each as likely as the others; none without any.
template <class IsSuch> Word any_such(Random& random, const Group& group, IsSuch&& is_such) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < group.size; ++k) count += is_such(group[k]) ? 1 : 0;
  if (count == 0) return none;
  std::int64_t skipped = random.integer(count);
  for (std::int64_t k = 0;; ++k)
    if (is_such(group[k]) && skipped-- == 0) return group[k];
}

/// A word for each one of a group; none at first.
template <std::int64_t size> class WordOfEach {
 public:
  explicit WordOfEach(const Group& group) : first_(group.first) { words_.fill(none); }
  Word& operator[](Word word) { return words_[static_cast<std::size_t>(word - first_)]; }
  Word operator[](Word word) const { return words_[static_cast<std::size_t>(word - first_)]; }

 private:
  Word first_;
  std::array<Word, static_cast<std::size_t>(size)> words_;
};
/// The place, or another word, of each person.
using OfPeople = WordOfEach<people.size>;

/// The probabilities of what comes next, where somebody can do it; else somebody moves.
struct Chances {
  double take = 0;  ///< an object that is free
  double drop = 0;  ///< one that is carried
  double give = 0;  ///< likewise
};

/// Who is where and who has what, which it tells as it comes about. At first nobody is anywhere that is known, and the
/// objects may be wherever somebody takes them.
class World {
 public:
  /// The world of a story about the first `cast` people.
  World(Random& random, Story& story, std::int64_t cast = people.size)
      : random_(random), story_(story), cast_{people.first, cast} {
    for (Integers& been : places_of_) been.reserve(static_cast<std::size_t>(story.most_facts()));
  }

  void tell(std::int64_t facts, const Chances& chances) {
    for (; facts > 0; --facts) tell_one(chances);
  }

  const Group& cast() const { return cast_; }
  /// The place of a person; none if it is not known.
  Word place_of(Word person) const { return place_of_[person]; }
  /// All places in which an object has been, without those before somebody took it; the last one is that of now.
  const Integers& places_of(Word object) const { return places_of_[static_cast<std::size_t>(object - objects.first)]; }
  /// The objects that a person carries: bit k stands for objects[k].
  std::int64_t carried_by(Word person) const {
    std::int64_t set = 0;
    for (std::int64_t k = 0; k < objects.size; ++k)
      if (holder_of_[objects[k]] == person) set |= std::int64_t{1} << k;
    return set;
  }

 private:
  void tell_one(const Chances& chances) {
    const Word person = cast_.any(random_);
    const double point = random_.uniform();
    const double drop = chances.take, give = drop + chances.drop, move = give + chances.give;
    if (point < move && place_of(person) != none)
      if (point < drop ? take(person) : point < give ? drop_one(person) : give_one(person)) return;
    go(person);
  }

  void go(Word person) {
    const Word place = place_of_[person] = places.any_but(random_, place_of(person));
    for (std::int64_t k = 0; k < objects.size; ++k)
      if (holder_of_[objects[k]] == person) been(objects[k], place);
    story_.tell({moves.any(random_), person, place});
  }

  bool take(Word person) {
    const Word object = any_such(random_, objects, [&](Word one) {
      return holder_of_[one] == none && (places_of(one).empty() || places_of(one).back() == place_of(person));
    });
    if (object == none) return false;
    holder_of_[object] = person;
    if (places_of(object).empty()) been(object, place_of(person));
    story_.tell({takes.any(random_), person, object});
    return true;
  }

  bool drop_one(Word person) {
    const Word object = any_such(random_, objects, [&](Word one) { return holder_of_[one] == person; });
    if (object == none) return false;
    holder_of_[object] = none;
    story_.tell({drops.any(random_), person, object});
    return true;
  }

  /// To somebody at the same place, who may have got there untold.
  bool give_one(Word person) {
    const Word object = any_such(random_, objects, [&](Word one) { return holder_of_[one] == person; });
    const Word to = any_such(random_, cast_, [&](Word other) {
      return other != person && (place_of(other) == none || place_of(other) == place_of(person));
    });
    if (object == none || to == none) return false;
    holder_of_[object] = to;
    place_of_[to] = place_of(person);
    story_.tell({gives.any(random_), person, object, to});
    return true;
  }

  void been(Word object, Word place) { places_of_[static_cast<std::size_t>(object - objects.first)].push_back(place); }

  Random& random_;
  Story& story_;
  Group cast_;
  OfPeople place_of_{people};
  WordOfEach<objects.size> holder_of_{objects};
  std::array<Integers, static_cast<std::size_t>(objects.size)> places_of_;
};

}  // namespace retrace::stories
