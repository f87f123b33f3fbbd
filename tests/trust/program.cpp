// How random programs are made, printed and made smaller; program_run.cpp runs them.
#include <retrace/tests/trust/program.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

using naive::Array;
using naive::Arrays;
using naive::Extents;

constexpr double largest_value = 30, nearest_bend = 0.01;

/// Makes a program call by call.
class Maker {
 public:
  explicit Maker(std::string_view bytes) : choices_(bytes) {}

  Program make() {
    program_.dtype = choices_.below(3) == 0 ? f32 : f64;
    program_.threads = static_cast<int>(1 + choices_.below(4));
    program_.options = {.keep = choices_.below(4) == 0, .expand_fused = choices_.below(4) == 0};
    program_.runs = choices_.below(6) == 0 ? 2 : 1;
    large_ = choices_.below(100) == 99;
    leaf(shape(), true);
    const std::int64_t calls = 1 + choices_.below(large_ ? 3 : 12);
    for (std::int64_t k = 0; k < calls; ++k) call();
    choose_outputs();
    return std::move(program_);
  }

 private:
  std::int64_t most_elements() const { return large_ ? 10'000 : 400; }
  Extents shape() {
    if (large_) return {40 + choices_.below(60), 30 + choices_.below(40)};
    constexpr std::int64_t extents[] = {3, 1, 2, 4, 6, 12, 5, 9};
    Extents result;
    for (std::int64_t rank = choices_.below(4); rank > 0; --rank)
      result.push_back(extents[choices_.below(std::size(extents))]);
    return naive::count(result) <= most_elements() ? result : Extents{2, 3};
  }
  std::size_t leaf(const Extents& shape, bool is_parameter) {
    const auto salt = static_cast<std::uint64_t>(program_.nodes.size() * 977 + 13 * choices_.below(256));
    std::uint64_t state = salt * 6364136223846793005U + 1442695040888963407U;
    const Array value = naive::fill(shape, [&](const Extents&) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const double uniform = static_cast<double>(state >> 40) / (1 << 24);
      return naive::Number(static_cast<float>(3 * uniform - 1.3));  // the same number in f32 and f64
    });
    program_.nodes.push_back({.value = value, .wants = is_parameter, .is_leaf = true, .held = true});
    return program_.nodes.size() - 1;
  }
  /// A node of this shape that is there, or a new leaf.
  std::size_t operand(const Extents& shape) {
    std::vector<std::size_t> there;
    for (std::size_t k = 0; k < program_.nodes.size(); ++k)
      if (program_.nodes[k].value.shape == shape) there.push_back(k);
    if (!there.empty() && choices_.below(3) != 0)
      return there[static_cast<std::size_t>(choices_.below(std::ssize(there)))];
    return leaf(shape, choices_.below(4) != 0);
  }
  void call() {
    const std::int64_t half = choices_.below(2), count = std::ssize(program_ops());
    const std::int64_t chosen = (choices_.below(256) * 2 + half) % count;
    const ProgramOp& op = program_ops()[static_cast<std::size_t>(chosen)];
    const std::int64_t back = choices_.below(std::min<std::int64_t>(std::ssize(program_.nodes), 250));
    Program::Call made{.op = &op, .in = {program_.nodes.size() - 1 - static_cast<std::size_t>(back)}, .numbers = {}};
    const auto shapes = op.fit(program_.nodes[made.in[0]].value.shape, choices_, made.numbers);
    if (!shapes) return;
    const std::size_t before = program_.nodes.size();
    for (const Extents& shape : *shapes) {
      if (naive::count(shape) > most_elements()) return program_.nodes.resize(before);
      made.in.push_back(operand(shape));
    }
    const std::int64_t mode = choices_.below(24);
    made.mode = mode < 4 ? static_cast<Program::Mode>(mode) : Program::Mode::recorded;
    if (!compute(made)) program_.nodes.resize(before);
  }
  /// Adds the call with its results, unless they are not smooth, finite and moderate.
  bool compute(Program::Call& made) {
    Arrays in;
    bool wants = false;
    for (const std::size_t k : made.in) {
      in.push_back(program_.nodes[k].value);
      wants = wants || program_.nodes[k].wants;
    }
    const bool recorded = made.mode == Program::Mode::recorded || made.mode == Program::Mode::after_a_nested_tape;
    naive::nearest_kink = std::numeric_limits<double>::infinity();
    Arrays results = made.op->naive(in, made.numbers);
    if (!(naive::nearest_kink > nearest_bend)) return false;
    for (const Array& each : results) {
      if (std::ssize(each.at) > most_elements() || each.at.empty() || each.rank() > 5) return false;
      for (const naive::Number& number : each.at)
        if (!(std::abs(number.value) < largest_value)) return false;
    }
    made.first = program_.nodes.size();
    made.count = results.size();
    for (Array& each : results)
      program_.nodes.push_back({.value = std::move(each),
                                .wants = wants && recorded,
                                .is_part = made.count > 1,
                                .held = choices_.below(4) == 0});
    program_.calls.push_back(made);
    return true;
  }
  void choose_outputs() {
    std::vector<std::size_t> able;
    for (std::size_t k = 0; k < program_.nodes.size(); ++k)
      if (program_.nodes[k].wants && !program_.nodes[k].is_leaf) able.push_back(k);
    if (able.empty()) return;
    program_.outputs = {able.back()};
    if (const std::size_t other = able[static_cast<std::size_t>(choices_.below(std::ssize(able)))];
        other != able.back())
      program_.outputs.push_back(other);
    for (const std::size_t k : program_.outputs) program_.nodes[k].held = true;
  }

