#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/element_index.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/training/not_finite.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

namespace retrace {
namespace {

constexpr double masked = -std::numeric_limits<double>::infinity();

/// The position of the first number with that property; -1 if there is none.
template <class Property> std::int64_t first_place(const Tensor& x, const Property& is_so) {
  if (x.dtype() == i64) return -1;
  return dispatch_real(x.dtype(), "first_not_finite", [&](auto zero) -> std::int64_t {
    const auto values = x.values<decltype(zero)>();
    const auto found = std::ranges::find_if(values, [&](auto value) { return is_so(static_cast<double>(value)); });
    return found == values.end() ? -1 : found - values.begin();
  });
}

bool is_not_finite(double value) { return !std::isfinite(value); }
bool is_masked(double value) { return value == masked; }
bool is_neither_finite_nor_masked(double value) { return is_not_finite(value) && !is_masked(value); }

/// Looks through a tape.
class Search {
 public:
  Search(Tape& tape, const Names& names) : tape_(tape), names_(names) {
    for (const Record* record : tape.records())
      for (int j = 0; j < record->outputs(); ++j)
        made_.emplace(&record->out(j), text("%", record->index(), j > 0 ? text(".", j) : ""));
  }

  std::optional<NotFinite> in_forward() {
    for (const Record* record : tape_.records()) {
      const std::vector<std::string> input_names = record->input_names();
      for (int i = 0; i < record->inputs(); ++i)
        if (const std::int64_t place = bad_input(*record, i); place >= 0)
          return at(*record, "its input " + input_names[static_cast<std::size_t>(i)], record->in(i), record->input(i),
                    place);
      for (int j = 0; j < record->outputs(); ++j)
        if (const std::int64_t place = bad_output(*record, j); place >= 0) {
          NotFinite found = at(*record, "its output", record->out(j), record->output(j), place);
          found.came_from = inputs_in_words(*record, input_names);
          return found;
        }
    }
    return std::nullopt;
  }

  std::optional<NotFinite> in_backward(const Tensor& loss) const {
    for (BackwardWalk walk(tape_, loss); walk.next();) {
      const Record& record = walk.record();
      for (int i = 0; i < record.inputs(); ++i) {
        if (!record.wants(i) || !record.input(i).has_grad()) continue;
        const Tensor gradient = record.input(i).grad();
        const std::int64_t place = first_place(gradient, is_not_finite);
        if (place < 0) continue;
        NotFinite found = at(record, "the gradient of its input " + record.input_names()[static_cast<std::size_t>(i)],
                             record.in(i), gradient, place);
        found.came_from = gradients_in_words(record);
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  /// Looks only at parameters and inputs of the computation, which no record of this tape made; -1 for others.
  std::int64_t bad_input(const Record& record, int i) {
    const TensorInfo& info = record.in(i);
    if (made_.contains(&info)) return -1;
    const Tensor x = record.input(i);
    if (record.wants(i)) return first_place(x, is_not_finite);
    if (first_place(x, is_masked) >= 0) masks_.insert(&info);
    return first_place(x, is_neither_finite_nor_masked);
  }

  std::int64_t bad_output(const Record& record, int j) {
    const Tensor y = record.output(j);
    const std::int64_t place = first_place(y, is_not_finite);
    if (place < 0 || !has_mask(record)) return place;
    const std::int64_t unmasked = first_place(y, is_neither_finite_nor_masked);
    if (unmasked < 0) masks_.insert(&record.out(j));
    return unmasked;
  }

  bool has_mask(const Record& record) const {
    for (int i = 0; i < record.inputs(); ++i)
      if (masks_.contains(&record.in(i))) return true;
    return std::ranges::any_of(record.attribute_list(), [](const Attribute& attribute) {
      const double* number = std::get_if<double>(&attribute.value);
      const Tensor* tensor = std::get_if<Tensor>(&attribute.value);
      return (number != nullptr && is_masked(*number)) ||
             (tensor != nullptr && tensor->defined() && first_place(*tensor, is_masked) >= 0);
    });
  }

  NotFinite at(const Record& record, std::string role, const TensorInfo& info, const Tensor& values,
               std::int64_t place) const {
    return {.record = record.index(),
            .op = record.op().name,
            .path = path_of(record, names_),
            .role = std::move(role),
            .tensor = name_of_tensor(info),
            .shape = info.shape,
            .index = index_at(place, info.shape),
            .value = number_at(values, place),
            .came_from = {}};
  }

  /// Empty for an input that has no name.
  std::string name_of_tensor(const TensorInfo& info) const {
    if (const std::string_view name = names_.find(info); !name.empty()) return std::string(name);
    const auto made = made_.find(&info);
    return made == made_.end() ? std::string() : made->second;
  }

  std::string reach(const Tensor& x) const {
    if (x.dtype() == i64) return "";
    const Statistics numbers = statistics_of(x);
    return text(" (from ", in_digits(numbers.min), " to ", in_digits(numbers.max), ")");
  }

  std::string inputs_in_words(const Record& record, const std::vector<std::string>& input_names) const {
    std::string words;
    for (int i = 0; i < record.inputs(); ++i) {
      const std::string name = name_of_tensor(record.in(i));
      words += text(words.empty() ? "" : ", ", input_names[static_cast<std::size_t>(i)],
                    name.empty() ? "" : " = " + name, reach(record.input(i)));
    }
    return words;
  }

  std::string gradients_in_words(const Record& record) const {
    std::string words;
    for (int j = 0; j < record.outputs(); ++j)
      if (record.has_grad_out(j) && record.output(j).has_grad())
        words += text(words.empty() ? "" : ", ", "the gradient of ", name_of_tensor(record.out(j)),
                      reach(record.output(j).grad()));
    return words;
  }

  Tape& tape_;
  const Names& names_;
  std::unordered_map<const TensorInfo*, std::string> made_;
  std::set<const TensorInfo*> masks_;
};

}  // namespace

std::optional<NotFinite> first_not_finite(Tape& tape, const Tensor& loss, const Names& names) {
  Search search(tape, names);
  std::optional<NotFinite> found = search.in_forward();
  return found ? found : search.in_backward(loss);
}

std::string to_text(const NotFinite& found) {
  return text("record ", found.record, ", ", found.op, found.path.empty() ? "" : " in " + found.path,
              ", is the first with a number that is not finite: ", found.role, found.tensor.empty() ? "" : " ",
              found.tensor, " ", found.shape, " is ", found.value,
              found.index.empty() ? "" : " at " + index_in_brackets(found.index),
              found.came_from.empty() ? "" : ", computed from " + found.came_from);
}

}  // namespace retrace
