// Names of the library, and names that a program adds.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

/// Names in the order of their registration, each in a collection or in none. They stay where they are until the
/// program ends; the span of all of them holds until the next one is added.
class NameList {
 public:
  /// For errors: `function` adds names of the kind ("model"), and `maker` looks them up.
  NameList(std::string_view function, std::string_view maker, std::string_view kind)
      : function_(function), maker_(maker), kind_(kind) {}

  std::span<const std::string_view> all() const { return names_; }
  std::span<const std::string_view> added() const { return all().subspan(library_); }
  /// Ends the library's own names: the next ones are added().
  void end_library() { library_ = names_.size(); }
  /// Throws ValueError for a name that is taken, and for one that cannot be written on a command line: it has 1 to 64
  /// letters, digits, '-', '_' and '.', and begins with a letter or a digit.
  void check(std::string_view name) const;
  void add(std::string_view name, std::string_view collection = {});
  /// The names of a collection.
  std::vector<std::string_view> in(std::string_view collection) const;
  /// "lstm, gru and those of the zoo (retrace info zoo)": some names, of which those of a collection go by its name.
  std::string listed(std::span<const std::string_view> names) const;
  /// The position of a name. Throws ValueError, with the nearest right name, for one that is not known.
  std::size_t find(std::string_view name) const;

 private:
  std::string_view function_, maker_, kind_;
  std::size_t library_ = 0;
  std::deque<std::string> storage_;
  std::vector<std::string_view> names_, collections_;
};

/// Values by name: the library's own, and those that a program adds.
template <class Value> class Registry {
 public:
  /// Begins with the library's own, each added by add().
  Registry(std::string_view function, std::string_view maker, std::string_view kind,
           std::vector<std::pair<std::string_view, Value>> library)
      : names_(function, maker, kind) {
    for (auto& [name, value] : library) add(name, std::move(value));
    names_.end_library();
  }

  const NameList& names() const { return names_; }
  /// Throws ValueError as NameList::check does; nothing is added then.
  void add(std::string_view name, Value value, std::string_view collection = {}) {
    names_.check(name);
    values_.push_back(std::move(value));
    names_.add(name, collection);
  }
  /// Throws ValueError, with the nearest right name, for one that is not known.
  const Value& find(std::string_view name) const { return values_[names_.find(name)]; }

 private:
  NameList names_;
  std::deque<Value> values_;
};

}  // namespace retrace
