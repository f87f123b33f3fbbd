// The events of a timeline.
#include <gtest/gtest.h>
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/trace/timeline.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/json.h>
#include <retrace/tests/temporary_folder.h>
#include <retrace/tests/timeline_schema.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace retrace {
namespace {

struct TimedInner {
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "inner");
    return tanh(x);
  }
};

void step(const Tensor& w) {
  const TimelineSpan span("step");
  Tape tape;
  const Tensor loss = sum(TimedInner()(w));
  tape.backward(loss);
  const TimelineSpan update("update");
  w.zero_grad();
}

/// "category name" of each complete event, in the order in which they ended.
std::vector<std::string> names_of_events(const Timeline& timeline) {
  std::vector<std::string> names;
  for (const TimelineEvent& event : events_of(timeline.json())) names.push_back(event.category + " " + event.name);
  return names;
}

const std::vector<std::string> of_one_step{"forward inner/tanh",  "forward sum", "backward sum",
                                           "backward inner/tanh", "span update", "span step"};

TEST(Timeline, HasForwardAndBackwardOfEveryRecordByPath) {
  const Tensor w = parameter(tensor({1, 2}));
  const Timeline timeline;
  step(w);
  EXPECT_EQ(names_of_events(timeline), of_one_step);
}

TEST(Timeline, FollowsTheSchemaAndItsEventsNest) {
  const Tensor w = parameter(tensor({1, 2}));
  const Timeline timeline;
  for (int n = 0; n < 3; ++n) step(w);
  expect_timeline_schema(timeline.json());
  expect_nested(events_of(timeline.json()));
}

TEST(Timeline, TakesAsManySpansAsItIsAskedFor) {
  const Tensor w = parameter(tensor({1, 2}));
  const Timeline timeline({.spans = 1});
  for (int n = 0; n < 3; ++n) step(w);
  EXPECT_EQ(names_of_events(timeline), of_one_step);
}

TEST(Timeline, HearsNothingOutsideOfSpansAndAfterItsEnd) {
  const Tensor w = parameter(tensor({1, 2}));
  {
    const Timeline timeline;
    Tape tape;
    tape.backward(sum(tanh(w)));
    EXPECT_EQ(names_of_events(timeline), std::vector<std::string>());
  }
  step(w);
  EXPECT_EQ(TapeObserver::current(), nullptr);
}

TEST(Timeline, NumbersTheThreadsThatNameIt) {
  Timeline timeline;
  const auto work = [&] {
    const Tensor w = parameter(tensor({1, 2}));
    const TimelineSpan span(timeline, "work");
    Tape tape;
    tape.backward(sum(w));
  };
  work();
  std::thread(work).join();
  const auto events = events_of(timeline.json());
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0].thread, 1);
  EXPECT_EQ(events[5].thread, 2);
  expect_timeline_schema(timeline.json());
}

/// Results do not depend on being watched, and a keeping tape keeps its values.
TEST(Timeline, ChangesNoNumber) {
  const auto gradient = [](TapeOptions options) {
    const Tensor w = parameter(tensor({{0.5, -1}, {2, 0.25}}));
    Tape tape(options);
    tape.backward(sum(softmax(matmul(w, tanh(w))) * w));
    const auto values = w.grad().values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const auto unwatched = gradient({});
  const Timeline timeline;
  const TimelineSpan span("all");
  EXPECT_EQ(gradient({}), unwatched);
  EXPECT_EQ(gradient({.keep = true}), unwatched);
  EXPECT_EQ(gradient({.check_finite = true}), unwatched);
}

TEST(Timeline, IsSavedAsItsJson) {
  const TemporaryFolder folder;
  const Timeline timeline;
  { const TimelineSpan span("nothing"); }
  save(timeline, folder / "steps.json");
  EXPECT_EQ(file_bytes(folder / "steps.json"), timeline.json());
  EXPECT_THROW(save(timeline, folder / "no/such/folder.json"), FileError);
}

}  // namespace
}  // namespace retrace
