// The terminal that messages go to.
#pragma once

#include <string>

#include <retrace/models/cli/commands.h>

namespace retrace {

/// Columns of the terminal behind standard error; if unknown, the environment's COLUMNS, otherwise 80.
int terminal_columns();
/// Its lines; if unknown, the environment's LINES, otherwise 24.
int terminal_lines();
/// Progress among the program's messages; only rank 0 shows any.
ProgressOptions progress_on(const Program& program, std::string title = {});

}  // namespace retrace
