// Answers to the stories of babi-qa from their text alone.
#pragma once

#include <array>

#include <retrace/tests/models/zoo/babi_qa/replay.h>

namespace retrace::story_solver {

inline std::string where_is(const Text& text) {
  const Replay replay(text);
  if (!replay.understood) return unclear;
  if (const auto person = text.asks("where is *")) return replay.where((*person)[0]);
  const auto object = text.asks("where is the *");
  const auto been = object ? replay.been.find((*object)[0]) : replay.been.end();
  return been == replay.been.end() ? unclear : been->second.back();
}

inline std::string where_was(const Text& text) {
  const Replay replay(text);
  const auto asked = text.asks("where was the * before the *");
  if (!asked || !replay.understood) return unclear;
  const Words& been = replay.been.at((*asked)[0]);
  std::set<std::string> before;
  for (std::size_t k = 0; k < been.size(); ++k)
    if (been[k] == (*asked)[1]) before.insert(k == 0 ? "unknown" : been[k - 1]);
  return std::ranges::count(been, (*asked)[1]) == 1 ? only(before) : unclear;
}

inline std::string is_in(const Text& text) {
  const Replay replay(text);
  const auto asked = text.asks("is * in the *");
  if (!asked || !replay.understood || !replay.people.contains((*asked)[0])) return unclear;
  const auto& [may_be, is_not] = replay.people.at((*asked)[0]);
  const std::string& place = (*asked)[1];
  if (may_be.empty()) return is_not == place ? "no" : unclear;
  return !may_be.contains(place) ? "no" : may_be.size() == 1 ? "yes" : "maybe";
}

inline std::string gift(const Text& text) {
  const Replay replay(text);
  const auto who = text.asks("who gave the * to *"), whom = text.asks("who did * give the * to"),
             what = text.asks("what did * give to *");
  std::vector<std::string> found;
  for (const Words& gift : replay.gifts) {
    if (who && gift[1] == (*who)[0] && gift[2] == (*who)[1]) found.push_back(gift[0]);
    if (whom && gift[0] == (*whom)[0] && gift[1] == (*whom)[1]) found.push_back(gift[2]);
    if (what && gift[0] == (*what)[0] && gift[2] == (*what)[1]) found.push_back(gift[1]);
  }
  return found.size() == 1 && replay.understood ? found[0] : unclear;
}

inline std::string carries(const Text& text) {
  const Replay replay(text);
  if (!replay.understood) return unclear;
  if (const auto person = text.asks("how many objects is * carrying")) {
    static const Words numbers{"none", "one", "two", "three"};
    return numbers.at(replay.carried_by((*person)[0]).size());
  }
  const auto person = text.asks("what is * carrying");
  if (!person) return unclear;
  std::string list;
  for (const std::string& object : replay.carried_by((*person)[0])) list += (list.empty() ? "" : ",") + object;
  return list.empty() ? "nothing" : list;
}

inline const Words& compass() {
  static const Words directions{"north", "east", "south", "west"};
  return directions;
}

/// All that is said of what lies beside what, both ways: [direction][b] is what lies in that direction of b.
inline std::array<std::map<std::string, std::set<std::string>>, 4> neighbours(const Text& text) {
  std::array<std::map<std::string, std::set<std::string>>, 4> next;
  for (std::size_t d = 0; d < 4; ++d)
    for (const Words& pair : text.all("the * is " + compass()[d] + " of the *")) {
      next[d][pair[1]].insert(pair[0]);
      next[(d + 2) % 4][pair[0]].insert(pair[1]);
    }
  return next;
}

inline std::string beside(const Text& text) {
  auto next = neighbours(text);
  for (std::size_t d = 0; d < 4; ++d) {
    if (const auto of = text.asks("what is " + compass()[d] + " of the *")) return only(next[d][(*of)[0]]);
    if (const auto it = text.asks("what is the * " + compass()[d] + " of")) return only(next[(d + 2) % 4][(*it)[0]]);
  }
  return unclear;
}

/// Over all ways of up to two steps.
inline std::string path(const Text& text) {
  auto next = neighbours(text);
  const auto asked = text.asks("how do you go from the * to the *");
  if (!asked) return unclear;
  std::set<std::string> found;
  for (std::size_t first = 0; first < 4; ++first)
    for (const std::string& between : next[first][(*asked)[0]]) {
      if (between == (*asked)[1]) found.insert("one step");
      for (std::size_t second = 0; second < 4; ++second)
        if (next[second][between].contains((*asked)[1])) found.insert({compass()[first][0], ',', compass()[second][0]});
    }
  return only(found);
}

inline std::string when(const Text& text) {
  const auto asked = text.asks("where was * before the *");
  if (!asked) return unclear;
  std::vector<std::string> place_at(4);
  for (std::size_t t = 0; t < 4; ++t) {
    static const Words times{"yesterday", "this morning", "this afternoon", "this evening"};
    for (const Words& fact : text.all(times[t] + " * moved|went|travelled|walked to the *"))
      if (fact[0] == (*asked)[0]) {
        if (!place_at[t].empty()) return unclear;
        place_at[t] = fact[1];
      }
  }
  const auto found = std::ranges::find(place_at, (*asked)[1]);
  if (found == place_at.begin() || found == place_at.end()) return unclear;
  if (std::ranges::count(place_at, *found) != 1 || (found - 1)->empty()) return unclear;
  return *(found - 1);
}

inline std::string by_kind_of_pet(const Text& text) {
  std::map<std::string, std::set<std::string>> animals, feared, colour_of_pet;
  for (const Words& fact : text.all("* is a *")) animals[fact[0]].insert(fact[1]);
  for (const Words& fact : text.all("* is *")) colour_of_pet[fact[0]].insert(fact[1]);
  for (Words fact : text.all("* are afraid of *")) {
    for (std::string& plural : fact) plural.pop_back();
    feared[fact[0]].insert(fact[1]);
  }
  if (const auto pet = text.asks("what is * afraid of")) return only(feared[only(animals[(*pet)[0]])]);
  const auto pet = text.asks("what colour is *");
  if (!pet || colour_of_pet.contains((*pet)[0])) return unclear;
  std::set<std::string> seen;
  for (const auto& [other, colours] : colour_of_pet)
    if (animals[other] == animals[(*pet)[0]]) seen.insert(colours.begin(), colours.end());
  return only(seen);
}

/// By coordinates relative to the first shape that is named.
inline std::string position(const Text& text) {
  static const Words phrases{"above", "to the right of", "below", "to the left of"};
  static const std::array<std::pair<int, int>, 4> steps{{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}};
  std::map<std::string, std::pair<int, int>> at;
  for (std::size_t round = 0; round <= text.facts.size(); ++round)
    for (std::size_t d = 0; d < 4; ++d)
      for (const Words& fact : text.all("the * * is " + phrases[d] + " the * *")) {
        const std::string a = fact[0] + " " + fact[1], b = fact[2] + " " + fact[3];
        const auto [x, y] = steps[d];
        if (at.empty()) at[b] = {0, 0};
        if (at.contains(b)) at.try_emplace(a, at[b].first + x, at[b].second + y);
        if (at.contains(a)) at.try_emplace(b, at[a].first - x, at[a].second - y);
      }
  for (std::size_t d = 0; d < 4; ++d)
    if (const auto asked = text.asks("is the * * " + phrases[d] + " the * *")) {
      const std::string a = (*asked)[0] + " " + (*asked)[1], b = (*asked)[2] + " " + (*asked)[3];
      if (!at.contains(a) || !at.contains(b) || at[a] == at[b]) return unclear;
      const int along = (at[a].first - at[b].first) * steps[d].first + (at[a].second - at[b].second) * steps[d].second;
      return along > 0 ? "yes" : "no";
    }
  return unclear;
}

inline std::string size(const Text& text) {
  std::set<std::pair<std::string, std::string>> bigger;
  for (const Words& fact : text.all("the * is bigger than the *")) bigger.emplace(fact[0], fact[1]);
  for (const Words& fact : text.all("the * fits inside the *")) bigger.emplace(fact[1], fact[0]);
  for (int round = 0; round < 5; ++round)
    for (const auto& [a, b] : std::set(bigger))
      for (const auto& [c, d] : std::set(bigger))
        if (b == c) bigger.emplace(a, d);
  const auto first = text.asks("is the * bigger than the *"), inside = text.asks("does the * fit inside the *");
  if (!first && !inside) return unclear;
  const std::pair asked = first ? std::pair((*first)[0], (*first)[1]) : std::pair((*inside)[1], (*inside)[0]);
  const bool is_so = bigger.contains(asked), is_not = bigger.contains({asked.second, asked.first});
  return is_so == is_not ? unclear : is_so ? "yes" : "no";
}

inline std::string motive(const Text& text) {
  static const std::map<std::string, std::string> place{
      {"hungry", "kitchen"}, {"thirsty", "kitchen"}, {"bored", "garden"}, {"tired", "bedroom"}};
  const auto state_of = [&](const std::string& person) {
    std::set<std::string> states;
    for (const Words& fact : text.all("* is *"))
      if (fact[0] == person) states.insert(fact[1]);
    return only(states);
  };
  if (const auto person = text.asks("where will * go")) return place.at(state_of((*person)[0]));
  const auto went = text.asks("why did * go to the *"), took = text.asks("why did * take the *");
  if (!went && !took) return unclear;
  const Words& asked = went ? *went : *took;
  const std::vector<Words> facts =
      went ? text.all("* moved|went|travelled|walked to the *") : text.all("* took|grabbed the *");
  const std::vector<Words> more = text.all("* picked up the *");
  const bool is_told = std::ranges::count(facts, asked) + (took ? std::ranges::count(more, asked) : 0) == 1;
  return is_told ? state_of(asked[0]) : unclear;
}

/// The answer to a story of a kind, in small letters; "unclear" if the text does not tell it, or contradicts itself.
inline std::string solve(int kind, const Text& text) {
  switch (kind) {
    case 3:
      return where_was(text);
    case 4:
      return beside(text);
    case 5:
      return gift(text);
    case 6:
    case 9:
    case 10:
      return is_in(text);
    case 7:
    case 8:
      return carries(text);
    case 14:
      return when(text);
    case 15:
    case 16:
      return by_kind_of_pet(text);
    case 17:
      return position(text);
    case 18:
      return size(text);
    case 19:
      return path(text);
    case 20:
      return motive(text);
    default:
      return where_is(text);
  }
}

}  // namespace retrace::story_solver
