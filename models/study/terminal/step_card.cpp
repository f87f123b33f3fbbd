#include <retrace/core/base/printable.h>
#include <retrace/models/study/terminal/step_card.h>

#include <algorithm>

namespace retrace {
namespace {

const TraceNode& node_of(const Trace& trace, int number) { return trace.nodes[static_cast<std::size_t>(number)]; }

std::string described(const TraceNode& node) { return text(printable(node.name), node.shape); }

std::string listed(const Trace& trace, const std::vector<int>& nodes) {
  std::string result;
  for (const int node : nodes) result += text(result.empty() ? "" : ", ", described(node_of(trace, node)));
  return result;
}

std::string value_text(const AttributeValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return to_text(*truth);
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return to_text(*integer);
  if (const double* number = std::get_if<double>(&value)) return to_text(*number);
  if (const std::string* words = std::get_if<std::string>(&value)) return printable(*words);
  if (const Tensor* tensor = std::get_if<Tensor>(&value))
    return tensor->defined() ? text("a tensor ", tensor->shape()) : std::string("none");
  std::string list;
  for (const std::int64_t integer : std::get<std::vector<std::int64_t>>(value))
    list += text(list.empty() ? "" : ", ", integer);
  return "[" + list + "]";
}

std::string attributes_text(const TraceRecord& record) {
  std::string result;
  for (const Attribute& attribute : record.attributes)
    result += text(result.empty() ? "" : ", ", printable(attribute.name), " ", value_text(attribute.value));
  return result;
}

bool is_of_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_' || letter == '\'';
}

/// The end of the name that begins there.
std::size_t end_of_name(std::string_view formula, std::size_t begin) {
  while (begin < formula.size() && is_of_name(formula[begin])) ++begin;
  return begin;
}

bool names(std::string_view formula, std::string_view name) {
  for (std::size_t begin = 0; begin < formula.size();) {
    const std::size_t end = end_of_name(formula, begin);
    if (end > begin && formula.substr(begin, end - begin) == name) return true;
    begin = std::max(end, begin + 1);
  }
  return false;
}

/// Makes the card of one record.
class CardMaker {
 public:
  CardMaker(const Trace& trace, const TraceRecord& record)
      : trace_(trace), record_(record), results_(result_names(record.formulas.forward, record.outputs.size())) {}

  void add_forward(StepCard& card) const {
    card.lines.push_back(printable(record_.formulas.forward));
    if (const std::string attributes = attributes_text(record_); !attributes.empty()) card.lines.push_back(attributes);
    for (std::size_t i = 0; i < record_.inputs.size(); ++i) card.arrays.push_back(input_value(i));
    for (std::size_t j = 0; j < record_.outputs.size(); ++j) {
      card.arrays.push_back(output_value(j));
      card.arrays.back().title.insert(0, "-> ");
    }
  }

  void add_backward(StepCard& card) const {
    const std::string& formula = record_.formulas.backward;
    card.lines.push_back(printable(formula));
    for (std::size_t i = 0; i < record_.inputs.size(); ++i)
      if (names(formula, record_.input_names[i])) card.arrays.push_back(input_value(i));
    for (std::size_t j = 0; j < record_.outputs.size(); ++j)
      if (names(formula, results_[j])) card.arrays.push_back(output_value(j));
    for (std::size_t j = 0; j < record_.outputs.size(); ++j)
      if (record_.output_gradients[j].exists()) add_arrived(card, j);
    for (std::size_t i = 0; i < record_.inputs.size(); ++i)
      if (record_.contributions[i]) add_sent(card, i);
  }

 private:
  const TraceNode& input(std::size_t i) const { return node_of(trace_, record_.inputs[i]); }
  const TraceNode& output(std::size_t j) const { return node_of(trace_, record_.outputs[j]); }

  /// "dx = d%3[2, 4]": a letter of the formula and the tensor that it stands for, if that has another name.
  static std::string assigned(const char* d, const std::string& letter, const TraceNode& node) {
    const std::string tensor = d + described(node);
    return letter.empty() || letter == node.name ? tensor : text(d, printable(letter), " = ", tensor);
  }

  StepCard::Array input_value(std::size_t i) const {
    return {assigned("", record_.input_names[i], input(i)), &input(i).value, &input(i).row_names};
  }
  StepCard::Array output_value(std::size_t j) const {
    return {assigned("", results_[j], output(j)), &output(j).value, &output(j).row_names};
  }
  void add_arrived(StepCard& card, std::size_t j) const {
    card.arrays.push_back(
        {assigned("d", results_[j], output(j)) + " arrived", &record_.output_gradients[j], &output(j).row_names, true});
  }
  void add_sent(StepCard& card, std::size_t i) const {
    const Contribution& part = *record_.contributions[i];
    const auto add = [&](const std::string& title, const Capture& capture) {
      card.arrays.push_back({title, &capture, &input(i).row_names, true});
    };
    add("-> " + assigned("d", record_.input_names[i], input(i)), part.contribution);
    if (!part.before.exists()) return;
    add(text("   before, d", printable(input(i).name)), part.before);
    add("   before + this", part.after);
  }

  const Trace& trace_;
  const TraceRecord& record_;
  std::vector<std::string> results_;
};

}  // namespace

std::vector<std::string> result_names(std::string_view formula, std::size_t count) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin < formula.size();) {
    std::size_t end = end_of_name(formula, begin);
    const std::string name(formula.substr(begin, end - begin));
    if (end < formula.size() && formula[end] == '[') end = std::min(formula.find(']', end), formula.size() - 1) + 1;
    const bool is_new = !name.empty() && std::ranges::find(found, name) == found.end();
    if (is_new && formula.substr(end).starts_with(" =")) found.push_back(name);
    const std::size_t comma = formula.find(", ", begin);
    begin = comma == formula.npos ? formula.size() : comma + 2;
  }
  if (found.size() > count) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count));
  found.resize(count);
  return found;
}

std::string heading_of(const Trace& trace, const TraceStep& step) {
  const TraceRecord& record = trace.records[step.record];
  const std::string path = record.path.empty() ? "" : printable(record.path) + "  ", op = printable(record.op);
  if (!step.backward)
    return text(step.record, "  ", path, listed(trace, record.outputs), " <- ", op, " ", listed(trace, record.inputs));
  return text(step.record, "  ", path, "backward of ", op);
}

StepCard card_of(const Trace& trace, const TraceStep& step) {
  StepCard card{.heading = heading_of(trace, step), .lines = {}, .arrays = {}};
  const CardMaker maker(trace, trace.records[step.record]);
  step.backward ? maker.add_backward(card) : maker.add_forward(card);
  return card;
}

}  // namespace retrace
