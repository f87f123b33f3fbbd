#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/reports/comparison/comparison.h>

#include <memory>
#include <ostream>

namespace retrace {

void run_compare(const CompareFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  CompareOptions options = flags.compare;
  options.match = flags.match == "parameters" ? Match::parameters : flags.match == "flops" ? Match::flops : Match::none;
  options.tell = [&](const std::string& what) { program.messages << what << std::endl; };
  if (!flags.quiet) options.run.fit.progress = progress_on(program);
  const std::unique_ptr<StoredRuns> stored = stored_runs(flags, "compare.html", program, options.train);
  const Comparison comparison = compare(options);
  if (stored) stored->write(to_html(comparison), to_json(comparison));
  program.results << (flags.json ? to_json(comparison) + "\n" : to_text(comparison)) << std::flush;
}

}  // namespace retrace
