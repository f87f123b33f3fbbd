#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/cli/terminal.h>

#include <memory>
#include <ostream>

namespace retrace {

void run_ablate(const AblateFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  AblateOptions options = flags.ablate;
  if (!flags.quiet) {
    options.tell = [&](const std::string& what) { program.messages << what << std::endl; };
    options.run.fit.progress = progress_on(program);
  }
  variations_of(options);  // a wrong name is found before a folder is made
  const std::unique_ptr<StoredRuns> stored = stored_runs(flags, "ablate.html", program, options.train);
  const Ablation ablation = ablate(options);
  if (stored) stored->write(to_html(ablation), to_json(ablation));
  program.results << (flags.json ? to_json(ablation) + "\n" : to_text(ablation)) << std::flush;
}

}  // namespace retrace
