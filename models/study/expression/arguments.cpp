#include <retrace/models/study/expression/arguments.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace retrace::expressions {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> truth_words{"false", "true"};
constexpr std::array<std::string_view, 6> activation_words{"none", "relu", "tanh", "sigmoid", "gelu", "gelu_tanh"};
constexpr std::array<std::string_view, 3> reduction_words{"mean", "sum", "none"};
constexpr std::array<std::string_view, 2> layout_words{"by_head", "by_kind"};
constexpr std::array<std::string_view, 2> rotary_words{"adjacent", "halves"};
constexpr std::array<std::string_view, 2> corner_words{"lower_right", "upper_left"};
constexpr std::array<std::string_view, 2> reset_words{"after_product", "before_product"};
constexpr std::array<std::string_view, 3> dtype_words{"f32", "f64", "i64"};
constexpr std::array<std::string_view, 2> index_words{"all", "new_axis"};

}  // namespace

// The words are in the order of the constants that they name.
template <> Names words_of<bool>() { return truth_words; }
template <> Names words_of<Activation>() { return activation_words; }
template <> Names words_of<Reduction>() { return reduction_words; }
template <> Names words_of<PackedLayout>() { return layout_words; }
template <> Names words_of<RotaryPairs>() { return rotary_words; }
template <> Names words_of<CausalCorner>() { return corner_words; }
template <> Names words_of<GruReset>() { return reset_words; }
template <> Names words_of<Dtype>() { return dtype_words; }
template <> Names words_of<std::vector<SliceIndex>>() { return index_words; }

void Argument::refuse(std::string_view kind, const Value& value) const {
  throw ValueError(text(op_, ": ", parameter_.name, " is ", kind, ", not ", described(value)));
}

std::size_t Argument::word() const {
  const Word* given = std::get_if<Word>(&value_.is);
  const std::string_view name = given != nullptr ? given->name : is_none() ? "none" : "";
  const auto found = std::ranges::find(parameter_.words, name);
  if (found != parameter_.words.end()) return static_cast<std::size_t>(found - parameter_.words.begin());
  std::string choice;
  for (const std::string_view known : parameter_.words) choice += text(choice.empty() ? "" : " or ", known);
  refuse(choice, value_);
}

std::int64_t Argument::whole(const Value& value) const {
  const double* number = std::get_if<double>(&value.is);
  constexpr double largest = 9007199254740992;  // 2^53
  if (number == nullptr || *number != std::trunc(*number) || std::abs(*number) > largest)
    refuse("a whole number", value);
  return static_cast<std::int64_t>(*number);
}

/// A list, or a single number.
std::vector<std::int64_t> Argument::whole_numbers(const Value& value) const {
  const List* list = std::get_if<List>(&value.is);
  if (list == nullptr && !std::holds_alternative<double>(value.is)) refuse("a list of whole numbers", value);
  if (list == nullptr) return {whole(value)};
  std::vector<std::int64_t> result;
  for (const Value& item : list->items) result.push_back(whole(item));
  return result;
}

Tensor Argument::tensor_from(const Value& value, Dtype dtype) const {
  if (const Tensor* x = tensor_in(value)) return *x;
  if (const Parts* parts = std::get_if<Parts>(&value.is))
    throw ValueError(text(op_, ": ", parameter_.name, " is one tensor, not ", parts->tensors.size(),
                          "; choose one by its position, as in split(x, [2, 2])[0]"));
  const bool is_constant = std::holds_alternative<double>(value.is) || std::holds_alternative<List>(value.is);
  Tensor constant = is_constant ? tensor_of_numbers(value, dtype) : Tensor();
  if (!constant.defined()) refuse("a tensor", value);
  return constant;
}

void Argument::take(Tensor& result) const {
  if (is_none() && !parameter_.is_required) return;
  result = tensor_from(value_, parameter_.is_whole ? i64 : constants_);
}

void Argument::take(NumberOrTensor& result) const {
  if (const double* number = std::get_if<double>(&value_.is))
    result = *number;
  else
    result = tensor_from(value_, constants_);
}

