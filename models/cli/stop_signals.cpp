#include <retrace/models/cli/stop_signals.h>

#include <array>
#include <csignal>

namespace retrace {
namespace {

constexpr std::array<int, 2> stop_signals{SIGINT, SIGTERM};
std::atomic<bool> came{false};
std::atomic<int> number_of_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may write them");

void end_as_usual() {
  for (const int signal : stop_signals) std::signal(signal, SIG_DFL);
}

void note(int signal) {
  end_as_usual();
  number_of_signal = signal;
  came = true;
}

}  // namespace

StopSignals::StopSignals() {
  came = false;
  struct sigaction once {};
  once.sa_handler = note;
  sigemptyset(&once.sa_mask);
  for (const int signal : stop_signals) sigaddset(&once.sa_mask, signal);
  for (const int signal : stop_signals) sigaction(signal, &once, nullptr);
}

StopSignals::~StopSignals() { end_as_usual(); }

const std::atomic<bool>& StopSignals::flag() const { return came; }

int StopSignals::exit_status() const { return 128 + number_of_signal; }

}  // namespace retrace
