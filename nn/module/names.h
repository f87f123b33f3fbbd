// The paths of a module's parameters and of the modules in it, for prints, drawings and traces of a tape:
//
//   std::cout << to_text(tape, names_of(model));     // encoder/mha/query  ...  <- linear %2[4, 8],
//   encoder.query.weight[8, 8]
#pragma once

#include <retrace/core/tape/names.h>
#include <retrace/nn/module/module.h>

namespace retrace {
namespace detail {

template <class Member> void add_names(Names& names, const Path& path, const Member& member) {
  if constexpr (std::is_base_of_v<Tensor, Member>) {
    if (member.defined()) names.add(member, path.text());
  } else if constexpr (IsModule<Member>) {
    names.add_module(member, path.text());
    member.visit([&](std::string_view name, const auto& inner) { add_names(names, Path{&path, name}, inner); });
  } else if constexpr (IsList<Member>) {
    std::int64_t index = 0;
    for (const auto& element : member) add_names(names, Path{&path, {}, index++}, element);
  } else {
    if (member) add_names(names, path, *member);  // an optional or a pointer
  }
}

}  // namespace detail

/// Parameters go by their paths ("encoder.query.weight"), modules by those of members ("encoder.query"); the module
/// itself keeps the label of its scope. Holds addresses: moving the module makes the names of modules useless.
template <Module M> Names names_of(const M& module) {
  Names names;
  detail::add_names(names, Path{}, module);
  return names;
}

}  // namespace retrace
