// Stories of babi-qa as text, and those of moves replayed. Shares no code with the library's generator.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace retrace::story_solver {

using Words = std::vector<std::string>;

/// The words of a sentence in small letters, without its full stop or question mark.
inline Words words_of(std::string sentence) {
  sentence.pop_back();
  for (char& letter : sentence) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  Words words;
  std::istringstream in(sentence);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The words that stand for the stars of a pattern, if the sentence fits it: "* took|grabbed the *".
inline std::optional<Words> match(const Words& sentence, const std::string& pattern) {
  std::istringstream in(pattern);
  Words found;
  std::size_t at = 0;
  for (std::string token; in >> token; ++at) {
    if (at == sentence.size()) return std::nullopt;
    if (token == "*") {
      found.push_back(sentence[at]);
      continue;
    }
    if (("|" + token + "|").find("|" + sentence[at] + "|") == std::string::npos) return std::nullopt;
  }
  return at == sentence.size() ? std::optional(found) : std::nullopt;
}

inline const std::string unclear = "unclear";
/// The only element.
inline std::string only(const std::set<std::string>& all) { return all.size() == 1 ? *all.begin() : unclear; }

/// Facts, each in words, and the question.
struct Text {
  std::vector<Words> facts;
  Words question;

  explicit Text(const std::string& story) {
    std::istringstream in(story);
    for (std::string line; std::getline(in, line);) facts.push_back(words_of(line));
    question = facts.back();
    facts.pop_back();
  }
  std::optional<Words> asks(const std::string& pattern) const { return match(question, pattern); }
  std::vector<Words> all(const std::string& pattern) const {
    std::vector<Words> found;
    for (const Words& fact : facts)
      if (const auto parts = match(fact, pattern)) found.push_back(*parts);
    return found;
  }
};

/// A story of moves, read from its first fact to its last.
struct Replay {
  struct Whereabouts {
    std::set<std::string> may_be;  // one place, or two
    std::string is_not;
  };
  std::map<std::string, Whereabouts> people;
  std::map<std::string, std::string> holder;  // of each object; empty: nobody
  std::map<std::string, Words> been;          // the places of each object
  std::vector<Words> gifts;                   // who, what, to whom
  Words meant;                                // by a pronoun
  bool understood = true;

  explicit Replay(const Text& text) {
    for (const Words& fact : text.facts) read(fact);
  }

  void read(const Words& fact) {
    const auto is = [&](const char* pattern) { return match(fact, pattern); };
    if (const auto pair = is("* and * moved|went|travelled|walked to the *")) {
      meant = {(*pair)[0], (*pair)[1]};
      for (const std::string& person : meant) go(person, (*pair)[2]);
    } else if (const auto move = is("* moved|went|travelled|walked to the *")) {
      const std::string& who = (*move)[0];
      understood &= who != "they" || meant.size() == 2;
      understood &= (who != "he" && who != "she") || (meant.size() == 1 && is_woman(meant[0]) == (who == "she"));
      if (who != "he" && who != "she" && who != "they") meant = {who};
      for (const std::string& person : meant) go(person, (*move)[1]);
    } else if (const auto at = is("* is in the *")) {
      go((*at)[0], (*at)[1]);
    } else if (const auto denied = is("* is not in the *")) {
      people[(*denied)[0]] = {{}, (*denied)[1]};
    } else if (const auto left = is("* is no longer in the *")) {
      understood &= people[(*left)[0]].may_be == std::set<std::string>{(*left)[1]};
      people[(*left)[0]] = {{}, (*left)[1]};
    } else if (const auto either = is("* is either in the * or in the *")) {
      people[(*either)[0]] = {{(*either)[1], (*either)[2]}, ""};
    } else if (const auto up = is("* picked up the *"), taken = is("* took|grabbed the *"); up || taken) {
      take(up ? *up : *taken);
    } else if (const auto down = is("* put down the *"), dropped = is("* dropped|left the *"); down || dropped) {
      const Words& parts = down ? *down : *dropped;
      understood &= holder[parts[1]] == parts[0];
      holder[parts[1]].clear();
    } else if (const auto gift = is("* gave|handed|passed the * to *")) {
      understood &= holder[(*gift)[1]] == (*gift)[0] && (*gift)[0] != (*gift)[2];
      holder[(*gift)[1]] = (*gift)[2];
      gifts.push_back(*gift);
    } else {
      understood = false;
    }
  }
  static bool is_woman(const std::string& person) { return person == "mary" || person == "sandra"; }
  void go(const std::string& person, const std::string& place) {
    people[person] = {{place}, ""};
    for (const auto& [object, by] : holder)
      if (by == person) been[object].push_back(place);
  }
  void take(const Words& parts) {
    const std::string place = where(parts[0]);
    understood &= holder[parts[1]].empty();
    holder[parts[1]] = parts[0];
    Words& places = been[parts[1]];
    if (places.empty()) places.push_back(place);
    understood &= gifts.empty() ? places.back() == place : true;  // who was given something may have come untold
  }
  std::string where(const std::string& person) const {
    const auto found = people.find(person);
    return found == people.end() ? unclear : only(found->second.may_be);
  }
  Words carried_by(const std::string& person) const {
    Words result;
    for (const auto& [object, by] : holder)
      if (by == person) result.push_back(object);
    return result;
  }
};

}  // namespace retrace::story_solver
