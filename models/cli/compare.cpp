#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/result_folder.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/reports/comparison/comparison.h>

#include <array>
#include <ostream>

namespace retrace {

void run_compare(const CompareFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  CompareOptions options = flags.compare;
  options.match = flags.match == "parameters" ? Match::parameters : flags.match == "flops" ? Match::flops : Match::none;
  if (!flags.quiet) options.run.fit.progress = progress_on(program);
  constexpr std::array files{"compare.html", "result.json"};
  std::optional<ResultFolder> folder;
  if (!flags.out.empty()) {
    if (!flags.force) refuse_earlier_results(flags.out, files, "give --force to replace it");
    folder.emplace(flags.out);
  }
  const Comparison comparison = compare(options);
  if (folder) {
    folder->write(files[0], to_html(comparison));
    folder->write(files[1], to_json(comparison) + "\n");
  }
  program.results << (flags.json ? to_json(comparison) + "\n" : to_text(comparison)) << std::flush;
}

}  // namespace retrace
