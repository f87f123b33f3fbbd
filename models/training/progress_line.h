// The line that shows how far a run is, as long as its terminal is wide.
#pragma once

#include <cstdint>
#include <span>

namespace retrace {

struct ProgressState {
  const char* title = "";
  double part = 0;  // of the run, from 0 to 1
  double loss = 0;
  const char* metric = "";  // of the last validation; empty: there was none
  double value = 0;
  double steps_per_second = 0;
  double seconds_left = 0;
  bool testing = false;  // the steps are over: said in the place of the time left
};

/// "12 s left", "45 min left", "3.2 h left"; rounded up, so that 0 s are left only of what has ended. Writes it with a
/// zero at its end and returns its length. `words` has room for 32 characters, as below takes nothing from the heap.
int write_time_left(double seconds, std::span<char> words);

/// Writes at most columns - 1 characters, so that the cursor stays on the line, and a zero; returns how many. What
/// tells most finds room first: per cent, time left, the beginning of the title, metric, rate, loss, the rest of the
/// title. A bar fills what is left.
int write_progress_line(const ProgressState& state, int columns, std::span<char> line);

}  // namespace retrace
