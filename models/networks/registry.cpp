#include <retrace/core/base/error.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/registry.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::size_t longest_name = 64;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_writable(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && is_letter_or_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

void NameList::check(std::string_view name) const {
  if (!is_writable(name))
    throw ValueError(text(function_, ": '", name, "' cannot name a ", kind_, "; take 1 to ", longest_name,
                          " letters, digits, '-', '_' and '.', a letter or a digit first"));
  if (std::ranges::find(names_, name) != names_.end())
    throw ValueError(text(function_, ": there is a ", kind_, " named '", name, "' already; take another name"));
}

void NameList::add(std::string_view name, std::string_view collection) {
  names_.push_back(storage_.emplace_back(name));
  collections_.push_back(storage_.emplace_back(collection));
}

std::vector<std::string_view> NameList::in(std::string_view collection) const {
  std::vector<std::string_view> found;
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (collections_[k] == collection) found.push_back(names_[k]);
  return found;
}

std::string NameList::listed(std::span<const std::string_view> names) const {
  std::vector<std::string_view> single, collections;
  for (const std::string_view name : names) {
    const auto known = std::ranges::find(names_, name);
    const std::string_view collection =
        known == names_.end() ? "" : collections_[static_cast<std::size_t>(known - names_.begin())];
    if (collection.empty())
      single.push_back(name);
    else if (std::ranges::find(collections, collection) == collections.end())
      collections.push_back(collection);
  }
  std::string list = joined(single);
  for (const std::string_view each : collections)
    list += text(" and those of the ", each, " (retrace info ", each, ")");
  return list;
}

std::size_t NameList::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) throw ValueError(unknown_name(maker_, kind_, name, names_, {}, listed(names_)));
  return static_cast<std::size_t>(found - names_.begin());
}

}  // namespace retrace
