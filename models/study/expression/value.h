// The values of the parts of an expression while it is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace::expressions {

struct Value;

/// Nothing is given: `none`.
struct None {};
/// An option by name, `relu`, `true`, or a text in quotes.
struct Word {
  std::string_view name;
};
/// Positions of an axis, `start:stop:step`, as in ops.h.
struct Positions {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};
struct List {
  std::vector<Value> items;
};
/// The results of an op that has several, by name; where one tensor is wanted, the first.
struct Results {
  std::vector<std::pair<std::string_view, Tensor>> members;
};
/// Tensors without names, of which one is chosen by its position.
struct Parts {
  Tensors tensors;
};

struct Value {
  std::variant<None, double, Word, Tensor, Results, Parts, Positions, List> is;
};

/// "the number 2.5", "the list [1, 2]", "a tensor [2, 3]": for errors.
std::string described(const Value& value);
/// The tensor that this is, or the first of several results; null for everything else.
const Tensor* tensor_in(const Value& value);
/// Numbers in nested lists as a tensor; an undefined tensor if a list holds anything but numbers and lists. Throws
/// ShapeError where the lists are ragged, and ValueError for an i64 that is not whole.
Tensor tensor_of_numbers(const Value& value, Dtype dtype);

}  // namespace retrace::expressions
