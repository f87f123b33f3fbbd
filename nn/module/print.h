// A module as text: its parts with their types, the shapes of their parameters, and how many weights they have.
//
//   std::cout << model;
//
//   Tagger(                                                               8,202
//     (embed): Embedding(weight [100, 16])                                1,600
//     (lstm): Lstm(weight_ih [128, 16], weight_hh [128, 32], bias [128])  6,272
//     (head): Linear(weight [10, 32], bias [10])                            330
//   )
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <typeinfo>
#include <vector>

#include <retrace/nn/module/module.h>

namespace retrace {

/// A module or a parameter in the tree of a module, for prints.
struct ModuleTree {
  std::string name;  // of the member: "lstm", "layers.0"; empty for the outermost module
  std::string type;  // "Lstm"; empty for a parameter
  Shape shape;       // of a parameter
  Dtype dtype = f32;
  bool frozen = false;              // of a parameter
  std::vector<ModuleTree> members;  // of a module, in the order of its visit()

  /// The number of weights.
  std::int64_t count() const;
};

namespace detail {

/// "Lstm" for retrace::Lstm; a template without its arguments.
std::string name_of_type(const std::type_info& type);

template <class Member> void add_to_tree(ModuleTree& tree, const std::string& name, const Member& member) {
  if constexpr (std::is_base_of_v<Tensor, Member>) {
    if (member.defined())
      tree.members.push_back({.name = name,
                              .type = {},
                              .shape = member.shape(),
                              .dtype = member.dtype(),
                              .frozen = !member.wants_gradient(),
                              .members = {}});
  } else if constexpr (IsModule<Member>) {
    ModuleTree inner{.name = name, .type = name_of_type(typeid(Member)), .shape = {}, .members = {}};
    member.visit([&](std::string_view own, const auto& part) { add_to_tree(inner, std::string(own), part); });
    tree.members.push_back(std::move(inner));
  } else if constexpr (IsList<Member>) {
    std::int64_t index = 0;
    for (const auto& element : member) add_to_tree(tree, name + "." + std::to_string(index++), element);
  } else {
    if (member) add_to_tree(tree, name, *member);  // an optional or a pointer
  }
}

}  // namespace detail

/// The tree of a module.
template <Module M> ModuleTree tree_of(const M& module) {
  ModuleTree root;
  detail::add_to_tree(root, "", module);
  return std::move(root.members.front());
}

/// Prints one line per module, with its parameters, and the number of its weights after it.
std::ostream& operator<<(std::ostream& out, const ModuleTree& tree);
/// Prints the tree of a module.
template <Module M> std::ostream& operator<<(std::ostream& out, const M& module) { return out << tree_of(module); }

}  // namespace retrace
