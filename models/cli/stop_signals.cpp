#include <retrace/models/cli/stop_signals.h>

#include <array>

namespace retrace {
namespace {

constexpr std::array<int, 2> requests{SIGINT, SIGTERM};
std::atomic<bool> came{false};
std::atomic<int> number_of_signal{0};
using Reaction = void (*)(int);
std::atomic<Reaction> to_later_ones{SIG_DFL};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<Reaction>::is_always_lock_free,
              "a signal handler uses them");

void react_to_requests(Reaction how) {
  for (const int signal : requests) std::signal(signal, how);
}

void note(int signal) {
  react_to_requests(to_later_ones);
  std::signal(SIGHUP, SIG_IGN);  // a terminal that ends sends several
  number_of_signal = signal;
  came = true;
}

}  // namespace

StopSignals::StopSignals(bool ignores_second) {
  to_later_ones = ignores_second ? SIG_IGN : SIG_DFL;
  came = false;
  number_of_signal = 0;
  struct sigaction once {};
  once.sa_handler = note;
  sigemptyset(&once.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&once.sa_mask, signal);
  for (const int signal : requests) sigaction(signal, &once, nullptr);
  sigaction(SIGHUP, nullptr, &before_hangup_);
  if (before_hangup_.sa_handler == note) before_hangup_.sa_handler = SIG_DFL;  // of another one that lives
  if (before_hangup_.sa_handler != SIG_IGN) sigaction(SIGHUP, &once, nullptr);
}

StopSignals::~StopSignals() {
  react_to_requests(came ? to_later_ones.load() : SIG_DFL);
  sigaction(SIGHUP, &before_hangup_, nullptr);
}

const std::atomic<bool>& StopSignals::flag() const { return came; }

int StopSignals::exit_status() const {
  const int number = number_of_signal;
  return 128 + (number == 0 ? SIGTERM : number);
}

}  // namespace retrace
