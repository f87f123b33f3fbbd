#include <retrace/core/trace/timeline.h>

#include <utility>

#include <retrace/core/files/json.h>
#include <retrace/core/files/replacement_file.h>

namespace retrace {
namespace {

thread_local constinit Timeline* timeline_of_thread = nullptr;

/// Opens an event of this kind.
JsonWriter& begin_event(JsonWriter& writer, const char* kind, std::string_view name) {
  writer.begin_object();
  writer.key("ph").value(kind).key("name").value(name).key("pid").value(1);
  return writer;
}

}  // namespace

Timeline::Timeline(TimelineOptions options)
    : options_(std::move(options)), outer_(std::exchange(timeline_of_thread, this)) {}

Timeline::~Timeline() { timeline_of_thread = outer_; }

double Timeline::now() const { return std::chrono::duration<double, std::micro>(Clock::now() - start_).count(); }

Timeline::ThreadTime& Timeline::time_of_thread() {
  const int next = static_cast<int>(threads_.size()) + 1;
  return threads_.try_emplace(std::this_thread::get_id(), ThreadTime{next, 0}).first->second;
}

// ---- events

std::optional<double> Timeline::begin_span() {
  const std::lock_guard lock(mutex_);
  const bool is_inner = TapeObserver::current() == this;
  if (!is_inner && spans_ >= options_.spans) return std::nullopt;
  if (!is_inner) ++spans_;
  return time_of_thread().last = now();
}

void Timeline::end_span(std::string_view name, double begin) {
  const double end = now();
  const std::lock_guard lock(mutex_);
  add({.name = std::string(name), .category = "span", .begin = begin}, end);
}

void Timeline::recorded(const Record& record) { add_record(record, "forward"); }

void Timeline::walk_begins(const Record&) {
  const std::lock_guard lock(mutex_);
  time_of_thread().last = now();
}

void Timeline::walked(const Record& record) { add_record(record, "backward"); }

void Timeline::add_record(const Record& record, const char* category) {
  const double end = now();
  const std::string path = path_of(record.scope(), options_.names);
  const std::lock_guard lock(mutex_);
  add({.name = text(path, path.empty() ? "" : "/", record.op().name),
       .category = category,
       .begin = time_of_thread().last,
       .record = record.index(),
       .output = record.outputs() > 0 ? text(record.out(0).shape) : ""},
      end);
}

void Timeline::add(Event event, double end) {
  ThreadTime& time = time_of_thread();
  event.thread = time.number;
  event.duration = end - event.begin;
  event.memory = memory_stats();
  events_.push_back(std::move(event));
  time.last = now();
}

// ---- the file

std::string Timeline::json() const {
  const std::lock_guard lock(mutex_);
  JsonWriter writer;
  writer.begin_object().key("displayTimeUnit").value("ms").key("traceEvents").begin_array();
  for (const auto& [id, time] : threads_) {
    begin_event(writer, "M", "thread_name").key("tid").value(time.number);
    writer.key("args").begin_object().key("name").value(text("thread ", time.number)).end_object().end_object();
  }
  for (const Event& event : events_) {
    begin_event(writer, "X", event.name).key("cat").value(event.category).key("tid").value(event.thread);
    writer.key("ts").value(event.begin).key("dur").value(event.duration);
    if (event.record >= 0)
      writer.key("args")
          .begin_object()
          .key("record")
          .value(event.record)
          .key("output")
          .value(event.output)
          .end_object();
    writer.end_object();
    begin_event(writer, "C", "pool").key("ts").value(event.begin + event.duration);
    writer.key("args")
        .begin_object()
        .key("live")
        .value(event.memory.live_bytes)
        .key("pooled")
        .value(event.memory.pooled_bytes);
    writer.end_object().end_object();
  }
  return writer.end_array().end_object().text();
}

void save(const Timeline& timeline, const std::string& path) {
  const std::string json = timeline.json();
  ReplacementFile file("save", path);
  file.write(json.data(), json.size());
  file.put_into_place();
}

// ---- spans

TimelineSpan::TimelineSpan(const char* name) : name_(name) {
  if (timeline_of_thread != nullptr) begin(timeline_of_thread);
}

TimelineSpan::TimelineSpan(Timeline& timeline, const char* name) : name_(name) { begin(&timeline); }

void TimelineSpan::begin(Timeline* timeline) {
  const std::optional<double> time = timeline->begin_span();
  if (!time) return;
  timeline_ = timeline;
  outer_ = Timeline::exchange(timeline);
  begin_ = *time;
}

TimelineSpan::~TimelineSpan() {
  if (timeline_ == nullptr) return;
  timeline_->end_span(name_, begin_);
  Timeline::exchange(outer_);
}

}  // namespace retrace
