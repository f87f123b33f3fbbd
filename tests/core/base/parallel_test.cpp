// Loops over threads: every index once, however it is split; exceptions; nesting; the number of threads.
#include <retrace/core/base/threads_scope.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

/// The ranges that the body was called with, in order.
std::vector<Range> ranges_of(std::int64_t count, std::int64_t grain) {
  std::mutex mutex;
  std::vector<Range> ranges;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::ranges::sort(ranges);
  return ranges;
}

/// As ranges_of, but not while loops stay on the calling thread because another one came late, as may happen on a busy
/// machine. One range only where there is one thread.
std::vector<Range> split_ranges_of(std::int64_t count, std::int64_t grain) {
  std::vector<Range> ranges = ranges_of(count, grain);
  for (int again = 0; again < 500 && ranges.size() < 2; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ranges = ranges_of(count, grain);
  }
  return ranges;
}

void expect_partition(const std::vector<Range>& ranges, std::int64_t count, std::int64_t grain) {
  std::int64_t next = 0;
  for (const auto& [begin, end] : ranges) {
    EXPECT_EQ(begin, next);
    EXPECT_LT(begin, end);
    EXPECT_TRUE(end - begin >= grain || ranges.size() == 1) << begin << " to " << end;
    next = end;
  }
  EXPECT_EQ(next, count);
  EXPECT_LE(std::ssize(ranges), threads());
}

TEST(Parallel, EveryIndexComesOnce) {
  for (const int team : {1, 2, 3, 8}) {
    const ThreadsScope scope(team);
    for (const std::int64_t count : {0, 1, 2, 3, 5, 7, 16, 63, 64, 65, 1000, 1001})
      for (const std::int64_t grain : {1, 2, 3, 7, 64, 1000}) {
        SCOPED_TRACE(text(team, " threads, count ", count, ", grain ", grain));
        expect_partition(ranges_of(count, grain), count, grain);
      }
  }
}

TEST(Parallel, ALoopAfterALateThreadStaysOnTheCallingThread) {
  std::thread([] {  // its memory of late threads is its own
    const ThreadsScope two(2);
    if (split_ranges_of(1000, 10).size() < 2) GTEST_SKIP() << "this machine or build gives no second thread";
    const std::thread::id caller = std::this_thread::get_id();
    parallel_for(1000, 10, [&](std::int64_t, std::int64_t) {
      if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    });
    EXPECT_EQ(ranges_of(1000, 10), std::vector<Range>(1, Range{0, 1000}));
  })
      .join();
}

TEST(Parallel, WhatThreadsWroteIsThereAfterTheLoop) {
  const ThreadsScope scope(4);
  std::vector<std::int64_t> squares(10'000);
  for (int again = 0; again < 20; ++again) {
    parallel_for(std::ssize(squares), 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) squares[static_cast<std::size_t>(k)] += k * k;
    });
    for (std::int64_t k = 0; k < std::ssize(squares); ++k)
      ASSERT_EQ(squares[static_cast<std::size_t>(k)], (again + 1) * k * k);
  }
}

TEST(Parallel, ABodyThatMayNotBeCopiedIsUsedInPlace) {
  struct Body {
    std::atomic<std::int64_t> sum = 0;
    void operator()(std::int64_t begin, std::int64_t end) { sum += end - begin; }
  } body;
  const ThreadsScope scope(2);
  parallel_for(100, 1, body);
  parallel_for(1, 1, body);
  EXPECT_EQ(body.sum, 101);
}

TEST(Parallel, FewIndicesStayOnTheCallingThread) {
  const ThreadsScope scope(4);
  const std::thread::id caller = std::this_thread::get_id();
  for (const std::int64_t count : {1, 10, 19}) {
    int calls = 0;
    parallel_for(count, 10, [&](std::int64_t begin, std::int64_t end) {
      ++calls;
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(Range(begin, end), Range(0, count));
    });
    EXPECT_EQ(calls, 1);
  }
  parallel_for(0, 10, [](std::int64_t, std::int64_t) { ADD_FAILURE() << "a call for no index"; });
}

