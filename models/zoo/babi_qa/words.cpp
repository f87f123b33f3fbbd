#include <retrace/models/zoo/babi_qa/words.h>

namespace retrace::stories {
namespace {

constexpr std::array<std::string_view, noun_count> noun_words{
    "Mary",       "Sandra",       "John",           "Daniel",       "kitchen",    "garden",      "office",
    "hallway",    "bathroom",     "bedroom",        "apple",        "football",   "milk",        "cat",
    "dog",        "bear",         "rabbit",         "white",        "grey",       "green",       "yellow",
    "hungry",     "thirsty",      "bored",          "tired",        "she",        "he",          "they",
    "yesterday",  "this morning", "this afternoon", "this evening", "Bruno",      "Fifi",        "Luna",
    "Oscar",      "Rosie",        "red square",     "blue square",  "green star", "blue circle", "red triangle",
    "white star", "box",          "chest",          "suitcase",     "basket",     "crate",       "pillow"};

// %1 stands for the first noun with its article, #1 for the noun alone.
constexpr std::array<std::string_view, relation_count> patterns{"%1 moved to %2",
                                                                "%1 went to %2",
                                                                "%1 travelled to %2",
                                                                "%1 walked to %2",
                                                                "%1 took %2",
                                                                "%1 picked up %2",
                                                                "%1 grabbed %2",
                                                                "%1 dropped %2",
                                                                "%1 put down %2",
                                                                "%1 left %2",
                                                                "%1 gave %2 to %3",
                                                                "%1 handed %2 to %3",
                                                                "%1 passed %2 to %3",
                                                                "%1 is in %2",
                                                                "%1 is not in %2",
                                                                "%1 is no longer in %2",
                                                                "%1 is either in %2 or in %3",
                                                                "%1 is north of %2",
                                                                "%1 is east of %2",
                                                                "%1 is south of %2",
                                                                "%1 is west of %2",
                                                                "%1 is a #2",
                                                                "#1s are afraid of #2s",
                                                                "%1 is %2",
                                                                "%1 is above %2",
                                                                "%1 is to the right of %2",
                                                                "%1 is below %2",
                                                                "%1 is to the left of %2",
                                                                "%1 is bigger than %2",
                                                                "%1 fits inside %2",
                                                                "where is %1",
                                                                "where was %1 before %2",
                                                                "what is north of %2",
                                                                "what is east of %2",
                                                                "what is south of %2",
                                                                "what is west of %2",
                                                                "what is %1 north of",
                                                                "what is %1 east of",
                                                                "what is %1 south of",
                                                                "what is %1 west of",
                                                                "who gave %2 to %3",
                                                                "who did %1 give %2 to",
                                                                "what did %1 give to %3",
                                                                "is %1 in %2",
                                                                "how many objects is %1 carrying",
                                                                "what is %1 carrying",
                                                                "what is %1 afraid of",
                                                                "what colour is %1",
                                                                "is %1 above %2",
                                                                "is %1 to the right of %2",
                                                                "is %1 below %2",
                                                                "is %1 to the left of %2",
                                                                "is %1 bigger than %2",
                                                                "does %1 fit inside %2",
                                                                "how do you go from %1 to %2",
                                                                "where will %1 go",
                                                                "why did %1 go to %2",
                                                                "why did %1 take %2"};

constexpr std::array<std::string_view, answer_count - yes> other_answers{"yes",
                                                                         "no",
                                                                         "maybe",
                                                                         "none",
                                                                         "one",
                                                                         "two",
                                                                         "three",
                                                                         "nothing",
                                                                         "apple,football",
                                                                         "apple,milk",
                                                                         "football,milk",
                                                                         "apple,football,milk",
                                                                         "n,n",
                                                                         "n,e",
                                                                         "n,w",
                                                                         "e,n",
                                                                         "e,e",
                                                                         "e,s",
                                                                         "s,e",
                                                                         "s,s",
                                                                         "s,w",
                                                                         "w,n",
                                                                         "w,s",
                                                                         "w,w"};

// A list that is too short would end in empty words.
static_assert(!noun_words.back().empty() && !patterns.back().empty() && !other_answers.back().empty());

std::string_view word(Word noun) { return noun_words[static_cast<std::size_t>(noun)]; }

std::string with_article(Word noun) {
  const bool has_article =
      places.has(noun) || objects.has(noun) || shapes.has(noun) || containers.has(noun) || pillow.has(noun);
  return (has_article ? "the " : "") + std::string(word(noun));
}

}  // namespace

std::string in_words(const Sentence& sentence) {
  const std::array nouns{sentence.first, sentence.second, sentence.third};
  const std::string_view pattern = patterns[static_cast<std::size_t>(sentence.relation)];
  std::string words;
  if (times.has(sentence.third)) words = text(word(sentence.third), " ");
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] != '%' && pattern[k] != '#') {
      words += pattern[k];
      continue;
    }
    const Word noun = nouns[static_cast<std::size_t>(pattern[k + 1] - '1')];
    words += pattern[k] == '%' ? with_article(noun) : std::string(word(noun));
    if (k == 0 && moves.has(sentence.relation) && people.has(sentence.third))
      words += text(" and ", word(sentence.third));
    ++k;
  }
  if (words.front() >= 'a') words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words + (is_question(sentence.relation) ? "?" : ".");
}

std::string_view answer_in_words(Word answer) {
  return answer < yes ? word(answer) : other_answers[static_cast<std::size_t>(answer - yes)];
}

}  // namespace retrace::stories
