#include <retrace/core/error.h>
#include <retrace/models/training/progress.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace retrace {
namespace {

constexpr int bar_width = 24;
constexpr double seconds_between_draws = 0.1;

using Line = std::array<char, 256>;

void write(std::ostream& out, const Line& line, int length) {
  out.write(line.data(), std::clamp<std::streamsize>(length, 0, line.size() - 1));
  out.flush();
}

}  // namespace

std::string of_steps(std::int64_t steps) { return steps == no_limit ? std::string() : text(" of ", steps); }

Progress::Progress(const ProgressOptions& options, std::int64_t steps, double minutes)
    : options_(options), steps_(steps), minutes_(minutes), start_(std::chrono::steady_clock::now()) {}

double Progress::seconds_since_start() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(std::int64_t done, double loss) {
  if (options_.stream == nullptr || !options_.terminal) return;
  const double now = seconds();
  if (now - drawn_at_ < seconds_between_draws) return;
  drawn_at_ = now;
  draw(done, loss);
}

double Progress::seconds_left(std::int64_t done) const {
  const std::int64_t made = std::max<std::int64_t>(done - resumed_at_, 1);
  const double by_steps = seconds_since_start() * static_cast<double>(steps_ - done) / static_cast<double>(made);
  return minutes_ == 0 ? by_steps : std::min(by_steps, std::max(0.0, 60 * minutes_ - seconds()));
}

double Progress::part(std::int64_t done) const {
  const double by_steps = static_cast<double>(done) / static_cast<double>(steps_);
  return minutes_ == 0 ? by_steps : std::max(by_steps, std::min(1.0, seconds() / (60 * minutes_)));
}

void Progress::draw(std::int64_t done, double loss) {
  is_drawn_ = true;
  const double done_so_far = part(done);
  std::array<char, bar_width + 1> bar{};
  std::fill_n(bar.begin(), bar_width, '.');
  std::fill_n(bar.begin(), static_cast<int>(std::lround(done_so_far * bar_width)), '=');
  Line line;
  int length = std::snprintf(line.data(), line.size(), "\r%-30s [%s] %3.0f %%  loss %.4g", options_.title.c_str(),
                             bar.data(), 100 * done_so_far, loss);
  const auto rest = [&] { return line.data() + length; };
  const auto room = [&] { return line.size() - static_cast<std::size_t>(length); };
  if (*metric_ != '\0') length += std::snprintf(rest(), room(), "  %s %.4g", metric_, value_);
  length += std::snprintf(rest(), room(), "  %.0f s left \033[K", seconds_left(done));
  write(*options_.stream, line, length);
}

void Progress::validated(std::int64_t done, double loss, const char* metric, double value) {
  metric_ = metric;
  value_ = value;
  if (options_.stream == nullptr) return;
  if (options_.terminal) {
    draw(done, loss);
    return;
  }
  Line line;
  const int length = std::snprintf(line.data(), line.size(), "%s  step %lld%s  loss %.4g  %s %.4g  %.0f s left\n",
                                   options_.title.c_str(), static_cast<long long>(done), of_steps(steps_).c_str(), loss,
                                   metric, value, seconds_left(done));
  write(*options_.stream, line, length);
}

void Progress::finish() {
  if (is_drawn_) *options_.stream << '\n' << std::flush;
  is_drawn_ = false;
}

}  // namespace retrace
