// When each record was computed and walked back, as trace events that https://ui.perfetto.dev and chrome://tracing
// open.
//
//   Timeline timeline({.names = names_of(model)});
//   for (int step = 0; step < 3; ++step) {
//     const TimelineSpan span("step");
//     Tape tape;
//     const Tensor loss = cross_entropy(model(x), labels);
//     tape.backward(loss);
//     const TimelineSpan update("update");
//     adam.step();
//   }
//   save(timeline, "steps.json");
//
// Without a timeline, a span costs a look at a variable of the thread, and a tape nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <retrace/core/tape/names.h>
#include <retrace/core/tape/observer.h>
#include <retrace/core/tensor/memory.h>

namespace retrace {

/// Options of a timeline.
struct TimelineOptions {
  Names names = {};                                               // of modules: the paths of records
  std::int64_t spans = std::numeric_limits<std::int64_t>::max();  // outermost ones; later ones leave nothing
};

/// Collects events: spans; the forward and the backward of every record of tapes that begin while a span is open on
/// their thread; after each, the bytes of the memory pool. The time of a forward begins at the event before it on its
/// thread, so that it includes what happened between the two; what the timeline itself takes is in none.
class Timeline final : TapeObserver {
 public:
  /// Collects the spans of this thread until it is destroyed. Spans of other threads name their timeline.
  explicit Timeline(TimelineOptions options = {});
  ~Timeline();

  /// An object of the Trace Event Format: complete events (ph X) of the categories span, forward and backward in
  /// microseconds, counters (C) "pool" with live and pooled bytes, and the names of threads (M). Records go by their
  /// path and op, "encoder/mha/softmax", and have args: record, its index, and output, the shape of its first result.
  std::string json() const;

 private:
  friend class TimelineSpan;
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::string name;
    const char* category;
    double begin;              // in microseconds since the timeline began
    std::int64_t record = -1;  // -1: a span
    std::string output = {};
    int thread = 0;
    double duration = 0;
    MemoryStats memory = {};
  };
  struct ThreadTime {
    int number;
    double last;  // when its last event was written down
  };

  void recorded(const Record& record) override;
  void walk_begins(const Record& record) override;
  void walked(const Record& record) override;

  double now() const;
  ThreadTime& time_of_thread();
  void add(Event event, double end);
  void add_record(const Record& record, const char* category);
  /// The time, if a span that begins now is to be written down.
  std::optional<double> begin_span();
  void end_span(std::string_view name, double begin);

  const TimelineOptions options_;
  const Clock::time_point start_ = Clock::now();
  Timeline* const outer_;  // of this thread
  mutable std::mutex mutex_;
  std::int64_t spans_ = 0;
  std::map<std::thread::id, ThreadTime> threads_;
  std::vector<Event> events_;
};

/// A named part of what a thread does, until the end of the block.
class TimelineSpan {
 public:
  /// In the timeline of this thread, if it has one.
  explicit TimelineSpan(const char* name);
  /// In that of another thread.
  TimelineSpan(Timeline& timeline, const char* name);
  ~TimelineSpan();
  TimelineSpan(const TimelineSpan&) = delete;
  TimelineSpan& operator=(const TimelineSpan&) = delete;

 private:
  void begin(Timeline* timeline);

  Timeline* timeline_ = nullptr;  // null: nothing is written down
  TapeObserver* outer_ = nullptr;
  const char* name_;
  double begin_ = 0;
};

/// Writes json() to a file. Throws FileError.
void save(const Timeline& timeline, const std::string& path);

}  // namespace retrace
