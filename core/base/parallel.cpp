#include <retrace/core/base/parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include <retrace/core/base/error.h>
#include <retrace/core/base/subnormals.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace retrace {
namespace {

thread_local int asked_for = 0;  // 0: not set on this thread
thread_local bool inside_loop = false;

int default_threads() {
#if defined(_OPENMP)
  static const int count = std::max(1, omp_get_max_threads());
  return count;
#else
  return 1;
#endif
}

using Clock = std::chrono::steady_clock;

/// On a busy machine a thread of the team may not be running when a loop needs it, and the calling thread then waits
/// for a time slice of the system: milliseconds, for loops of microseconds. So after a loop that waited much longer
/// than its own part took, the next ones stay on the calling thread: for as long as was lost, and each time for twice
/// as long when the first ones after such a pause are late again. No result depends on it, as none depends on the
/// number of threads.
class LatePartners {
 public:
  bool expected() const { return Clock::now() < alone_until_; }

  void waited(Clock::time_point begin, Clock::time_point own_end) {
    const Clock::time_point end = Clock::now();
    const Clock::duration lost = end - own_end;
    if (lost < std::chrono::milliseconds(1) || lost < 4 * (own_end - begin)) return;
    const bool again = end - alone_until_ < pause_;
    pause_ = again ? std::min<Clock::duration>(2 * pause_, std::chrono::milliseconds(500)) : lost;
    alone_until_ = end + pause_;
  }

 private:
  Clock::duration pause_{};
  Clock::time_point alone_until_{};
};

thread_local LatePartners late_partners;

}  // namespace

int threads() { return asked_for > 0 ? asked_for : default_threads(); }

void set_threads(int count) {
  if (count < 1) throw ValueError(text("set_threads: ", count, " threads; at least 1 is needed"));
  asked_for = count;
}

namespace detail {

void parallel_loop(std::int64_t count, std::int64_t grain, LoopBody call, const void* body) {
  const std::int64_t parts = std::min<std::int64_t>(threads(), count / std::max<std::int64_t>(grain, 1));
  if (parts < 2 || inside_loop || late_partners.expected()) {
    call(body, 0, count);
    return;
  }
#if defined(_OPENMP)
  const Subnormals mode = subnormals();  // bits must not depend on the thread
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  const Clock::time_point begin = Clock::now();
  Clock::time_point own_end = begin;
  // Always the same team: one of as many threads as there are parts would end the others, and the next loop start them
  // anew.
#pragma omp parallel num_threads(threads())
  {
    const SubnormalsScope as_the_caller(mode);
    inside_loop = true;
    // The team may be smaller than asked for: each thread takes every team-th part, if there is one for it.
    for (std::int64_t part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
      try {
        call(body, part * count / parts, (part + 1) * count / parts);
      } catch (...) {
        if (!failed.test_and_set()) failure = std::current_exception();
      }
    }
    inside_loop = false;
    if (omp_get_thread_num() == 0) own_end = Clock::now();
  }
  late_partners.waited(begin, own_end);
  if (failure) std::rethrow_exception(failure);
#else
  call(body, 0, count);
#endif
}

}  // namespace detail
}  // namespace retrace
