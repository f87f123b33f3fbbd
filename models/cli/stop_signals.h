// Ctrl-C, SIGTERM and the end of a terminal as a request that a training can act on.
#pragma once

#include <atomic>
#include <csignal>

namespace retrace {

/// During its lifetime, the first SIGINT, SIGTERM or SIGHUP sets a flag instead of ending the program. A second SIGINT
/// or SIGTERM ends the program as usual, or is ignored, as under mpirun, which may send several. SIGHUP is ignored
/// after the first signal, and from the beginning if it was before, as under nohup.
class StopSignals {
 public:
  explicit StopSignals(bool ignores_second = false);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Set by the first signal.
  const std::atomic<bool>& flag() const;
  /// 128 + the number of the signal, as shells report a program that a signal ended; that of SIGTERM where none came,
  /// as on a rank that another one stopped.
  int exit_status() const;

 private:
  struct sigaction before_hangup_ {};
};

}  // namespace retrace
