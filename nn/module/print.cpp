#include <retrace/nn/module/print.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>

namespace retrace {
namespace {

// 1,234,567
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

struct Line {
  std::string text;
  std::int64_t count;  // -1: none
};

std::string text_of_parameter(const ModuleTree& parameter) {
  std::string result = text(parameter.name, " ", parameter.shape);
  if (parameter.dtype != f32) result += text(" ", parameter.dtype);
  if (parameter.frozen) result += " frozen";
  return result;
}

void add_lines(std::vector<Line>& lines, const ModuleTree& module, int depth) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  std::string head = indent + (module.name.empty() ? "" : "(" + module.name + "): ") + module.type + "(";
  bool has_parts = false, first = true;
  for (const ModuleTree& member : module.members) {
    has_parts = has_parts || !member.type.empty();
    if (!member.type.empty()) continue;
    head += (first ? "" : ", ") + text_of_parameter(member);
    first = false;
  }
  lines.push_back({head + (has_parts ? "" : ")"), module.count()});
  for (const ModuleTree& member : module.members)
    if (!member.type.empty()) add_lines(lines, member, depth + 1);
  if (has_parts) lines.push_back({indent + ")", -1});
}

}  // namespace

std::string detail::name_of_type(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                        std::free);
  std::string name = status == 0 ? readable.get() : type.name();
  name = name.substr(0, name.find('<'));
  const std::size_t space = name.rfind("::");
  return space == std::string::npos ? name : name.substr(space + 2);
}

std::int64_t ModuleTree::count() const {
  if (type.empty()) return shape.numel();
  std::int64_t total = 0;
  for (const ModuleTree& member : members) total += member.count();
  return total;
}

std::ostream& operator<<(std::ostream& out, const ModuleTree& tree) {
  std::vector<Line> lines;
  add_lines(lines, tree, 0);
  std::size_t width = 0, digits = 0;
  for (const Line& line : lines) {
    if (line.count < 0) continue;
    width = std::max(width, line.text.size());
    digits = std::max(digits, grouped(line.count).size());
  }
  for (const auto& [line, count] : lines) {
    out << line;
    if (count >= 0) {
      const std::string number = grouped(count);
      out << std::string(width - line.size() + 2 + digits - number.size(), ' ') << number;
    }
    out << '\n';
  }
  return out;
}

}  // namespace retrace
