// What a file of trace events must be, for the viewers that open it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/tests/json.h>

namespace retrace {

struct TimelineEvent {
  std::string category, name;
  int thread;
  double begin, end;
};

/// The complete events of a timeline.
inline std::vector<TimelineEvent> events_of(const std::string& json) {
  std::vector<TimelineEvent> result;
  const Json file = Json::parse(json);
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"].get<double>();
    result.push_back({event["cat"].get<std::string>(), event["name"].get<std::string>(), event["tid"].get<int>(), begin,
                      begin + event["dur"].get<double>()});
  }
  return result;
}

/// Expects the members that the Trace Event Format demands of each kind of event, with their types.
inline void expect_timeline_schema(const std::string& json) {
  const Json file = Json::parse(json);
  EXPECT_EQ(file["displayTimeUnit"], "ms");
  for (const Json& event : file["traceEvents"]) {
    const std::string kind = event["ph"].get<std::string>();
    EXPECT_EQ(event["pid"], 1);
    EXPECT_FALSE(event["name"].get<std::string>().empty());
    if (kind == "M") {
      EXPECT_EQ(event["name"], "thread_name");
      EXPECT_FALSE(event["args"]["name"].get<std::string>().empty());
    } else if (kind == "C") {
      EXPECT_GE(event["ts"], 0.0);
      EXPECT_GE(event["args"]["live"], 0);
      EXPECT_GE(event["args"]["pooled"], 0);
    } else {
      ASSERT_EQ(kind, "X");
      EXPECT_GE(event["ts"], 0.0);
      EXPECT_GE(event["dur"], 0.0);
      EXPECT_GE(event["tid"], 1);
      const std::string category = event["cat"].get<std::string>();
      EXPECT_TRUE(category == "span" || category == "forward" || category == "backward") << category;
      if (category != "span") {
        EXPECT_GE(event["args"]["record"], 0);
      }
    }
  }
}

/// Expects that two events of a thread are apart, or one is within the other.
inline void expect_nested(const std::vector<TimelineEvent>& events) {
  constexpr double rounding = 1e-6;  // of begin + duration, in microseconds
  for (const TimelineEvent& a : events)
    for (const TimelineEvent& b : events) {
      if (a.thread != b.thread) continue;
      const bool are_apart = a.end <= b.begin + rounding || b.end <= a.begin + rounding;
      const bool has_b = a.begin <= b.begin && b.end <= a.end + rounding;
      const bool is_within = has_b || (b.begin <= a.begin && a.end <= b.end + rounding);
      EXPECT_TRUE(are_apart || is_within) << a.name << " and " << b.name;
    }
}

}  // namespace retrace
