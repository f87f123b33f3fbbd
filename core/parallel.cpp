#include <retrace/core/parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include <retrace/core/error.h>
#include <retrace/core/subnormals.h>

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

}  // namespace

int threads() { return asked_for > 0 ? asked_for : default_threads(); }

void set_threads(int count) {
  if (count < 1) throw ValueError(text("set_threads: ", count, " threads; at least 1 is needed"));
  asked_for = count;
}

namespace detail {

void parallel_loop(std::int64_t count, std::int64_t grain, LoopBody call, const void* body) {
  const std::int64_t parts = std::min<std::int64_t>(threads(), count / std::max<std::int64_t>(grain, 1));
  if (parts < 2 || inside_loop) {
    call(body, 0, count);
    return;
  }
#if defined(_OPENMP)
  const Subnormals mode = subnormals();  // bits must not depend on the thread
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    const SubnormalsScope as_the_caller(mode);
    inside_loop = true;
    // The team may be smaller than asked for: each thread takes every team-th part.
    for (std::int64_t part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
      try {
        call(body, part * count / parts, (part + 1) * count / parts);
      } catch (...) {
        if (!failed.test_and_set()) failure = std::current_exception();
      }
    }
    inside_loop = false;
  }
  if (failure) std::rethrow_exception(failure);
#else
  call(body, 0, count);
#endif
}

}  // namespace detail
}  // namespace retrace
