// Options that are given only by name.
#pragma once

namespace retrace {

/// As the first member of an aggregate, it keeps numbers out that say nothing of what they are: WarmUpCosine(100, 1500)
/// does not compile, WarmUpCosine{.base = 1, .steps = 1500} does.
struct NamedOnly {
  constexpr explicit NamedOnly() = default;
  bool operator==(const NamedOnly&) const = default;
};

}  // namespace retrace
