#include <retrace/models/cli/stop_signals.h>

#include <array>
#include <csignal>

namespace retrace {
namespace {

constexpr std::array<int, 2> stop_signals{SIGINT, SIGTERM};
std::atomic<bool> came{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write it");

void note(int) { came = true; }

}  // namespace

StopSignals::StopSignals() {
  came = false;
  struct sigaction once {};
  once.sa_handler = note;
  once.sa_flags = SA_RESETHAND;
  for (const int signal : stop_signals) sigaction(signal, &once, nullptr);
}

StopSignals::~StopSignals() {
  for (const int signal : stop_signals) std::signal(signal, SIG_DFL);
}

const std::atomic<bool>& StopSignals::flag() const { return came; }

}  // namespace retrace
