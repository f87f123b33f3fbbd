// Stories from whose facts something follows that none of them says: by rules, from examples, from motives.
#include <retrace/models/zoo/babi_qa/world.h>

namespace retrace::stories {

/// Asks what a pet is afraid of, which is the same for all of its kind.
void basic_deduction(Random& random, Story& story) {
  constexpr std::int64_t told_of = 4;  // pets
  WordOfEach<animals.size> feared_by(animals);
  for (std::int64_t k = 0; k < animals.size; ++k) {
    feared_by[animals[k]] = animals.any_but(random, animals[k]);
    story.tell({fears.first, animals[k], feared_by[animals[k]]});
  }
  Integers numbers(static_cast<std::size_t>(told_of));
  draw_different(random, pets.size, numbers);
  Word animal = none;
  for (const std::int64_t number : numbers) {
    animal = animals.any(random);
    story.tell({is_a.first, pets[number], animal});
  }
  story.shuffle(random);
  story.ask({what_fears.first, pets[numbers.back()]}, feared_by[animal]);
}

/// Asks for the colour of a pet. Within a story each kind has one colour, which no other kind has.
void basic_induction(Random& random, Story& story) {
  Integers names(static_cast<std::size_t>(pets.size)), colour_of(static_cast<std::size_t>(animals.size));
  draw_different(random, pets.size, names);
  draw_different(random, colours.size, colour_of);
  const auto colour = [&](Word animal) { return colours[colour_of[static_cast<std::size_t>(animal - animals.first)]]; };
  const Word asked = pets[names.back()];
  names.pop_back();
  const std::int64_t example = random.integer(std::ssize(names));
  Word animal_asked = none;
  for (std::int64_t k = 0; k < std::ssize(names); ++k) {
    const Word pet = pets[names[static_cast<std::size_t>(k)]], animal = animals.any(random);
    story.tell({is_a.first, pet, animal});
    story.tell({is.first, pet, colour(animal)});
    if (k == example) animal_asked = animal;
  }
  story.tell({is_a.first, asked, animal_asked});
  story.shuffle(random);
  story.ask({which_colour.first, asked}, colour(animal_asked));
}

/// Where will a person go, and why did one go somewhere or take something? By what the person feels, which is told.
void motivations(Random& random, Story& story) {
  struct Motive {
    Word place, object;
  };
  constexpr std::array<Motive, static_cast<std::size_t>(states.size)> motives{
      Motive{kitchen, apple}, Motive{kitchen, milk}, Motive{garden, football}, Motive{bedroom, pillow.first}};
  constexpr std::int64_t all_told = 3;
  const auto motive_of = [&](Word state) { return motives[static_cast<std::size_t>(state - states.first)]; };
  OfPeople state_of(people);
  std::array<std::int64_t, static_cast<std::size_t>(people.size)> told{};  // of each person: state, place, object
  const auto told_of = [&](Word person) -> std::int64_t& {
    return told[static_cast<std::size_t>(person - people.first)];
  };
  for (std::int64_t left = 1 + random.integer(people.size * 2); left > 0; --left) {
    const Word person = any_such(random, people, [&](Word one) { return told_of(one) < all_told; });
    Word& state = state_of[person];
    if (state == none) state = states.any(random);
    const std::array facts{Sentence{is.first, person, state},
                           Sentence{moves.any(random), person, motive_of(state).place},
                           Sentence{takes.any(random), person, motive_of(state).object}};
    story.tell(facts[static_cast<std::size_t>(told_of(person)++)]);
  }
  const Word person = any_such(random, people, [&](Word one) { return told_of(one) > 0; });
  const auto [place, object] = motive_of(state_of[person]);
  if (told_of(person) == 1) return story.ask({where_will_go.first, person}, place);
  const bool has_taken = told_of(person) == all_told && random.chance(0.5);
  story.ask({has_taken ? why_took.first : why_went.first, person, has_taken ? object : place}, state_of[person]);
}

}  // namespace retrace::stories
