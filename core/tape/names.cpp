#include <retrace/core/tape/names.h>
#include <retrace/core/tensor/op_access.h>

#include <algorithm>

namespace retrace {

void Names::add(const Tensor& x, std::string_view name) {
  check_defined("Names::add", x, "x");
  const Node* node = &OpAccess::node(x);
  for (auto& [tensor, known] : tensors_) {
    if (&OpAccess::node(tensor) != node) continue;
    known = name;
    return;
  }
  tensors_.emplace_back(x, name);
}

void Names::add(const Names& others, std::string_view prefix) {
  const auto with_prefix = [&](const std::string& name) {
    return name.empty() || prefix.empty() ? text(prefix, name) : text(prefix, ".", name);
  };
  for (const auto& [tensor, name] : others.tensors_) add(tensor, with_prefix(name));
  for (const NamedModule& module : others.modules_)
    modules_.push_back({module.module, module.type, with_prefix(module.path)});
}

std::string_view Names::find(const TensorInfo& tensor) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const auto& named) { return &OpAccess::node(named.first) == &tensor; });
  return found == tensors_.end() ? std::string_view() : std::string_view(found->second);
}

const std::string* Names::find(const ScopeEntry& scope) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const NamedModule& named) {
    return named.module == scope.module && *named.type == *scope.type;
  });
  return found == modules_.end() ? nullptr : &found->path;
}

std::string name_of(const ScopeEntry& scope, const Names& names) {
  const std::string* path = names.find(scope);
  if (path == nullptr || path->empty()) return scope.label;
  for (const ScopeEntry* outer = scope.outer; outer != nullptr; outer = outer->outer) {
    const std::string* around = names.find(*outer);
    if (around == nullptr) continue;
    if (!around->empty() && path->starts_with(*around + ".")) return path->substr(around->size() + 1);
    break;
  }
  return *path;
}

std::string path_of(const ScopeEntry* scope, const Names& names) {
  std::string path;
  for (; scope != nullptr; scope = scope->outer) path = text(name_of(*scope, names), path.empty() ? "" : "/", path);
  return path;
}

}  // namespace retrace
