// Ctrl-C and SIGTERM as a request that a training can act on.
#pragma once

#include <atomic>

namespace retrace {

/// During its lifetime, the first SIGINT or SIGTERM sets a flag instead of ending the program. A second signal, of
/// either kind, ends the program as usual.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Set by the first signal.
  const std::atomic<bool>& flag() const;
  /// 128 + the number of the signal, as shells report a program that a signal ended.
  int exit_status() const;
};

}  // namespace retrace
