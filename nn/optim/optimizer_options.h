// The rules of the options that optimisers share, by the names of the options.
#pragma once

#include <retrace/nn/optim/number_range.h>

namespace retrace {

/// Throws ValueError, which names the struct of the options, for the first that breaks its rule.
template <class Options> void check_optimizer_options(const char* owner, const Options& options) {
  check_number(owner, "lr", options.lr, not_negative, "such as 1e-3");
  if constexpr (requires { options.momentum; })
    check_number(owner, "momentum", options.momentum, from_0_to_below_1, "such as 0.9");
  if constexpr (requires { options.alpha; })
    check_number(owner, "alpha", options.alpha, from_0_to_below_1, "such as 0.99");
  if constexpr (requires { options.b1; }) check_number(owner, "b1", options.b1, from_0_to_below_1, "such as 0.9");
  if constexpr (requires { options.b2; }) check_number(owner, "b2", options.b2, from_0_to_below_1, "such as 0.999");
  if constexpr (requires { options.eps; }) check_number(owner, "eps", options.eps, not_negative, "such as 1e-8");
  if constexpr (requires { options.weight_decay; })
    check_number(owner, "weight_decay", options.weight_decay, not_negative, "such as 0.01");
  if constexpr (requires { options.min_side; })
    check_number(owner, "min_side", options.min_side, above_0, "such as 16");
}

}  // namespace retrace
