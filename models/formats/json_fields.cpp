#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/core/files/json.h>
#include <retrace/models/formats/json_fields.h>

#include <algorithm>
#include <utility>

namespace retrace {
namespace {

constexpr std::size_t deepest = 8;

}  // namespace

// Files each value under its path, event by event.
class JsonFields::Reader final : public JsonEvents {
 public:
  explicit Reader(JsonFields& fields) : fields_(fields) {}

  void start_object() override { open(Object{}); }
  void key(std::string name) override { levels_.back().key = std::move(name); }
  void end_object() override { levels_.pop_back(); }
  void start_array() override { open(List{}); }
  void end_array() override { levels_.pop_back(); }
  void string(std::string value) override { add(std::move(value)); }
  void unsigned_integer(std::uint64_t number) override {
    std::in_range<std::int64_t>(number) ? add(static_cast<std::int64_t>(number)) : add(number);
  }
  void negative_integer(std::int64_t number) override { add(number); }
  void number(double number) override { add(number); }
  void boolean(bool truth) override { add(truth); }
  void null() override { add(nullptr); }

 private:
  struct Level {
    std::string path;  // ends with a dot, except for the outermost level
    std::string key;
    List* list = nullptr;      // null for an object
    Object* object = nullptr;  // null for a list and for the outermost level
  };

  // The reference stays valid: a std::map never moves its values.
  Value& add(Value&& value) {
    if (levels_.empty()) throw ValueError(text(fields_.place_, ": it is ", description_of(value), ", not an object"));
    Level& level = levels_.back();
    std::string path = level.path + (level.list != nullptr ? std::to_string(level.list->size++) : level.key);
    if (level.object != nullptr) level.object->members.push_back(level.key);
    const auto [place, is_new] = fields_.values_.emplace(std::move(path), std::move(value));
    if (!is_new) throw ValueError(text(fields_.place_, ": ", printable(place->first), " is there twice"));
    last_ = place->first;
    return place->second;
  }
  void open(Value&& value) {
    if (levels_.size() == deepest)
      throw ValueError(text(fields_.place_, ": it is nested more than ", deepest, " deep"));
    if (levels_.empty() && std::holds_alternative<Object>(value)) {
      levels_.emplace_back();
      return;
    }
    Value& added = add(std::move(value));
    levels_.push_back(
        {.path = last_ + ".", .key = {}, .list = std::get_if<List>(&added), .object = std::get_if<Object>(&added)});
  }

  JsonFields& fields_;
  std::vector<Level> levels_;  // that are still open
  std::string last_;           // the path of the value added last
};

JsonFields::JsonFields(std::string place, std::string_view json) : place_(std::move(place)) {
  Reader reader(*this);
  try {
    read_json(json, reader);
  } catch (const JsonError& error) {
    throw ValueError(text(place_, ": byte ", error.position() + 1, " is not JSON"));
  }
}

std::string JsonFields::description_of(const Value& value) {
  constexpr std::size_t longest = 40;
  if (std::holds_alternative<std::nullptr_t>(value)) return "null";
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return to_text(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return to_text(*number);
  if (const auto* number = std::get_if<double>(&value)) return to_text(*number);
  if (const auto* string = std::get_if<std::string>(&value))
    return text("the text '", printable(string->substr(0, longest)), string->size() > longest ? "...'" : "'");
  return std::holds_alternative<List>(value) ? "a list" : "an object";
}

void JsonFields::refuse(std::string_view name, std::string_view expected, const Value& found) const {
  throw ValueError(text(place_, ": ", name, " has to be ", expected, ", and is ", description_of(found)));
}

const JsonFields::Value& JsonFields::value(std::string_view name, std::string_view expected) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const std::string_view outer = name.substr(0, std::min(name.rfind('.'), name.size()));
  if (const auto found = values_.find(outer); found != values_.end() && !std::holds_alternative<Object>(found->second))
    refuse(outer, "an object", found->second);
  throw ValueError(text(place_, ": ", name, " is missing; it has to be ", expected));
}

std::int64_t JsonFields::integer(std::string_view name) const {
  constexpr const char* expected = "a whole number of 64 bits";
  const Value& found = value(name, expected);
  if (const auto* number = std::get_if<std::int64_t>(&found)) return *number;
  refuse(name, expected, found);
}

std::int64_t JsonFields::integer_in(std::string_view name, std::int64_t smallest, std::int64_t largest) const {
  const std::string expected = text("a whole number from ", smallest, " to ", largest);
  const Value& found = value(name, expected);
  if (const auto* number = std::get_if<std::int64_t>(&found);
      number != nullptr && smallest <= *number && *number <= largest)
    return *number;
  refuse(name, expected, found);
}

std::uint64_t JsonFields::natural(std::string_view name) const {
  constexpr const char* expected = "a whole number of 64 bits that is not negative";
  const Value& found = value(name, expected);
  if (const auto* large = std::get_if<std::uint64_t>(&found)) return *large;
  if (const auto* number = std::get_if<std::int64_t>(&found); number != nullptr && *number >= 0)
    return static_cast<std::uint64_t>(*number);
  refuse(name, expected, found);
}

double JsonFields::number(std::string_view name) const {
  constexpr const char* expected = "a number";
  const Value& found = value(name, expected);
  if (const auto* number = std::get_if<double>(&found)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return static_cast<double>(*whole);
  if (const auto* large = std::get_if<std::uint64_t>(&found)) return static_cast<double>(*large);
  refuse(name, expected, found);
}

double JsonFields::number_in(std::string_view name, double smallest, double largest) const {
  const double found = number(name);
  if (smallest <= found && found <= largest) return found;
  refuse(name, text("a number from ", smallest, " to ", largest), value(name, ""));
}

double JsonFields::number_or_null(std::string_view name, double not_finite) const {
  return std::holds_alternative<std::nullptr_t>(value(name, "a number")) ? not_finite : number(name);
}

bool JsonFields::truth(std::string_view name) const {
  constexpr const char* expected = "true or false";
  const Value& found = value(name, expected);
  if (const bool* truth = std::get_if<bool>(&found)) return *truth;
  refuse(name, expected, found);
}

const std::string& JsonFields::string(std::string_view name) const {
  constexpr const char* expected = "a text";
  const Value& found = value(name, expected);
  if (const auto* string = std::get_if<std::string>(&found)) return *string;
  refuse(name, expected, found);
}

std::vector<std::string> JsonFields::strings(std::string_view name) const {
  constexpr const char* expected = "a list of texts";
  const Value& found = value(name, expected);
  const auto* list = std::get_if<List>(&found);
  if (list == nullptr) refuse(name, expected, found);
  std::vector<std::string> result;
  for (std::size_t k = 0; k < list->size; ++k) result.push_back(string(text(name, ".", k)));
  return result;
}

const std::vector<std::string>& JsonFields::members(std::string_view name) const {
  constexpr const char* expected = "an object";
  const Value& found = value(name, expected);
  if (const auto* object = std::get_if<Object>(&found)) return object->members;
  refuse(name, expected, found);
}

std::vector<std::string> JsonFields::in_words() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : values_) {
    if (std::holds_alternative<List>(value) || std::holds_alternative<Object>(value)) continue;
    const auto* string = std::get_if<std::string>(&value);
    result.push_back(text(printable(name), " ", string != nullptr ? printable(*string) : description_of(value)));
  }
  return result;
}

void JsonFields::erase(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
}

}  // namespace retrace
