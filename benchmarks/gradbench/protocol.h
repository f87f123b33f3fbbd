// GradBench's protocol: how a program's functions read their inputs and give their answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace::gradbench {

/// A JSON object, such as the input of a function. The eval hello sends a number instead, which is then the member
/// "value". Throws ValueError, naming the member, for one that is missing or of another type. The value must outlive
/// it.
class Input {
 public:
  explicit Input(const JsonValue& value) : value_(value) {}

  double number(const char* name) const;
  std::int64_t integer(const char* name) const;
  bool truth(const char* name) const;
  const std::string& word(const char* name) const;
  /// A number or nested lists of numbers, as f64. An empty list has the shape [0].
  Tensor tensor(const char* name) const;
  /// An integer or nested lists of integers, as i64.
  Tensor indices(const char* name) const;
  Input object(const char* name) const;
  bool has(const char* name) const;

 private:
  const JsonValue* find(const char* name) const;
  const JsonValue& at(const char* name) const;

  const JsonValue& value_;
};

/// The answer of a function: a tensor of f64 or i64, written as nested lists, or an object.
struct Answer {
  Answer() = default;
  Answer(Tensor tensor) : value(std::move(tensor)) {}
  Answer(std::map<std::string, Answer> object) : members(std::move(object)) {}
  void write(JsonWriter& json) const;

  Tensor value;
  std::map<std::string, Answer> members;
};

/// A function whose input has been read, ready to be timed.
using Run = std::function<Answer()>;
/// The function `name` of an eval.
struct Function {
  std::string_view name;
  Run (*prepare)(const Input& input);
};
/// An eval and its functions.
struct Eval {
  std::string_view name;
  std::span<const Function> functions;
};
/// A program's name and what it computes.
struct Tool {
  std::string_view name;
  std::span<const Eval* const> evals;
};
/// The answer of a tool to a message of GradBench's protocol, both as lines of JSON. Throws JsonError or ValueError for
/// what is no message; a function that throws is reported in the answer.
std::string respond(const Tool& tool, const std::string& message);
/// Answers each line of standard input on standard output; returns what main returns.
int serve(const Tool& tool);

}  // namespace retrace::gradbench