TEST(Parallel, ALoopOfFewPartsEndsNoThread) {
  const ThreadsScope four(4);
  thread_local bool has_begun = false;
  std::atomic<int> begun = 0;
  for (int round = 0; round < 50; ++round)
    for (const std::int64_t parts : {4, 2})
      parallel_for(parts, 1, [&](std::int64_t, std::int64_t) {
        if (!std::exchange(has_begun, true)) ++begun;
      });
  EXPECT_LE(begun, 4);
}

TEST(Parallel, OneThreadIsTheCallingThread) {
  const ThreadsScope scope(1);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(1000, 1, [&](std::int64_t, std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  EXPECT_EQ(ranges_of(1000, 1).size(), 1u);
}

TEST(Parallel, ExceptionsComeOutOfTheLoop) {
  for (const int team : {1, 4}) {
    const ThreadsScope scope(team);
    for (const std::int64_t bad : {0, 250, 999}) {
      const auto throws_at_bad = [bad](std::int64_t begin, std::int64_t end) {
        if (begin <= bad && bad < end) throw IndexError(text("index ", bad));
      };
      expect_error<IndexError>([&] { parallel_for(1000, 1, throws_at_bad); }, text("index ", bad));
    }
    const auto always_throws = [](std::int64_t, std::int64_t) { throw ValueError("every part"); };
    expect_error<ValueError>([&] { parallel_for(1000, 1, always_throws); }, "every part");
  }
}

/// A loop that ended with an exception must not count as running.
TEST(Parallel, ALoopAfterAnExceptionIsSplitAsBefore) {
  const ThreadsScope scope(4);
  const std::vector<Range> before = split_ranges_of(1000, 1);
  EXPECT_THROW(parallel_for(1000, 1, [](std::int64_t, std::int64_t) { throw 1; }), int);
  EXPECT_EQ(split_ranges_of(1000, 1), before);
}

TEST(Parallel, ALoopInsideALoopIsOneCallOnItsThread) {
  const ThreadsScope scope(4);
  const std::vector<Range> alone = split_ranges_of(1000, 1);
  std::atomic<std::int64_t> total = 0;
  parallel_for(8, 1, [&](std::int64_t first, std::int64_t last) {
    if (last - first == 8) return total.store(8000);  // built without threads: nothing to see
    const std::thread::id outer = std::this_thread::get_id();
    for (std::int64_t k = first; k < last; ++k) {
      int calls = 0;
      parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) {
        ++calls;
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += end - begin;
      });
      EXPECT_EQ(calls, 1);
    }
  });
  EXPECT_EQ(total, 8000);
  EXPECT_EQ(split_ranges_of(1000, 1), alone);
}

TEST(Parallel, LoopsOfSeveralThreadsDoNotMeet) {
  std::array<std::int64_t, 3> sums{};
  std::vector<std::thread> callers;
  for (std::int64_t& sum : sums)
    callers.emplace_back([&sum] {
      set_threads(3);
      for (int again = 0; again < 50; ++again) {
        std::atomic<std::int64_t> one = 0;
        parallel_for(300, 1, [&](std::int64_t begin, std::int64_t end) { one += end - begin; });
        sum += one;
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 15'000);
}

TEST(Parallel, TheNumberOfThreadsBelongsToAThread) {
  const ThreadsScope scope(3);
  std::thread([] {
    const int at_first = threads();
    EXPECT_GE(at_first, 1);
    set_threads(at_first + 4);
    EXPECT_EQ(threads(), at_first + 4);
    std::thread([at_first] { EXPECT_EQ(threads(), at_first); }).join();
  }).join();
  EXPECT_EQ(threads(), 3);
}

TEST(Parallel, FewerThanOneThreadIsRefused) {
  const ThreadsScope scope(2);
  expect_error<ValueError>([] { set_threads(0); }, "set_threads: 0 threads; at least 1 is needed");
  expect_error<ValueError>([] { set_threads(-3); }, "set_threads: -3 threads; at least 1 is needed");
  EXPECT_EQ(threads(), 2);
}

}  // namespace
}  // namespace retrace
