#pragma once

#include <retrace/core/base/parallel.h>

namespace retrace {

/// Sets the number of threads of the calling thread's loops until the end of the block. Throws ValueError if it is
/// below 1.
class ThreadsScope {
 public:
  explicit ThreadsScope(int count) : before_(threads()) { set_threads(count); }
  ~ThreadsScope() { set_threads(before_); }
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

}  // namespace retrace
