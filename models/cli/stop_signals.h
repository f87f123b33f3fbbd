// Ctrl-C and termination as a wish that a training can grant.
#pragma once

#include <atomic>

namespace retrace {

/// While it lives, a first SIGINT or SIGTERM sets a flag instead of ending the program. A second one, of either kind,
/// ends it as usual.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one came.
  const std::atomic<bool>& flag() const;
  /// As a shell tells of a program that it ended: 128 + the number of the signal.
  int exit_status() const;
};

}  // namespace retrace
