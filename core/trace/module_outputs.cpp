#include <retrace/core/trace/module_outputs.h>

#include <algorithm>
#include <unordered_map>

#include <retrace/core/base/error.h>

namespace retrace {
namespace {

int depth(const ScopeEntry* scope) { return scope == nullptr ? 0 : 1 + depth(scope->outer); }

}  // namespace

std::vector<ModuleOutput> module_outputs(const Tape& tape, const Names& names) {
  if (!tape.options().keep)
    throw ValueError("module_outputs: this tape gave values back; record on a Tape({.keep = true})");
  std::unordered_map<const ScopeEntry*, const Record*> last;
  std::vector<const ScopeEntry*> calls;
  for (const Record* record : tape.records())
    for (const ScopeEntry* scope = record->scope(); scope != nullptr; scope = scope->outer)
      if (last.insert_or_assign(scope, record).second) calls.push_back(scope);
  const auto ends_before = [&](const ScopeEntry* a, const ScopeEntry* b) {
    const std::int64_t end_a = last.at(a)->index(), end_b = last.at(b)->index();
    return end_a != end_b ? end_a < end_b : depth(a) > depth(b);  // an inner call ends first
  };
  std::sort(calls.begin(), calls.end(), ends_before);
  std::vector<ModuleOutput> result;
  for (const ScopeEntry* scope : calls) {
    const std::string* path = names.find(*scope);
    result.push_back({path == nullptr ? path_of(scope, names) : *path, last.at(scope)->output(0)});
  }
  return result;
}

}  // namespace retrace
