#include <retrace/models/study/expression/value.h>

#include <cmath>

namespace retrace::expressions {
namespace {

constexpr double largest_whole = 9007199254740992;  // 2^53: beyond, an f64 skips whole numbers
constexpr std::size_t shown_items = 4;

struct Flattened {
  std::vector<double> numbers;
  std::vector<std::int64_t> extents;
  bool only_numbers = true;
};

void flatten(const Value& value, std::size_t depth, Flattened& all) {
  if (const double* number = std::get_if<double>(&value.is)) {
    if (depth != all.extents.size()) throw ShapeError("a list holds numbers and lists side by side; make it even");
    all.numbers.push_back(*number);
    return;
  }
  const List* list = std::get_if<List>(&value.is);
  if (list == nullptr) {
    all.only_numbers = false;
    return;
  }
  const std::int64_t length = std::ssize(list->items);
  if (depth == all.extents.size() && all.numbers.empty() && depth < max_rank) all.extents.push_back(length);
  if (depth >= all.extents.size())
    throw ShapeError(text("the lists are nested too deep, or differently; a tensor has up to ", max_rank, " axes"));
  if (all.extents[depth] != length)
    throw ShapeError(
        text("lists side by side have ", all.extents[depth], " and ", length, " entries; give them the same length"));
  for (const Value& item : list->items) flatten(item, depth + 1, all);
}

Tensor whole_numbers(const Flattened& all) {
  std::vector<std::int64_t> whole;
  for (const double number : all.numbers) {
    if (number != std::trunc(number) || !(std::abs(number) <= largest_whole))
      throw ValueError(text(number, " is no whole number up to 2^53, which an i64 has to be here"));
    whole.push_back(static_cast<std::int64_t>(number));
  }
  return indices(whole, Shape(all.extents));
}

std::string described_list(const List& list) {
  std::string items;
  for (std::size_t k = 0; k < std::min(list.items.size(), shown_items); ++k) {
    const double* number = std::get_if<double>(&list.items[k].is);
    items += text(k > 0 ? ", " : "", number == nullptr ? described(list.items[k]) : text(*number));
  }
  return text("the list [", items, list.items.size() > shown_items ? ", ...]" : "]");
}

}  // namespace

std::string described(const Value& value) {
  struct Describe {
    std::string operator()(None) const { return "none"; }
    std::string operator()(double number) const { return text("the number ", number); }
    std::string operator()(const Word& word) const { return text("'", word.name, "'"); }
    std::string operator()(const Tensor& x) const { return text("a tensor ", x.shape()); }
    std::string operator()(const Results& results) const { return text(results.members.size(), " results"); }
    std::string operator()(const Parts& parts) const { return text(parts.tensors.size(), " tensors"); }
    std::string operator()(const Positions&) const { return "a range of positions"; }
    std::string operator()(const List& list) const { return described_list(list); }
  };
  return std::visit(Describe(), value.is);
}

const Tensor* tensor_in(const Value& value) {
  if (const Tensor* x = std::get_if<Tensor>(&value.is)) return x;
  if (const Results* results = std::get_if<Results>(&value.is)) return &results->members.front().second;
  return nullptr;
}

Tensor tensor_of_numbers(const Value& value, Dtype dtype) {
  Flattened all;
  flatten(value, 0, all);
  if (!all.only_numbers) return {};
  if (dtype == i64) return whole_numbers(all);
  return tensor(all.numbers, Shape(all.extents), dtype);
}

}  // namespace retrace::expressions
