// Ctrl-C and termination as a wish that a training can grant.
#pragma once

#include <atomic>

namespace retrace {

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the program. A second one ends it as usual.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one came.
  const std::atomic<bool>& flag() const;
};

}  // namespace retrace
