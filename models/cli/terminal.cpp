#include <retrace/models/cli/terminal.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace retrace {
namespace {

/// A size of the terminal: of the winsize's member, or of the environment.
int terminal_size(unsigned short winsize::*extent, const char* variable, int usual) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.*extent > 0) return size.*extent;
  constexpr int limit = 10'000;
  const char* set = std::getenv(variable);
  const std::string_view word = set == nullptr ? "" : set;
  int number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number >= 1 && number <= limit ? number : usual;
}

}  // namespace

int terminal_columns() { return terminal_size(&winsize::ws_col, "COLUMNS", 80); }
int terminal_lines() { return terminal_size(&winsize::ws_row, "LINES", 24); }

ProgressOptions progress_on(const Program& program, std::string title) {
  if (!is_first(program.ranks)) return {};
  return {&program.progress, program.terminal ? terminal_columns : nullptr, std::move(title)};
}

}  // namespace retrace
