// Shows the progress of a run: one line, redrawn in place, on a terminal; plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>

namespace retrace {

/// The number of steps of a run that is limited only by its minutes.
inline constexpr std::int64_t no_limit = std::int64_t{1} << 40;
/// " of 3000"; empty if there is no limit.
std::string of_steps(std::int64_t steps);

/// The stream that shows progress, and the width of its terminal.
struct ProgressOptions {
  std::ostream* stream = nullptr;  // null: nowhere
  int (*columns)() = nullptr;      // called whenever the line is drawn; null: no terminal
  std::string title = {};
};

/// Shows how far a training is.
class Progress {
 public:
  /// The progress of a run that ends after that number of steps or, unless it is 0, of minutes.
  Progress(const ProgressOptions& options, std::int64_t steps, double minutes);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Continues a run that made `done` steps in `seconds`.
  void resume(std::int64_t done, double seconds) { resumed_at_ = done, seconds_before_ = seconds; }
  /// Call it after every step: redraws the line at most ten times per second. Does not allocate.
  void step(std::int64_t done, double loss);
  /// Call it after a validation: prints a plain line, or redraws the line with the metric.
  void validated(std::int64_t done, double loss, const char* metric, double value);
  /// Shows that the steps are over and the test begins.
  void testing(std::int64_t done);
  /// Ends the line if one is drawn.
  void finish();
  /// Including those before a resume.
  double seconds() const { return seconds_before_ + seconds_since_start(); }
  /// The fraction of the run that is done, from 0 to 1: of its steps or of its time, whichever is larger.
  double part(std::int64_t done) const;

 private:
  double seconds_since_start() const;
  double steps_per_second(std::int64_t done) const;
  double seconds_left(std::int64_t done) const;
  void draw(std::int64_t done);

  ProgressOptions options_;
  std::int64_t steps_;
  double minutes_;
  std::int64_t resumed_at_ = 0;
  double seconds_before_ = 0;
  std::chrono::steady_clock::time_point start_;
  double drawn_at_ = -1;
  bool is_drawn_ = false;
  bool testing_ = false;
  double loss_ = std::numeric_limits<double>::quiet_NaN();  // of the last step, if there was one since the resume
  const char* metric_ = "";
  double value_ = 0;
};

}  // namespace retrace
