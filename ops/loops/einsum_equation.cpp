#include <retrace/ops/loops/einsum_equation.h>

#include <cctype>
#include <map>

#include <retrace/core/base/printable.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr AxisLabel first_of_ellipsis = 128;

/// An equation and its operands, for errors.
struct Call {
  std::string equation;  // without blanks
  const Tensors& operands;

  std::string begin() const { return text("einsum: \"", printable(equation), "\""); }
  std::string operand(std::size_t k) const { return describe_operand(text("x", k).c_str(), operands[k]); }
  [[noreturn]] void refuse(const std::string& why) const { throw ValueError(begin() + why); }
};

std::string without_blanks(std::string_view equation) {
  std::string result;
  for (const char c : equation)
    if (c != ' ') result += c;
  return result;
}

/// The groups between commas: at least one.
std::vector<std::string_view> groups_of(std::string_view inputs) {
  std::vector<std::string_view> groups;
  for (;;) {
    const std::size_t comma = inputs.find(',');
    groups.push_back(inputs.substr(0, comma));
    if (comma == inputs.npos) return groups;
    inputs.remove_prefix(comma + 1);
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// How many letters a group has. Throws ValueError for anything but letters and one "...".
int letters_in(const Call& call, std::string_view group) {
  int letters = 0;
  bool has_ellipsis = false;
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (is_letter(group[k])) {
      ++letters;
    } else if (group.substr(k, 3) == "..." && !has_ellipsis) {
      has_ellipsis = true;
      k += 2;
    } else {
      call.refuse(text(" has '", printable(group.substr(k, 1)),
                       "' in a group; write letters, at most one ... per group, commas and one ->"));
    }
  }
  return letters;
}

bool has_ellipsis(std::string_view group) { return group.find("...") != group.npos; }

/// The labels of a group whose "..." stands for `hidden` axes.
AxisLabels labels_of(std::string_view group, int hidden) {
  AxisLabels labels;
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (is_letter(group[k])) {
      labels.push_back(group[k]);
      continue;
    }
    for (int after = hidden - 1; after >= 0; --after) labels.push_back(first_of_ellipsis + after);
    k += 2;
  }
  return labels;
}

AxisLabels labels_of_operand(const Call& call, std::string_view group, std::size_t k) {
  const int letters = letters_in(call, group), rank = call.operands[k].rank();
  if (has_ellipsis(group) ? rank < letters : rank != letters)
    throw ShapeError(text(call.begin(), ": ", call.operand(k), " has ", rank, " axes, but its group ", "\"", group,
                          "\" names ", letters, "; give one letter per axis, or ... for the rest"));
  return labels_of(group, rank - letters);
}

/// Letters have one length; axes of "..." one beside 1.
void check_lengths(const Call& call, const std::vector<AxisLabels>& labels) {
  std::map<AxisLabel, std::pair<std::int64_t, std::size_t>> known;  // the length, and whose it is
  for (std::size_t k = 0; k < labels.size(); ++k)
    for (std::size_t axis = 0; axis < labels[k].size(); ++axis) {
      const AxisLabel label = labels[k][axis];
      const std::int64_t length = call.operands[k].dim(static_cast<int>(axis));
      const bool broadcasts = label >= first_of_ellipsis;
      const auto [found, is_new] = known.try_emplace(label, length, k);
      auto& [before, owner] = found->second;
      if (is_new || length == before || (broadcasts && length == 1)) continue;
      if (!broadcasts || before != 1)
        throw ShapeError(text(call.begin(), ": ",
                              broadcasts ? "an axis of ..." : std::string(1, static_cast<char>(label)), " is ", before,
                              " in ", call.operand(owner), " and ", length, " in ", call.operand(k),
                              broadcasts ? ", but must be equal or 1" : "; a letter has one length"));
      before = length;
      owner = k;
    }
}

/// The labels of "...", as many as an operand has at most, and then the letters that occur once.
AxisLabels implicit_labels(const std::vector<AxisLabels>& operands, int hidden) {
  AxisLabels y = labels_of("...", hidden), letters;
  for (const AxisLabels& labels : operands)
    for (const AxisLabel label : labels)
      if (label < first_of_ellipsis) letters.push_back(label);
  std::sort(letters.begin(), letters.end());
  for (const AxisLabel letter : letters)
    if (std::count(letters.begin(), letters.end(), letter) == 1) y.push_back(letter);
  return y;
}

AxisLabels labels_of_y(const Call& call, std::string_view group, const std::vector<AxisLabels>& operands, int hidden) {
  letters_in(call, group);
  const AxisLabels y = labels_of(group, hidden);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const auto has = [&](const AxisLabels& labels) { return contains(labels, y[k]); };
    const std::string name(1, static_cast<char>(y[k]));
    if (std::count(y.begin(), y.end(), y[k]) > 1) call.refuse(text(" names ", name, " twice after ->; name it once"));
    if (std::none_of(operands.begin(), operands.end(), has))
      call.refuse(text(" names ", name, " only after ->; an operand must have it"));
  }
  return y;
}

/// Throws ShapeError if a product of operands has more axes than a tensor can.
void check_ranks(const Call& call, const EinsumEquation& equation) {
  AxisLabels all;
  for (std::size_t k = 0; k < equation.operands.size(); ++k) {
    for (const AxisLabel label : equation.operands[k])
      if (!contains(all, label)) all.push_back(label);
    const auto is_done = [&](AxisLabel label) { return !equation.needs_after(k, label); };
    all.erase(std::remove_if(all.begin(), all.end(), is_done), all.end());
    if (all.size() > max_rank)
      throw ShapeError(text(call.begin(), ": the product of the operands up to ", call.operand(k), " has ", all.size(),
                            " axes; there are at most ", max_rank, ": give the operands in another order"));
  }
}

}  // namespace

bool EinsumEquation::needs_after(std::size_t k, AxisLabel label) const {
  if (contains(y, label)) return true;
  for (std::size_t later = k + 1; later < operands.size(); ++later)
    if (contains(operands[later], label)) return true;
  return false;
}

EinsumEquation parse_einsum(std::string_view equation, const Tensors& operands) {
  const Call call{without_blanks(equation), operands};
  const std::size_t arrow = call.equation.find("->");
  const std::string_view whole = call.equation;
  const std::vector<std::string_view> groups = groups_of(whole.substr(0, arrow));
  if (groups.size() != operands.size())
    call.refuse(text(" has ", groups.size(), " groups for ", operands.size(), " operands; give one per operand"));
  EinsumEquation result;
  int hidden = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    result.operands.push_back(labels_of_operand(call, groups[k], k));
    if (has_ellipsis(groups[k])) hidden = std::max(hidden, operands[k].rank() - letters_in(call, groups[k]));
  }
  check_lengths(call, result.operands);
  result.y = arrow == whole.npos ? implicit_labels(result.operands, hidden)
                                 : labels_of_y(call, whole.substr(arrow + 2), result.operands, hidden);
  check_ranks(call, result);
  return result;
}

}  // namespace retrace
