// The line that shows the progress of a run, fitted to the width of its terminal.
#pragma once

#include <cstdint>
#include <span>

namespace retrace {

/// The content of a line of progress.
struct ProgressState {
  const char* title = "";
  double part = 0;          // fraction of the run that is done, from 0 to 1
  double loss = 0;          // NaN: not known
  const char* metric = "";  // of the last validation; empty before the first
  double value = 0;
  double steps_per_second = 0;  // 0: not known
  double seconds_left = 0;
  bool testing = false;  // the steps are over: "testing" replaces the time left
};

/// Writes "12 s left", "45 min left" or "3.2 h left", followed by a zero, and returns the length. Rounds up, so that
/// "0 s left" means that nothing is left. `words` has room for 32 characters. Neither function allocates.
int write_time_left(double seconds, std::span<char> words);

/// Writes at most columns - 1 characters, so that the cursor stays on the line, and a zero; returns the length. Fields
/// take room in the order of importance: per cent, time left, the first words of the title, metric, rate, loss, the
/// rest of the title. A bar fills the remaining columns.
int write_progress_line(const ProgressState& state, int columns, std::span<char> line);

}  // namespace retrace
