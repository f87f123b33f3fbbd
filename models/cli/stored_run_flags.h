// The flags of the commands that read what `train --out` left behind.
#pragma once

#include <retrace/models/cli/commands.h>

namespace CLI {
class App;
}

namespace retrace {

/// Add the commands to the program's; what is parsed goes into `flags`, and the command is run.
void add_eval_command(CLI::App& app, EvalFlags& flags, Program& program);
void add_generate_command(CLI::App& app, GenerateFlags& flags, Program& program);

}  // namespace retrace