void Argument::take(Tensors& result) const {
  if (const Parts* parts = std::get_if<Parts>(&value_.is)) {
    result = parts->tensors;
    return;
  }
  const List* list = std::get_if<List>(&value_.is);
  if (list == nullptr) refuse("a list of tensors, [a, b]", value_);
  for (const Value& item : list->items) result.push_back(tensor_from(item, parameter_.is_whole ? i64 : constants_));
}

void Argument::take(double& result) const {
  const double* number = std::get_if<double>(&value_.is);
  if (number == nullptr) refuse("a number", value_);
  result = *number;
}

void Argument::take(std::int64_t& result) const { result = whole(value_); }

void Argument::take(int& result) const {
  const std::int64_t number = whole(value_);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    refuse("a whole number of 32 bits", value_);
  result = static_cast<int>(number);
}

void Argument::take(bool& result) const { result = word() == 1; }

void Argument::take(std::optional<double>& result) const {
  if (!is_none()) take(result.emplace());
}

void Argument::take(std::optional<std::int64_t>& result) const {
  if (!is_none()) result = whole(value_);
}

void Argument::take(std::vector<std::int64_t>& result) const { result = whole_numbers(value_); }

void Argument::take(std::vector<int>& result) const {
  if (is_none() && !parameter_.is_required) return;
  for (const std::int64_t number : whole_numbers(value_)) {
    if (std::abs(number) > std::numeric_limits<int>::max()) refuse("a list of axes", value_);
    result.push_back(static_cast<int>(number));
  }
}

void Argument::take(Axes& result) const {
  if (is_none() && !parameter_.is_required) return;
  std::vector<int> axes;
  take(axes);
  result = Axes(axes);
}

void Argument::take(Shape& result) const { result = Shape(whole_numbers(value_)); }

void Argument::take(std::string_view& result) const {
  const Word* given = std::get_if<Word>(&value_.is);
  if (given == nullptr) refuse("a text in quotes", value_);
  result = given->name;
}

void Argument::take(std::vector<Padding>& result) const {
  const List* list = std::get_if<List>(&value_.is);
  if (list == nullptr) refuse("a list of pairs, [[before, after], ...]", value_);
  for (const Value& item : list->items) {
    const std::vector<std::int64_t> pair = whole_numbers(item);
    if (pair.size() != 2) refuse("a list of pairs, [[before, after], ...]", value_);
    result.push_back({.before = pair[0], .after = pair[1]});
  }
}

SliceIndex Argument::slice_index(const Value& value) const {
  if (const Positions* some = std::get_if<Positions>(&value.is))
    return range(some->start.value_or(SliceIndex::none), some->stop.value_or(SliceIndex::none), some->step);
  const Word* word = std::get_if<Word>(&value.is);
  if (word != nullptr && word->name == "all") return all;
  if (word != nullptr && word->name == "new_axis") return new_axis;
  return whole(value);
}

void Argument::take(std::vector<SliceIndex>& result) const {
  const List* list = std::get_if<List>(&value_.is);
  if (list == nullptr) {
    result.push_back(slice_index(value_));
    return;
  }
  for (const Value& item : list->items) result.push_back(slice_index(item));
}

void Argument::take(Activation& result) const { result = static_cast<Activation>(word()); }
void Argument::take(Reduction& result) const { result = static_cast<Reduction>(word()); }
void Argument::take(PackedLayout& result) const { result = static_cast<PackedLayout>(word()); }
void Argument::take(RotaryPairs& result) const { result = static_cast<RotaryPairs>(word()); }
void Argument::take(CausalCorner& result) const { result = static_cast<CausalCorner>(word()); }
void Argument::take(GruReset& result) const { result = static_cast<GruReset>(word()); }
/// The dtype of the other tensors if none is given.
void Argument::take(Dtype& result) const {
  result = is_none() && !parameter_.is_required ? constants_ : static_cast<Dtype>(word());
}

}  // namespace retrace::expressions
