// The commands of the program as its command line has them. Each function adds one with its flags; when it has been
// parsed, it runs.
#pragma once

#include <retrace/models/cli/commands.h>

namespace CLI {
class App;
}

namespace retrace {

// training_flags.cpp
void add_train_command(CLI::App& app, Program& program);
void add_compare_command(CLI::App& app, Program& program);
void add_ablate_command(CLI::App& app, Program& program);
void add_tune_command(CLI::App& app, Program& program);
// stored_run_flags.cpp
void add_eval_command(CLI::App& app, Program& program);
void add_predict_command(CLI::App& app, Program& program);
void add_export_command(CLI::App& app, Program& program);
void add_generate_command(CLI::App& app, Program& program);
// inspection_flags.cpp
void add_gradcheck_command(CLI::App& app, Program& program);
void add_selfcheck_command(CLI::App& app, Program& program);
void add_info_command(CLI::App& app, Program& program);
void add_show_command(CLI::App& app, Program& program);
void add_demo_command(CLI::App& app, Program& program);

// study_flags.cpp
void add_study_command(CLI::App& app, Program& program);

}  // namespace retrace
