#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/training/progress.h>
#include <retrace/models/training/progress_line.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace retrace {
namespace {

constexpr double seconds_between_draws = 0.1;

using Line = std::array<char, 256>;

}  // namespace

std::string of_steps(std::int64_t steps) { return steps == no_limit ? std::string() : text(" of ", steps); }

Progress::Progress(const ProgressOptions& options, std::int64_t steps, double minutes)
    : options_(options), steps_(steps), minutes_(minutes), start_(std::chrono::steady_clock::now()) {}

double Progress::seconds_since_start() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(std::int64_t done, double loss) {
  if (options_.stream == nullptr || options_.columns == nullptr) return;
  const double now = seconds();
  if (now - drawn_at_ < seconds_between_draws) return;
  drawn_at_ = now;
  loss_ = loss;
  draw(done);
}

double Progress::steps_per_second(std::int64_t done) const {
  constexpr double shortest = 1e-9;
  return static_cast<double>(std::max<std::int64_t>(done - resumed_at_, 1)) / std::max(seconds_since_start(), shortest);
}

double Progress::seconds_left(std::int64_t done) const {
  const double by_steps = static_cast<double>(steps_ - done) / steps_per_second(done);
  return minutes_ == 0 ? by_steps : std::min(by_steps, std::max(0.0, 60 * minutes_ - seconds()));
}

double Progress::part(std::int64_t done) const {
  const double by_steps = static_cast<double>(done) / static_cast<double>(steps_);
  return minutes_ == 0 ? by_steps : std::max(by_steps, std::min(1.0, seconds() / (60 * minutes_)));
}

void Progress::draw(std::int64_t done) {
  is_drawn_ = true;
  Line line;
  const int length = write_progress_line({.title = options_.title.c_str(),
                                          .part = part(done),
                                          .loss = loss_,
                                          .metric = metric_,
                                          .value = value_,
                                          .steps_per_second = done > resumed_at_ ? steps_per_second(done) : 0,
                                          .seconds_left = seconds_left(done),
                                          .testing = testing_},
                                         options_.columns(), line);
  *options_.stream << '\r';
  options_.stream->write(line.data(), length);
  *options_.stream << "\033[K" << std::flush;
}

void Progress::validated(std::int64_t done, double loss, const char* metric, double value) {
  loss_ = loss;
  metric_ = metric;
  value_ = value;
  if (options_.stream == nullptr) return;
  if (options_.columns != nullptr) return draw(done);
  std::array<char, 32> left{};
  if (const double seconds = seconds_left(done); seconds > 0) write_time_left(seconds, left);
  *options_.stream << options_.title << "  step " << done << of_steps(steps_) << "  loss " << in_digits(loss, "%.4g")
                   << "  " << metric << ' ' << in_digits(value, "%.4g") << "  " << in_digits(steps_per_second(done))
                   << " steps/s" << (left.front() == '\0' ? "" : "  ") << left.data() << std::endl;
}

void Progress::testing(std::int64_t done) {
  testing_ = true;
  if (options_.stream == nullptr) return;
  if (options_.columns != nullptr) return draw(done);
  *options_.stream << options_.title << "  step " << done << of_steps(steps_) << "  testing" << std::endl;
}

void Progress::finish() {
  if (is_drawn_) *options_.stream << '\n' << std::flush;
  is_drawn_ = false;
}

}  // namespace retrace