  Choices choices_;
  Program program_;
  bool large_ = false;
};

std::string in_words(const Extents& shape) {
  std::string result = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) result += text(k == 0 ? "" : ", ", shape[k]);
  return result + "]";
}

}  // namespace

Program make_program(std::string_view bytes) { return Maker(bytes).make(); }

std::string in_words(const Program& program) {
  constexpr const char* modes[] = {"", ", without a tape", ", detached", ", after a nested tape"};
  std::string result = text(program.dtype, ", ", program.threads, " threads", program.options.keep ? ", keep" : "",
                            program.options.expand_fused ? ", expand_fused" : "", ", ", program.runs, " runs\n");
  const auto named = [&](std::size_t k) {
    const Program::Node& node = program.nodes[k];
    return text(node.is_leaf ? (node.wants ? "w" : "x") : "%", k, in_words(node.value.shape),
                node.held && !node.is_leaf ? " (held)" : "");
  };
  for (const Program::Call& call : program.calls) {
    std::string line;
    for (std::size_t k = call.first; k < call.first + call.count; ++k) line += named(k) + " ";
    line += text("<- ", call.op->name);
    for (const std::size_t k : call.in) line += " " + named(k);
    for (const std::int64_t number : call.numbers) line += text(" ", number);
    result += line + modes[static_cast<int>(call.mode)] + "\n";
  }
  for (const std::size_t k : program.outputs) result += text("backward from ", named(k), "\n");
  return result;
}

std::string shrunk(std::string bytes, const std::function<bool(std::string_view)>& fails) {
  const auto keep_if_failing = [&](std::string smaller) {
    if (!fails(smaller)) return false;
    bytes = std::move(smaller);
    return true;
  };
  for (std::size_t length = 64; length > 0; length /= 2)
    for (std::size_t at = 0; at < bytes.size();) {
      std::string smaller = bytes;
      if (!keep_if_failing(smaller.erase(at, length))) at += length;
    }
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const char value : {'\0', '\1'}) {
      std::string smaller = bytes;
      smaller[at] = value;
      if (bytes[at] > value && keep_if_failing(smaller)) break;
    }
  return bytes;
}

}  // namespace retrace
