#include <retrace/benchmarks/gradbench/protocol.h>
#include <retrace/models/checks/json_tensor.h>

#include <cmath>

namespace retrace::gradbench {
namespace {

[[noreturn]] void refuse(const char* name, const char* expected) {
  throw ValueError(text("gradbench: the member ", name, " of the input must be ", expected));
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

constexpr const char* numbers_expected = "a number or lists of numbers, all of the same lengths";

// Numbers without null, which tensor_from reads as NaN.
Tensor numbers_in(const JsonValue& value, const char* name) {
  Tensor numbers;
  try {
    numbers = tensor_from(value);
  } catch (const ValueError&) {
    refuse(name, numbers_expected);
  }
  for (const double x : numbers.values<double>())
    if (std::isnan(x)) refuse(name, numbers_expected);
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
Tensor Input::tensor(const char* name) const { return numbers_in(at(name), name); }
Tensor Input::indices(const char* name) const {
  const Tensor numbers = numbers_in(at(name), name);
  for (const double x : numbers.values<double>())
    if (x != std::trunc(x)) refuse(name, numbers_expected);
  return numbers.to(i64);
}
Input Input::object(const char* name) const { return Input(at(name)); }

}  // namespace retrace::gradbench
