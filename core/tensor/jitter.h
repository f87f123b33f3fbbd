// Random roundings of dual numbers, which show how large the rounding errors of a derivative are.
#pragma once

#include <cstdint>

#include <retrace/core/base/threads_scope.h>

namespace retrace {

namespace detail {
/// Whether this thread rounds at random.
extern thread_local constinit bool jitters;
}  // namespace detail

/// Until the end of the block, sums, products and quotients of dual numbers that are not exact change at random by up
/// to a unit in the last place (Monte Carlo arithmetic; Parker, 1997), in loops on this thread only. It shows errors
/// that all nearby inputs have alike: t - (t + 1e-20) is 0 for each of them.
class JitterScope {
 public:
  explicit JitterScope(std::uint64_t seed);
  ~JitterScope() { detail::jitters = outer_; }
  JitterScope(const JitterScope&) = delete;
  JitterScope& operator=(const JitterScope&) = delete;

 private:
  ThreadsScope one_thread_{1};
  bool outer_;
};

}  // namespace retrace
