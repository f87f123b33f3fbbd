// The names that an author gives to tensors and modules, for prints, drawings and traces of a tape.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <retrace/core/tape/tape.h>

namespace retrace {

/// Paths of parameters ("encoder.query.weight") and of modules ("encoder.query"). names_of(module) in nn/module/names.h
/// collects those of a module; others can be added. Keeps the tensors alive.
class Names {
 public:
  /// Names a tensor. A later name of the same tensor replaces the earlier one.
  void add(const Tensor& x, std::string_view name);
  /// Names a module by its path of members. A module and its first member share an address, so its type counts, too.
  template <class M> void add_module(const M& module, std::string_view path) {
    modules_.push_back({&module, &typeid(M), std::string(path)});
  }
  /// Adds all names of `others`, with `prefix` and a dot before each.
  void add(const Names& others, std::string_view prefix);

  /// The name of a tensor; empty if it was not named here.
  std::string_view find(const TensorInfo& tensor) const;
  /// The path of the module of a scope; null if it was not named here.
  const std::string* find(const ScopeEntry& scope) const;
  const std::vector<std::pair<Tensor, std::string>>& tensors() const { return tensors_; }

 private:
  struct NamedModule {
    const void* module;
    const std::type_info* type;
    std::string path;
  };
  std::vector<std::pair<Tensor, std::string>> tensors_;
  std::vector<NamedModule> modules_;
};

/// The name of a scope within the one around it: the rest of its module's path where that begins with the path of
/// the outer module ("query" in "encoder"), the whole path otherwise, and the scope's own label without a name.
std::string name_of(const ScopeEntry& scope, const Names& names);
/// The scopes up to this one, outermost first: "encoder/mha". Empty for null.
std::string path_of(const ScopeEntry* scope, const Names& names);

}  // namespace retrace
