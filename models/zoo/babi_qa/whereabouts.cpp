// Stories of where people are: what is not so or not sure, who is meant by a pronoun, and at what time.
#include <retrace/models/zoo/babi_qa/world.h>

namespace retrace::stories {
namespace {

Word another_person(Random& random, Word person) { return people.any_but(random, person); }

void ask_for_anybody(Random& random, Story& story, const OfPeople& place_of) {
  const Word person = any_such(random, people, [&](Word one) { return place_of[one] != none; });
  story.ask({where_is.first, person}, place_of[person]);
}

Word any_way_to_be(Random& random) { return random.chance(0.5) ? is_in.first : moves.any(random); }

}  // namespace

/// Is a person in a place? The last fact of the person names the place and says so or denies it, or names another one.
void simple_negation(Random& random, Story& story) {
  const bool is_there = random.chance(0.5);
  for (;;) {
    story.clear();
    OfPeople place_of(people), denial_of(people);  // the last place told, and how it was denied if it was
    for (std::int64_t left = story.draw_length(random, 2); left > 0; --left) {
      const Word person = people.any(random);
      Word& place = place_of[person];
      const bool known = place != none && denial_of[person] == none;
      if (random.chance(0.5)) {
        denial_of[person] = known && random.chance(0.7) ? is_no_longer_in.first : is_not_in.first;
        if (!known) place = places.any(random);
        story.tell({denial_of[person], person, place});
      } else {
        denial_of[person] = none;
        place = places.any_but(random, place);
        story.tell({any_way_to_be(random), person, place});
      }
    }
    const Word person = any_such(
        random, people, [&](Word one) { return place_of[one] != none && !(is_there && denial_of[one] != none); });
    const bool has_negation = std::ranges::any_of(
        story.facts(), [](const Sentence& f) { return is_not_in.has(f.relation) || is_no_longer_in.has(f.relation); });
    if (person == none || !has_negation) continue;
    const bool names_it = is_there || denial_of[person] != none;
    const Word asked = names_it ? place_of[person] : places.any_but(random, place_of[person]);
    return story.ask({is_it_in.first, person, asked}, is_there ? yes : no);
  }
}

/// Is a person in a place? Perhaps, if the last fact of the person names two, and this is one of them.
void indefinite_knowledge(Random& random, Story& story) {
  const Word wanted = yes + random.integer(3);
  for (;;) {
    story.clear();
    OfPeople place_of(people), other_of(people);
    bool has_choice = false;
    for (std::int64_t left = story.draw_length(random, 2); left > 0; --left) {
      const Word person = people.any(random);
      const Word place = place_of[person] = places.any_but(random, place_of[person]);
      const bool is_choice = random.chance(0.5);
      const Word other = other_of[person] = is_choice ? places.any_but(random, place) : none;
      story.tell({is_choice ? is_either_in.first : any_way_to_be(random), person, place, other});
      has_choice |= is_choice;
    }
    const Word person = any_such(random, people, [&](Word one) {
      return place_of[one] != none && (wanted == no || (wanted == maybe) == (other_of[one] != none));
    });
    if (person == none || !has_choice) continue;
    const Word place = place_of[person], other = other_of[person];
    const Word asked =
        any_such(random, places, [&](Word one) { return (one == place || one == other) == (wanted != no); });
    return story.ask({is_it_in.first, person, asked}, wanted);
  }
}

/// Where is a person? "He" and "she" are the one of the fact before.
void basic_coreference(Random& random, Story& story) {
  for (bool has_pronoun = false; !has_pronoun;) {
    story.clear();
    OfPeople place_of(people);
    Word person = none;
    for (std::int64_t left = story.draw_length(random, 2); left > 0; --left) {
      const bool again = person != none && random.chance(0.5);
      if (!again) person = people.any(random);
      has_pronoun |= again;
      place_of[person] = places.any_but(random, place_of[person]);
      story.tell({moves.any(random), again ? pronoun_of(person) : person, place_of[person]});
    }
    ask_for_anybody(random, story, place_of);
  }
}

/// Where is a person? Often two move together.
void conjunction(Random& random, Story& story) {
  for (bool has_pair = false; !has_pair;) {
    story.clear();
    OfPeople place_of(people);
    for (std::int64_t left = story.draw_length(random, 2); left > 0; --left) {
      const Word person = people.any(random), place = places.any_but(random, place_of[person]);
      const Word other = random.chance(0.6) ? another_person(random, person) : none;
      story.tell({moves.any(random), person, place, other});
      place_of[person] = place;
      if (other != none) place_of[other] = place, has_pair = true;
    }
    ask_for_anybody(random, story, place_of);
  }
}

/// Where is a person? "They" are the two of the last pair, in the fact before or in those of a "they" after it.
void compound_coreference(Random& random, Story& story) {
  for (bool has_pronoun = false; !has_pronoun;) {
    story.clear();
    OfPeople place_of(people);
    Word person = none, other = none;
    for (std::int64_t left = story.draw_length(random, 2); left > 0; --left) {
      const bool again = other != none && random.chance(0.5);
      if (!again) {
        person = people.any(random);
        other = random.chance(0.7) ? another_person(random, person) : none;
      }
      const Word place = places.any_but(random, place_of[person]);
      story.tell({moves.any(random), again ? they : person, place, again ? none : other});
      has_pronoun |= again;
      place_of[person] = place;
      if (other != none) place_of[other] = place;
    }
    ask_for_anybody(random, story, place_of);
  }
}

/// Where was a person before another place? The facts name the times, and are not in their order.
void time_reasoning(Random& random, Story& story) {
  const Word first = people.any(random), second = another_person(random, first);
  Integers been(static_cast<std::size_t>(times.size));
  Sentence question{where_was.first};
  Word answer = none;
  for (const Word person : {first, second}) {
    draw_different(random, places.size, been);
    const std::int64_t stays = 2 + random.integer(times.size - 1);
    const std::int64_t start = random.integer(times.size - stays + 1), asked = 1 + random.integer(stays - 1);
    const auto place = [&](std::int64_t k) { return places[been[static_cast<std::size_t>(k)]]; };
    for (std::int64_t k = 0; k < stays; ++k) story.tell({moves.any(random), person, place(k), times[start + k]});
    if (person == first) question.first = person, question.second = place(asked), answer = place(asked - 1);
  }
  story.shuffle(random);
  story.ask(question, answer);
}

}  // namespace retrace::stories
