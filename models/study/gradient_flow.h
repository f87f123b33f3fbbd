// How a gradient flows through time: back to each state of a network, and from each state to each row of its input.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <retrace/core/trace/trace.h>
#include <retrace/models/networks/states_over_time.h>

namespace retrace {

/// A computation that goes through a sequence step by step.
struct ThroughTime {
  Tensor x;                                                  // [1, T, F]
  std::function<StatesOverTime(const Tensor& x)> states;     // of any batch [B, T, F]
  std::function<Tensor(const StatesOverTime& states)> loss;  // of a batch of 1; one element
};

/// The Frobenius norms |d h_t / d x_s|, [t][s], where states(x [B, T, F]) gives h_0, h_1, ..., each [B, ...], and no
/// sample depends on another one. Exact: one vector-Jacobian product per element of each h_t, many of them at once as
/// samples of one batch. x is [1, T, F]. Adds to the gradients of no other leaves if those are frozen.
std::vector<std::vector<double>> jacobian_norms(const std::function<Tensors(const Tensor& x)>& states, const Tensor& x);

/// One flow per state ("h", "c", "memory", "y"): |d loss / d h_t| at each step (of each slot, for a memory of slots),
/// and the matrix |d h_t / d x_s|, which is left empty if it takes more than max_products vector-Jacobian products;
/// then one, "x", with |d loss / d x_t|. Adds to the gradients of no other leaves if those are frozen.
std::vector<GradientFlow> gradient_flow(const ThroughTime& computation, std::int64_t max_products = 20'000);

}  // namespace retrace
