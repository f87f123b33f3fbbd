#include <retrace/core/base/printable.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/study/terminal/stepper.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>
#include <sstream>

namespace retrace {
namespace {

constexpr std::string_view help =
    "  Enter, n      the next step            b          the step before\n"
    "  12            record 12, from 0        e, s       the end, the start\n"
    "  /softmax      the next step whose scope, op or tensor has this in its name\n"
    "  t             this record's other step: its backward or its forward\n"
    "  v NAME        a tensor as numbers      m NAME     as a heat map in characters\n"
    "  d NAME        its gradient             dm NAME    its gradient as a heat map\n"
    "  i             the inputs of the step   g          the gradients of the step\n"
    "  l             the list of the steps    a          the title and the notes below it\n"
    "  h, ?          this help                q          quit\n"
    "  %5 is the result of record 5; d before a name means its gradient.\n";

class Stepper {
 public:
  Stepper(const Trace& trace, std::ostream& out, const ArrayStyle& style)
      : trace_(trace), out_(out), style_(style), steps_(steps_of(trace)) {}

  void run(std::istream& commands) {
    const int taken = introduce();
    show(taken);
    std::string line;
    while (prompt() && std::getline(commands, line)) {
      line.erase(0, line.find_first_not_of(' '));
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (line == "q" || line == "quit") return;
      obey(line);
    }
    out_ << "\n";
  }

 private:
  const TraceRecord& record() const { return trace_.records[steps_[now_].record]; }
  const TraceNode& node(int number) const { return trace_.nodes[static_cast<std::size_t>(number)]; }

  bool prompt() {
    out_ << (steps_[now_].backward ? "backward of " : "") << printable(record().op) << ", record "
         << steps_[now_].record << " of " << trace_.records.size() << " (h and Enter for help) > " << std::flush;
    return out_.good();
  }
  /// The lines that it took: no more than leave the first step a screen's larger part.
  int introduce() {
    std::istringstream all(introduction_of(trace_, style_.columns));
    int lines = 0;
    std::string line;
    for (; (style_.lines == 0 || lines < style_.lines / 3) && std::getline(all, line); ++lines) out_ << line << "\n";
    if (std::getline(all, line)) out_ << "  ... (a shows all)\n", ++lines;
    out_ << "\n";
    return lines + 1;
  }
  /// The step in the lines of the terminal that are left by others: a blank line, the prompt and the one before it.
  void show(int others = 0) {
    ArrayStyle left = style_;
    if (left.lines > 0) left.lines = std::max(4, left.lines - others - 3);
    out_ << to_text(card_of(trace_, steps_[now_]), left) << "\n";
  }
  void go(std::size_t step) {
    now_ = step;
    show();
  }

  void obey(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    const std::string operand = space == std::string::npos ? "" : line.substr(line.find_first_not_of(' ', space));
    if (line.empty() || command == "n" || command == "next")
      now_ + 1 < steps_.size() ? go(now_ + 1) : tell("this is the last step; b goes back, q quits");
    else if (command == "b" || command == "back")
      now_ > 0 ? go(now_ - 1) : tell("this is the first step");
    else if (command == "s" || command == "start")
      go(0);
    else if (command == "e" || command == "end")
      go(steps_.size() - 1);
    else if (command == "t")
      turn();
    else if (command == "l" || command == "list")
      list();
    else if (command == "h" || command == "?" || command == "help")
      out_ << help;
    else if (command == "a")
      out_ << introduction_of(trace_, style_.columns);
    else if (command == "i")
      show_inputs();
    else if (command == "g")
      show_gradients();
    else if (command == "v" || command == "m" || command == "d" || command == "dm")
      show_tensor(operand, command.front() == 'd', command.back() == 'm');
    else if (command.front() == '/')
      search(line.substr(1));
    else
      jump(command);
  }
  void tell(const std::string& message) { out_ << "  " << message << "\n"; }

  /// To the step of a record in the same direction, or in the other one where that has none.
  void jump(const std::string& word) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) {
      tell(text("there is no command ", printable(word), "; h lists them"));
      return;
    }
    if (number >= trace_.records.size()) {
      tell(text("there is no record ", number, "; the last one is ", trace_.records.size() - 1));
      return;
    }
    go_to(number, steps_[now_].backward);
  }
  void go_to(std::size_t number, bool backward) {
    const auto find = [&](bool direction) {
      return std::ranges::find_if(
          steps_, [&](const TraceStep& step) { return step.record == number && step.backward == direction; });
    };
    auto found = find(backward);
    if (found == steps_.end()) found = find(false);
    go(static_cast<std::size_t>(found - steps_.begin()));
  }
  void turn() {
    const TraceStep step = steps_[now_];
    if (!step.backward && !record().reached)
      tell("nothing flowed back to this record");
    else
      go_to(step.record, !step.backward);
  }
  void search(const std::string& word) {
    for (std::size_t k = 1; k <= steps_.size(); ++k) {
      const std::size_t step = (now_ + k) % steps_.size();
      if (heading_of(trace_, steps_[step]).find(word) == std::string::npos) continue;
      go(step);
      return;
    }
    tell(text("no scope, op or tensor has ", printable(word), " in its name; l lists the steps"));
  }
  void list() {
    for (std::size_t k = 0; k < steps_.size(); ++k)
      out_ << (k == now_ ? "> " : "  ") << heading_of(trace_, steps_[k]) << "\n";
  }
  void show_inputs() {
    for (const int input : record().inputs) show_capture(node(input).name, node(input).value, false);
  }
  void show_gradients() {
    for (std::size_t j = 0; j < record().outputs.size(); ++j)
      show_capture("d" + node(record().outputs[j]).name + " arrived", record().output_gradients[j], false);
    for (std::size_t i = 0; i < record().inputs.size(); ++i)
      if (record().contributions[i])
        show_capture("-> d" + node(record().inputs[i]).name, record().contributions[i]->contribution, false);
  }
  /// Without a name, the first output of the step.
  void show_tensor(const std::string& name, bool gradient, bool heat_map) {
    const std::string wanted = name.empty() ? node(record().outputs.front()).name : name;
    const auto found = std::ranges::find(trace_.nodes, wanted, &TraceNode::name);
    if (found == trace_.nodes.end()) {
      std::vector<std::string_view> names;
      for (const TraceNode& known : trace_.nodes) names.push_back(known.name);
      tell(text("there is no tensor ", printable(wanted), "; did you mean ", printable(nearest_name(wanted, names)),
                "?"));
      return;
    }
    show_capture((gradient ? "d" : "") + found->name, gradient ? found->gradient : found->value, heat_map);
    if (gradient) out_ << checks_text(trace_, static_cast<int>(found - trace_.nodes.begin()));
  }
  void show_capture(const std::string& name, const Capture& capture, bool heat_map) {
    out_ << printable(name) << (capture.exists() ? to_text(capture.values.shape()) : std::string()) << "\n"
         << (heat_map ? heat_map_text(capture, style_) : numbers_text(capture, style_));
  }

  const Trace& trace_;
  std::ostream& out_;
  ArrayStyle style_;
  std::vector<TraceStep> steps_;
  std::size_t now_ = 0;
};

}  // namespace

void step_through(const Trace& trace, std::istream& commands, std::ostream& out, const ArrayStyle& style) {
  if (trace.records.empty()) {
    out << "nothing was recorded\n";
    return;
  }
  Stepper(trace, out, style).run(commands);
}

}  // namespace retrace
