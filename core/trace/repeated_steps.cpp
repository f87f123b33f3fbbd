#include <retrace/core/trace/repeated_steps.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace retrace {
namespace {

/// Numbers for what records do, from the last to the first: an output without a name is known by its reader.
class Roles {
 public:
  explicit Roles(const Trace& trace) : trace_(trace), readers_(trace.nodes.size()), roles_(trace.records.size()) {
    for (const TraceRecord& record : trace.records) names_.emplace(record.path, name_of(record));
    for (std::size_t r = trace.records.size(); r-- > 0;) {
      const TraceRecord& record = trace.records[r];
      const auto role = text(record.path, "\n", record.op, "\n", place_of(r));
      roles_[r] = numbers_.emplace(role, numbers_.size()).first->second;
      for (std::size_t i = 0; i < record.inputs.size(); ++i)
        readers_[static_cast<std::size_t>(record.inputs[i])] = text("to ", roles_[r], " ", i);  // the first, at last
    }
  }

  std::size_t operator[](std::size_t record) const { return roles_[record]; }

 private:
  const std::string& name_of(const TraceRecord& record) const {
    return trace_.nodes[static_cast<std::size_t>(record.outputs.front())].name;
  }
  /// "h" of h, h_1 and h_2; the reader of %3; nothing else of what nobody reads.
  std::string place_of(std::size_t r) const {
    const TraceRecord& record = trace_.records[r];
    const std::string& name = name_of(record);
    const std::string& reader = readers_[static_cast<std::size_t>(record.outputs.front())];
    if (name.starts_with('%')) return reader.empty() ? text("alone ", r) : reader;
    const std::size_t end = name.find_last_not_of("0123456789");
    const bool numbered = end != std::string::npos && end + 1 < name.size() && name[end] == '_';
    const std::string base = numbered ? name.substr(0, end) : name;
    return names_.contains({record.path, base}) ? base : name;
  }

  const Trace& trace_;
  std::set<std::pair<std::string, std::string>> names_;  // of outputs, by path
  std::vector<std::string> readers_;                     // by node
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::size_t> roles_;
};

}  // namespace

std::vector<std::size_t> first_of_repeated(const Trace& trace) {
  const Roles roles(trace);
  std::map<std::size_t, std::size_t> first;
  std::vector<std::size_t> result;
  for (std::size_t r = 0; r < trace.records.size(); ++r) result.push_back(first.emplace(roles[r], r).first->second);
  return result;
}

}  // namespace retrace
