// The progress line fits its terminal and shows the time left.
#include <gtest/gtest.h>
#include <retrace/models/training/progress.h>
#include <retrace/models/training/progress_line.h>

#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>

namespace retrace {
namespace {

constexpr ProgressState on_the_way{.title = "relational-rnn on object-tracking",
                                   .part = 0.4,
                                   .loss = 0.00012345678,
                                   .metric = "accuracy",
                                   .value = 0.00012345678,
                                   .steps_per_second = 1234.5678,
                                   .seconds_left = 5999};

std::string line_of(const ProgressState& state, int columns) {
  std::array<char, 256> line;
  line.fill('#');
  const int length = write_progress_line(state, columns, line);
  EXPECT_EQ(std::strlen(line.data()), static_cast<std::size_t>(length));
  return line.data();
}

TEST(ProgressLine, ShowsEverythingWhereThereIsRoom) {
  EXPECT_EQ(line_of(on_the_way, 132),
            "relational-rnn on object-tracking  [========...........]   40 %  loss 0.0001235  accuracy 0.0001235  "
            "1.23e+03 steps/s  100 min left");
}

TEST(ProgressLine, FitsATerminalOfAnyWidth) {
  for (int columns = 1; columns <= 300; ++columns) {
    const std::string line = line_of(on_the_way, columns);
    EXPECT_LT(line.size(), static_cast<std::size_t>(columns));
    if (columns > 40) {
      EXPECT_NE(line.find("40 %"), std::string::npos) << line;
    }
    if (columns >= 40) {
      EXPECT_NE(line.find("100 min left"), std::string::npos) << line;
    }
    if (columns >= 80) {
      EXPECT_NE(line.find("steps/s"), std::string::npos) << line;
    }
  }
}

TEST(ProgressLine, LeavesOutWhatTellsLeast) {
  ProgressState state = on_the_way;
  state.title = "lstm on babi", state.metric = "", state.seconds_left = 12;
  EXPECT_EQ(line_of(state, 80), "lstm on babi  [====.......]   40 %  loss 0.0001235  1.23e+03 steps/s  12 s left");
  EXPECT_EQ(line_of(state, 70), "lstm on babi   40 %  loss 0.0001235  1.23e+03 steps/s  12 s left");
  EXPECT_EQ(line_of(state, 60), "lstm on babi  [===....]   40 %  1.23e+03 steps/s  12 s left");
  EXPECT_EQ(line_of(state, 40), "lstm on babi  [==...]   40 %  12 s left");
  EXPECT_EQ(line_of(state, 20), "l   40 %  12 s left");
}

TEST(ProgressLine, ATitleIsCutBetweenWords) {
  ProgressState state = on_the_way;
  state.title = "transformer on multi-query-recall";
  for (int columns = 12; columns <= 200; ++columns) {
    const std::string line = line_of(state, columns), title = line.substr(0, line.find("  "));
    EXPECT_TRUE(title == state.title || title == "transformer" || std::string_view("transformer").starts_with(title))
        << columns << ": " << line;
  }
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
  ProgressState state = on_the_way;
  state.loss = std::nan(""), state.steps_per_second = 0;
  const std::string line = line_of(state, 132);
  EXPECT_EQ(line.find("loss"), std::string::npos) << line;
  EXPECT_EQ(line.find("steps/s"), std::string::npos) << line;
}

TEST(ProgressLine, SaysThatItTestsInThePlaceOfTheTimeLeft) {
  ProgressState state = on_the_way;
  state.testing = true;
  const std::string line = line_of(state, 80);
  EXPECT_TRUE(line.ends_with("  testing")) << line;
  EXPECT_EQ(line.find("left"), std::string::npos) << line;
}

TEST(ProgressLine, TheTimeLeftIsRoundedUpInItsUnit) {
  const auto words = [](double seconds) {
    std::array<char, 32> room{};
    const int length = write_time_left(seconds, room);
    EXPECT_EQ(static_cast<std::size_t>(length), std::strlen(room.data()));
    return std::string(room.data());
  };
  EXPECT_EQ(words(0.01), "1 s left");
  EXPECT_EQ(words(99.5), "100 s left");
  EXPECT_EQ(words(100.5), "2 min left");
  EXPECT_EQ(words(6001), "1.7 h left");
  EXPECT_EQ(words(36000), "10.0 h left");
}

int narrow() { return 30; }

TEST(Progress, DrawsOverOneLineOfTheTerminalsWidth) {
  std::ostringstream terminal;
  {
    Progress progress({&terminal, narrow, "relational-rnn on object-tracking"}, 10, 0);
    progress.step(1, 0.5);
    progress.validated(2, 0.5, "accuracy", 0.25);
    progress.testing(10);
  }
  const std::string drawn = terminal.str();
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\r'), 3);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), 1);
  EXPECT_TRUE(drawn.ends_with("testing\033[K\n")) << drawn;
  std::istringstream lines(drawn);
  for (std::string line; std::getline(lines, line, '\r');) EXPECT_LT(line.size(), 30U + std::strlen("\033[K\n"));
}

int wide() { return 120; }

TEST(Progress, AFinishedRunThatIsResumedShowsNoLoss) {
  std::ostringstream terminal;
  Progress progress({&terminal, wide, "a run"}, 10, 0);
  progress.resume(10, 3);
  progress.testing(10);
  EXPECT_NE(terminal.str().find("testing"), std::string::npos);
  EXPECT_EQ(terminal.str().find("loss"), std::string::npos) << terminal.str();
  EXPECT_EQ(terminal.str().find("steps/s"), std::string::npos) << terminal.str();
}

/// The time left is never 0 while steps remain, and is not shown after the last.
TEST(Progress, PlainLinesTellTheTimeLeftUntilTheStepsAreOver) {
  std::ostringstream file;
  Progress progress({&file, nullptr, "a run"}, 1'000'000'000, 0);
  progress.validated(999'999'999, 0.5, "accuracy", 0.25);
  EXPECT_TRUE(file.str().ends_with(" steps/s  1 s left\n")) << file.str();
  progress.validated(1'000'000'000, 0.5, "accuracy", 0.25);
  EXPECT_TRUE(file.str().ends_with(" steps/s\n")) << file.str();
  progress.testing(1'000'000'000);
  EXPECT_TRUE(file.str().ends_with("a run  step 1000000000 of 1000000000  testing\n")) << file.str();
}

}  // namespace
}  // namespace retrace
