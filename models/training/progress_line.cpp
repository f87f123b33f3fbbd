#include <retrace/core/base/printable.h>
#include <retrace/models/training/progress_line.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace retrace {
namespace {

constexpr int widest_bar = 24, narrowest_bar = 4;
constexpr int short_title = 14;

/// A part of the line, with the spaces that precede it.
struct Field {
  std::array<char, 64> words{};
  int length = 0;  // 0: not shown

  Field() = default;
  template <class... Values> explicit Field(const char* format, Values... values) {
    const int needed = std::snprintf(words.data(), words.size(), format, without_nan_sign(values)...);
    length = std::clamp(needed, 0, static_cast<int>(words.size()) - 1);
  }
};

/// The columns left for further fields; the most important field takes its columns first.
class Room {
 public:
  explicit Room(int columns) : left_(columns) {}

  void fit(Field& field) {
    if (field.length > left_) field.length = 0;
    left_ -= field.length;
  }
  /// Takes up to `wanted` columns and returns how many it got.
  int take(int wanted) {
    const int taken = std::clamp(wanted, 0, left_);
    left_ -= taken;
    return taken;
  }
  int left() const { return left_; }

 private:
  int left_;
};

Field bar_of(double part, int columns) {
  const int cells = std::min(columns - 4, widest_bar);
  if (cells < narrowest_bar) return {};
  std::array<char, widest_bar + 1> bar{};
  std::fill_n(bar.begin(), cells, '.');
  std::fill_n(bar.begin(), static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * cells)), '=');
  return Field("  [%s]", bar.data());
}

/// The length of a title's first whole words that fit into some columns, without an "on" at the end. A first word that
/// is too long is cut.
int whole_words(std::string_view title, int columns) {
  const auto room = static_cast<std::size_t>(columns);
  if (title.size() <= room) return static_cast<int>(title.size());
  std::string_view shown = title.substr(0, title.rfind(' ', room));
  if (shown.size() > room) return columns;
  if (shown.ends_with(" on")) shown.remove_suffix(3);
  return static_cast<int>(shown.size());
}

/// The time left, or "testing".
Field rest_of(const ProgressState& state) {
  if (state.testing) return Field("  %s", "testing");
  if (!(state.seconds_left > 0)) return {};
  std::array<char, 32> words{};
  write_time_left(state.seconds_left, words);
  return Field("  %s", words.data());
}

}  // namespace

int write_time_left(double seconds, std::span<char> words) {
  constexpr double minute = 60, hour = 60 * minute;
  if (seconds <= 100) return std::snprintf(words.data(), words.size(), "%.0f s left", std::ceil(seconds));
  if (seconds <= 100 * minute)
    return std::snprintf(words.data(), words.size(), "%.0f min left", std::ceil(seconds / minute));
  return std::snprintf(words.data(), words.size(), "%.1f h left", std::ceil(10 * seconds / hour) / 10);
}

int write_progress_line(const ProgressState& state, int columns, std::span<char> line) {
  Room room(std::min(columns, static_cast<int>(line.size())) - 1);
  Field per_cent("  %3.0f %%", 100 * state.part), rest = rest_of(state), metric, rate, loss;
  if (state.steps_per_second > 0) rate = Field("  %.3g steps/s", state.steps_per_second);
  if (!std::isnan(state.loss)) loss = Field("  loss %.4g", state.loss);
  if (*state.metric != '\0') metric = Field("  %s %.4g", state.metric, state.value);
  const auto title_length = static_cast<int>(std::string_view(state.title).size());
  room.fit(per_cent);
  room.fit(rest);
  int title = room.take(std::min(title_length, short_title));
  room.fit(metric);
  room.fit(rate);
  room.fit(loss);
  title += room.take(title_length - title);
  title = whole_words(state.title, title);
  Field bar = bar_of(state.part, room.left());
  char* end = std::copy_n(state.title, title, line.data());
  for (const Field* field : {&bar, &per_cent, &loss, &metric, &rate, &rest})
    end = std::copy_n(field->words.data(), field->length, end);
  *end = '\0';
  return static_cast<int>(end - line.data());
}

}  // namespace retrace
