#include <retrace/models/cli/terminal.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace retrace {

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  constexpr int usual = 80, limit = 10'000;
  const char* set = std::getenv("COLUMNS");
  const std::string_view word = set == nullptr ? "" : set;
  int columns = 0;
  std::from_chars(word.data(), word.data() + word.size(), columns);
  return columns >= 1 && columns <= limit ? columns : usual;
}

ProgressOptions progress_on(const Program& program, std::string title) {
  return {&program.progress, program.terminal ? terminal_columns : nullptr, std::move(title)};
}

}  // namespace retrace
