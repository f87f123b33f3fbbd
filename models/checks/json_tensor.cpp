#include <retrace/models/checks/json_tensor.h>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace retrace {
namespace {

template <class T> void write_axis(JsonWriter& writer, std::span<const T>& rest, const Shape& shape, int axis) {
  if (axis == shape.rank()) {
    writer.value(rest.front());
    rest = rest.subspan(1);
    return;
  }
  writer.begin_array();
  for (std::int64_t i = 0; i < shape[axis]; ++i) write_axis(writer, rest, shape, axis + 1);
  writer.end_array();
}

/// The lengths of the first list at each level.
std::vector<std::int64_t> lengths_of(const JsonValue& numbers) {
  std::vector<std::int64_t> lengths;
  for (const JsonValue* level = &numbers; const auto* list = level->get<JsonValue::List>(); level = &list->front()) {
    lengths.push_back(static_cast<std::int64_t>(list->size()));
    if (list->empty()) break;
  }
  return lengths;
}

double number_of(const JsonValue& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto* integer = value.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* number = value.get<double>()) return *number;
  throw ValueError(value.get<JsonValue::List>() != nullptr ? "has a list beside a number"
                                                           : "is neither a number nor nested lists of numbers");
}

void append(std::vector<double>& result, const JsonValue& value, std::span<const std::int64_t> lengths) {
  if (lengths.empty()) return result.push_back(number_of(value));
  const auto* list = value.get<JsonValue::List>();
  if (list == nullptr) throw ValueError("has a number beside a list");
  if (static_cast<std::int64_t>(list->size()) != lengths[0])
    throw ValueError(text("has a list of ", list->size(), " beside one of ", lengths[0]));
  for (const JsonValue& item : *list) append(result, item, lengths.subspan(1));
}

}  // namespace

void write_tensor(JsonWriter& writer, const Tensor& x) {
  if (x.dtype() == i64) {
    std::span<const std::int64_t> rest = x.values<std::int64_t>();
    write_axis(writer, rest, x.shape(), 0);
  } else {
    std::span<const double> rest = x.values<double>();
    write_axis(writer, rest, x.shape(), 0);
  }
}

Tensor tensor_from(const JsonValue& numbers) {
  const std::vector<std::int64_t> lengths = lengths_of(numbers);
  if (lengths.size() > max_rank) throw ValueError(text("has ", lengths.size(), " axes; a tensor has up to ", max_rank));
  std::vector<double> result;
  append(result, numbers, lengths);
  return tensor(std::span<const double>(result), Shape(lengths), f64);
}

}  // namespace retrace
