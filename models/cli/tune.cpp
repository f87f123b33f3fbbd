#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/training/run.h>

#include <memory>
#include <ostream>

namespace retrace {

void run_tune(const TuneFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  TuneOptions options = flags.tune;
  if (!flags.quiet) options.run.fit.progress = progress_on(program);
  // A wrong name is found before a folder is made.
  for (const std::string& remark : prepare(options.run).task->remarks()) program.messages << remark << std::endl;
  const std::unique_ptr<StoredRuns> stored = stored_runs(flags, "tuning.txt", program, options.train);
  const Tuning tuning = tune(options);
  if (stored) stored->write(to_text(tuning), to_json(tuning));
  program.results << (flags.json ? to_json(tuning) + "\n" : to_text(tuning)) << std::flush;
  if (!tuning.results.front().trials.back().failure.empty()) {  // of the best
    program.messages << "retrace tune: every candidate diverged; lower the learning rates (--learning-rates)"
                     << std::endl;
    program.status = 1;
  }
}

}  // namespace retrace
