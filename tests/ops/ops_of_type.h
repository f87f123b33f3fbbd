// The ops of ops.def by their type, so that a test of all ops of a kind includes new ones by itself.
#pragma once

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/core/core.h>
#include <retrace/ops/ops.h>

namespace retrace {

template <class F> struct NamedOp {
  std::string name;
  F* f;
};

/// Every op of ops.def that has an overload of type F, such as Tensor(const Tensor&).
template <class F> std::vector<NamedOp<F>> ops_of_type() {
  std::vector<NamedOp<F>> found;
  const auto add_overload = [&](const char* name, auto overload) {
    if constexpr (std::is_invocable_v<decltype(overload), std::type_identity<F>>)
      found.push_back({name, overload(std::type_identity<F>())});
  };
#define OP(name, ...) \
  add_overload(#name, []<class G>(std::type_identity<G>) -> decltype(static_cast<G*>(name)) { return name; });
#define COMPOSITE(name, ...) OP(name)
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
  return found;
}

/// Whether an op gives a mask or positions, which have no gradient.
inline bool gives_integers(const std::string& name) {
  static const std::set<std::string> names{
      "equal",      "not_equal",   "less",        "less_equal", "greater",       "greater_equal", "logical_and",
      "logical_or", "logical_xor", "logical_not", "nonzero",    "count_nonzero", "any_nonzero",   "all_nonzero"};
  return names.contains(name);
}

/// Whether an op of one tensor is defined between -1 and 1 only.
inline bool is_inside_one(const std::string& name) { return name == "asin" || name == "acos"; }

}  // namespace retrace
