#include <retrace/benchmarks/gradbench/protocol.h>

#include <vector>

namespace retrace::gradbench {
namespace {

[[noreturn]] void refuse(const char* name, const char* expected) {
  throw ValueError(text("gradbench: the member ", name, " of the input must be ", expected));
}

// The shape of nested lists, by the first of each level.
Shape shape_of(const JsonValue& value) {
  std::vector<std::int64_t> extents;
  for (const JsonValue* level = &value; level->get<JsonValue::List>() != nullptr;) {
    const JsonValue::List& list = *level->get<JsonValue::List>();
    extents.push_back(static_cast<std::int64_t>(list.size()));
    if (list.empty()) break;
    level = &list.front();
  }
  return Shape(std::span<const std::int64_t>(extents));
}

bool read(const JsonValue& value, double& number) {
  if (const auto* integer = value.get<std::int64_t>()) number = static_cast<double>(*integer);
  if (const auto* real = value.get<double>()) number = *real;
  return value.get<std::int64_t>() != nullptr || value.get<double>() != nullptr;
}
bool read(const JsonValue& value, std::int64_t& number) {
  if (const auto* integer = value.get<std::int64_t>()) number = *integer;
  return value.get<std::int64_t>() != nullptr;
}

// Appends the numbers of a value of this shape, from `axis` on; false if it has another.
template <class T> bool flatten(const JsonValue& value, const Shape& shape, int axis, std::vector<T>& numbers) {
  if (axis == shape.rank()) {
    numbers.emplace_back();
    return read(value, numbers.back());
  }
  const auto* list = value.get<JsonValue::List>();
  if (list == nullptr || static_cast<std::int64_t>(list->size()) != shape[axis]) return false;
  for (const JsonValue& element : *list)
    if (!flatten(element, shape, axis + 1, numbers)) return false;
  return true;
}

template <class T> std::vector<T> numbers_in(const JsonValue& value, const Shape& shape, const char* name) {
  std::vector<T> numbers;
  if (!flatten(value, shape, 0, numbers)) refuse(name, "a number or lists of numbers, all of the same lengths");
  return numbers;
}

}  // namespace

const JsonValue* Input::find(const char* name) const {
  const auto* members = value_.get<JsonValue::Object>();
  if (members == nullptr) return name == std::string_view("value") ? &value_ : nullptr;
  const auto found = members->find(name);
  return found == members->end() ? nullptr : &found->second;
}
const JsonValue& Input::at(const char* name) const {
  if (const JsonValue* member = find(name)) return *member;
  throw ValueError(text("gradbench: the input has no member ", name));
}

bool Input::has(const char* name) const { return find(name) != nullptr; }
double Input::number(const char* name) const {
  double number = 0;
  if (!read(at(name), number)) refuse(name, "a number");
  return number;
}
std::int64_t Input::integer(const char* name) const {
  std::int64_t number = 0;
  if (!read(at(name), number)) refuse(name, "an integer");
  return number;
}
bool Input::truth(const char* name) const {
  const bool* truth = at(name).get<bool>();
  if (truth == nullptr) refuse(name, "true or false");
  return *truth;
}
const std::string& Input::word(const char* name) const {
  const auto* word = at(name).get<std::string>();
  if (word == nullptr) refuse(name, "a text");
  return *word;
}
Tensor Input::tensor(const char* name) const {
  const Shape shape = shape_of(at(name));
  return retrace::tensor(std::span<const double>(numbers_in<double>(at(name), shape, name)), shape, f64);
}
Tensor Input::indices(const char* name) const {
  const Shape shape = shape_of(at(name));
  return retrace::indices(std::span<const std::int64_t>(numbers_in<std::int64_t>(at(name), shape, name)), shape);
}
Input Input::object(const char* name) const { return Input(at(name)); }

}  // namespace retrace::gradbench
