// The terminal that messages go to.
#pragma once

#include <string>

#include <retrace/models/cli/commands.h>

namespace retrace {

/// Characters of a line of the standard error stream's terminal; where that does not tell, COLUMNS, or else 80.
int terminal_columns();
/// Progress among the program's messages.
ProgressOptions progress_on(const Program& program, std::string title = {});

}  // namespace retrace
